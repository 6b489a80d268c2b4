"""Repairs are proven: every program here is repaired and run before and after, in eager mode and by the real Dynamo.

Safe repairs: outputs, exceptions and gradients stay the same in training and evaluation. Unsafe ones: the same but for the
gradients that the repair is about, which its message names. Either way breaks are gone and none has come."""
from __future__ import annotations

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pytest
from conftest import ROOT, run_fullgraph
from programs import CORPUS, RULE_CASES, name_of

HERE = pathlib.Path(__file__).parent
PROGRAMS = {name_of(path): path for path in [*CORPUS, *RULE_CASES]}


def linter(program: pathlib.Path, *flags: str):
    main = program / "main.py" if program.is_dir() else program
    mode = "eval" if re.search(r"^# mode: eval", main.read_text(), re.M) else "train"
    return run_fullgraph("check", "--isolated", "--entry", f"{main}:case", "--mode", mode, *flags, program)


def breaks_predicted(program: pathlib.Path) -> int:
    return sum(1 for finding in linter(program, "--output-format", "json").findings() if finding["gb_id"])


def repair(path: pathlib.Path, folder: pathlib.Path, *flags: str) -> pathlib.Path | None:
    """A copy of the program with its repairs; None when there are none."""
    copy = folder / name_of(path).replace("/", "_").removesuffix(".py") / path.name
    copy.parent.mkdir()
    (shutil.copytree if path.is_dir() else shutil.copy)(path, copy)
    done = linter(copy, "--fix-only", *flags)
    assert done.code == 0, done.stderr
    assert "rolled back" not in done.stderr, done.stderr
    same = subprocess.run(["diff", "-r", "-q", path, copy], capture_output=True).returncode == 0
    return None if same else copy


@functools.cache
def proven(kind: str) -> dict[str, dict]:
    """What was seen of each program that has repairs, by name; one run for all."""
    flags = ["--unsafe-fixes"] if kind == "unsafe" else []
    with tempfile.TemporaryDirectory() as folder:
        pairs = {name: (path, copy) for name, path in PROGRAMS.items()
                 if (copy := repair(path, pathlib.Path(folder), *flags)) is not None}
        paths = [str(path) for pair in pairs.values() for path in pair]
        done = subprocess.run([sys.executable, HERE / "prove_repair.py", *paths], capture_output=True, text=True,
                              timeout=1500, env={**os.environ, "PYTHONPATH": str(HERE)})
        assert done.returncode == 0, done.stderr[-3000:]
        seen = dict(zip(pairs, json.loads(done.stdout)))
        for name, (path, copy) in pairs.items():
            seen[name]["predicted"] = breaks_predicted(path) - breaks_predicted(copy)
        return seen


def problems(seen: dict[str, dict], allowed=frozenset()) -> dict:
    found = {}
    for name, one in seen.items():
        if "crash" in one:
            found[name] = one
            continue
        wrong = {mode: what for mode, what in one["eager"].items()
                 if what != "same" and not set(what) <= allowed}
        if wrong or len(one["after"]) > len(one["before"]):
            found[name] = one
    return found


def test_safe_repairs_change_nothing_but_breaks():
    seen = proven("safe")
    assert len(seen) > 30
    assert problems(seen) == {}


def test_unsafe_repairs_change_what_they_say():
    # Of checkpoints and markings, which gradients there are: the message of the repair names this.
    seen = proven("unsafe")
    assert len(seen) > len(proven("safe"))
    assert problems(seen, allowed=frozenset({"lost", "appeared"})) == {}


@pytest.mark.parametrize("kind", ["safe", "unsafe"])
def test_breaks_are_gone(kind):
    seen = proven(kind)
    still = {name: one for name, one in seen.items()
             if one["predicted"] > 0 and len(one["after"]) >= len(one["before"])}
    assert still == {}
    assert sum(one["predicted"] > 0 for one in seen.values()) > 30
