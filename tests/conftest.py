"""What all Python tests share: the program under test, run as a person runs it, and the folders it is tried on."""
from __future__ import annotations

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "fullgraph-build"
PROGRAM = pathlib.Path(os.environ.get("FULLGRAPH_BIN") or ROOT / "build" / "bin" / "fullgraph")


class Result:
    """One run of the program."""

    def __init__(self, done: subprocess.CompletedProcess, command: list[str]):
        self.command, self.code = command, done.returncode
        self.returncode, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr

    def json(self) -> dict:
        return json.loads(self.stdout)

    def findings(self) -> list[dict]:
        return self.json()["findings"]

    def ok(self) -> Result:
        """The run itself went well (findings or none), as opposed to a usage error, a crash or a hang."""
        assert self.code in (0, 1), f"exit {self.code} of {' '.join(map(str, self.command))}\n{self.stderr}"
        return self


def run_fullgraph(*args, stdin: str | bytes = "", cwd=None, env: dict | None = None, timeout: float = 120) -> Result:
    """`fullgraph ARGS`, without a terminal and with an own, empty user configuration."""
    command = [str(PROGRAM), *map(str, args)]
    environment = {**os.environ, "NO_COLOR": "1", "XDG_CONFIG_HOME": "/nonexistent", **(env or {})}
    raw = stdin if isinstance(stdin, bytes) else stdin.encode()
    done = subprocess.run(command, input=raw, capture_output=True, cwd=cwd or ROOT, env=environment, timeout=timeout)
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    return Result(done, command)


@pytest.fixture(scope="session")
def fullgraph():
    return run_fullgraph


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    return ROOT


@pytest.fixture(scope="session")
def fixtures() -> pathlib.Path:
    return ROOT / "fixtures"


def transformers_sources(version: str) -> pathlib.Path:
    """The unpacked wheel of one release; `./dev test` puts it there."""
    folder = CACHE / "sources" / f"transformers-{version}" / "transformers"
    assert folder.is_dir(), f"{folder} is missing: run the tests through ./dev test"
    return folder


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="accept the outputs seen as the golden ones")
