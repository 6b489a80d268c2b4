"""A pytest plugin: each case of a project's configuration is a test.

    pytest -p pytest_fullgraph --fullgraph fullgraph.toml
    pytest -p pytest_fullgraph --fullgraph -n 8 --fullgraph-results results pyproject.toml      # with pytest-xdist
    fullgraph validate --merge results/*.json --output-format html -o report.html

A case fails when `fullgraph validate` finds a problem (exit status 1) or cannot run it (2).
"""
from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

import pytest

_NAMES = (".fullgraph.toml", "fullgraph.toml", "pyproject.toml")


def pytest_addoption(parser):
    group = parser.getgroup("fullgraph")
    group.addoption("--fullgraph", action="store_true", help="make each case of a fullgraph configuration a test")
    group.addoption("--fullgraph-bin", default=os.environ.get("FULLGRAPH_BIN", "fullgraph"), metavar="PROGRAM", help="the program")
    group.addoption("--fullgraph-options", default="", metavar="OPTIONS", help="more options of `fullgraph validate`, as for a shell")
    group.addoption("--fullgraph-results", metavar="DIR", help="keep the results in JSON, to be merged into one report")


def pytest_collect_file(file_path, parent):
    if parent.config.getoption("--fullgraph") and file_path.name in _NAMES:
        return Configuration.from_parent(parent, path=file_path)
    return None


def _validate(item, *arguments: str) -> subprocess.CompletedProcess:
    config = item.config
    command = [config.getoption("--fullgraph-bin"), "validate", "--config", str(item.path), *shlex.split(config.getoption("--fullgraph-options")),
               *arguments]
    return subprocess.run(command, cwd=item.path.parent, capture_output=True, text=True, errors="replace")


class Configuration(pytest.File):
    def collect(self):
        listed = _validate(self, "--list")
        if listed.returncode != 0:
            if "there is no [tool.fullgraph] table" in listed.stderr or "nothing to validate" in listed.stderr:
                return
            raise self.CollectError(listed.stderr)
        for name in listed.stdout.splitlines():
            yield Case.from_parent(self, name=name)


class Problem(Exception):
    pass


class Case(pytest.Item):
    def runtest(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = self.config.getoption("--fullgraph-results")
            results = pathlib.Path(kept or folder).resolve()
            results.mkdir(parents=True, exist_ok=True)
            path = results / (re.sub(r"\W+", "_", f"{self.path.parent.name}_{self.name}") + ".json")
            path.unlink(missing_ok=True)  # of a run before: it must not speak for this one
            done = _validate(self, "--case", self.name, "--quiet", "--output-format", "json", "--output-file", str(path))
            if done.returncode == 0:
                return
            raise Problem(_told(json.loads(path.read_text())) if path.exists() else done.stderr)

    def repr_failure(self, excinfo, style=None):
        return str(excinfo.value) if isinstance(excinfo.value, Problem) else super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, f"fullgraph: {self.name}"


def _told(result) -> str:
    lines = [error["message"] for error in result["errors"]]
    for case in result["cases"]:
        sides = [run[side] for run in case["runs"] for side in ("before", "after") if run[side]]
        for failure in [case["failure"], *(side["failure"] for side in sides)]:
            if failure:
                lines.append(f"{failure['kind']} ({failure['stage']}): {failure['message']} {failure['where']}")
        lines += case["problems"]
    return "\n".join(lines)
