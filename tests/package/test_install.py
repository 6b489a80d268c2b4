"""cmake --install: the program where a system has programs, and the analyser as libraries for others."""
from __future__ import annotations

import pathlib
import subprocess

import pytest
from conftest import PROGRAM, ROOT


def run(*command, **options) -> str:
    done = subprocess.run(list(map(str, command)), text=True, capture_output=True, timeout=600, **options)
    assert done.returncode == 0, f"{done.args}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", PROGRAM.parent.parent, "--prefix", folder)
    return folder


def test_program(prefix):
    assert run(prefix / "bin" / "fullgraph", "--version").startswith("fullgraph ")
    assert (prefix / "share" / "doc" / "fullgraph" / "rules.md").is_file()
    assert (prefix / "share" / "man" / "man1" / "fullgraph.1").read_text() == run(PROGRAM, "man")
    assert "complete" in (prefix / "share" / "bash-completion" / "completions" / "fullgraph").read_text()


def test_libraries(prefix, tmp_path):
    """No header and no library comes from the sources that they were built from."""
    run("cmake", "-S", ROOT / "tests" / "package" / "embed", "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("ninja", "-C", tmp_path)
    assert run(tmp_path / "embed") == "net.py:6: FG402\n"
    used = run("ninja", "-C", tmp_path, "-t", "deps") + run("ninja", "-C", tmp_path, "-t", "commands")
    assert str(prefix) in used and f"{ROOT}/analyzer" not in used and str(PROGRAM.parent.parent) not in used
