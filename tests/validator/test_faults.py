"""Code that misbehaves: a clear verdict each time, exit status 2, nothing left over."""
from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT, run_fullgraph

HEAD = """\
import os, signal, subprocess, sys, time
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        misbehave()
        return self.layer(x)


def example():
    return Model(), (torch.ones(1, 2),), {}


"""
# What the code does → what is said of it, and in which stage.
FAULTS = {
    "raises": ("def misbehave():\n    raise KeyError('nothing like that')\n", "raised", "eager"),
    "hangs and ignores signals": ("for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)\n"
                        "def misbehave():\n    time.sleep(1000)\n", "timed-out", "eager"),
    "allocates": ("kept = []\ndef misbehave():\n    while True: kept.append(bytearray(b'x') * (32 << 20))\n", "out-of-memory", "eager"),
    "exits": ("def misbehave():\n    os._exit(0)\n", "exited", "eager"),
    "dies": ("def misbehave():\n    os.kill(os.getpid(), signal.SIGKILL)\n", "killed", "eager"),
    "kills its parent": ("def misbehave():\n    os.kill(os.getppid(), signal.SIGKILL); time.sleep(1000)\n", "killed", "eager"),
}
AT_IMPORT = {
    "exits": ("os._exit(3)\n", "exited"),
    "is no Python": ("def (:\n", "raised"),
}


def leftovers(marker: str) -> list[str]:
    """Processes whose environment carries the marker."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            pass
    return found


@pytest.fixture
def validate(tmp_path):
    """Runs it with a folder for temporary files of its own, which must be empty afterwards."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    marker = f"FULLGRAPH_TEST_{os.getpid()}_{time.time_ns()}"

    def run(source: str, *arguments, modes="eval"):
        (tmp_path / "model.py").write_text(source)
        done = run_fullgraph("validate", "--isolated", "--entry", "model.py:example", "--python", sys.executable, "--modes", modes,
                             "--repeat", "0", "--output-format", "json", *arguments, cwd=tmp_path, timeout=200,
                             env={"TMPDIR": str(temporary), "MARKER": marker})
        assert list(temporary.iterdir()) == []
        assert leftovers(marker) == []
        return done

    return run


def failure_of(done):
    assert done.code == 2, (done.stdout, done.stderr)
    [case] = done.json()["cases"]
    return case["failure"] or case["runs"][0]["before"]["failure"]


@pytest.mark.parametrize("what", FAULTS)
def test_a_model_that(what, validate):
    code, kind, stage = FAULTS[what]
    limits = ["--timeout", "20" if kind == "timed-out" else "100", "--memory-limit", "1500M"]
    failure = failure_of(validate(HEAD + code, *limits))
    assert (failure["kind"], failure["stage"]) == (kind, stage), failure
    if kind == "raised":
        line = (HEAD + code).splitlines().index("    raise KeyError('nothing like that')") + 1
        assert failure["where"] == f"model.py:{line}" and "nothing like that" in failure["message"]
    assert failure["message"]


@pytest.mark.parametrize("what", AT_IMPORT)
def test_a_module_that(what, validate):
    code, kind = AT_IMPORT[what]
    failure = failure_of(validate("import os, time\n" + code, "--timeout", "8"))
    assert (failure["kind"], failure["stage"]) == (kind, "import"), failure


def test_bytes_on_stdout(validate):
    """What the code prints gets in nobody's way, however much and whatever it is."""
    noise = ("def misbehave():\n    if not torch.compiler.is_compiling():\n"
             "        os.write(1, bytes(range(256)) * 4096); os.write(2, b'{\"kind\": \"run\", \"run\": 0}\\n')\n")
    done = validate(HEAD + noise)
    [case] = done.json()["cases"]
    assert case["failure"] is None and case["runs"][0]["before"]["failure"] is None
    assert done.code == 0, case["problems"]


def test_children_are_ended(validate):
    """Forked ones, those in another session, and those whose parents are gone."""
    code = ("def misbehave():\n    if torch.compiler.is_compiling(): return\n"
            "    subprocess.Popen(['sleep', '1000'])\n    subprocess.Popen(['setsid', 'sleep', '1001'])\n"
            "    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0: time.sleep(1002)\n        os._exit(0)\n")
    done = validate(HEAD + code)
    assert done.code in (0, 1), done.stderr


def test_the_next_run_goes_on_after_a_fault(validate):
    code = "def misbehave():\n    if torch.is_grad_enabled(): os.kill(os.getpid(), signal.SIGKILL)\n"
    done = validate(HEAD + code, modes="train,eval")
    train, evaluation = done.json()["cases"][0]["runs"]
    assert train["before"]["failure"]["kind"] == "killed"
    assert evaluation["before"]["capture"]["graphs"] == 1
    assert done.code == 2


class Running:
    """A validation that hangs, with everything that it makes in a folder of its own."""

    def __init__(self, folder, disposition):
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.marker = f"FULLGRAPH_TEST_{folder.name}"
        (folder / "model.py").write_text(HEAD + "def misbehave():\n    open('begun', 'w'); time.sleep(1000)\n")
        program = os.environ.get("FULLGRAPH_BIN", ROOT / "build" / "bin" / "fullgraph")
        # Where the tests run in the background, signals may be ignored from the start.
        self.process = subprocess.Popen(
            [program, "validate", "--isolated", "--entry", "model.py:example", "--python", sys.executable], cwd=folder,
            env={**os.environ, "TMPDIR": str(self.temporary), "MARKER": self.marker}, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=lambda: [signal.signal(number, how) for number, how in disposition.items()])
        for _ in range(600):
            if (folder / "begun").exists():
                break
            time.sleep(0.1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_program(number, tmp_path):
    """It ends as the signal ends a program, and leaves neither files nor processes."""
    running = Running(tmp_path, {number: signal.SIG_DFL})
    running.process.send_signal(number)
    assert running.process.wait(timeout=30) == -number
    assert list(running.temporary.iterdir()) == []
    assert leftovers(running.marker) == []


def test_a_signal_that_was_ignored_from_the_start(tmp_path):
    """As under nohup, or as a background job of a script."""
    running = Running(tmp_path, {signal.SIGINT: signal.SIG_IGN, signal.SIGTERM: signal.SIG_DFL})
    running.process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        running.process.wait(timeout=3)
    running.process.terminate()
    assert running.process.wait(timeout=30) == -signal.SIGTERM


def test_an_interpreter_without_torch(validate, tmp_path):
    done = validate(HEAD, "--python", "/nonexistent/python")
    assert done.code == 2 and "/nonexistent/python" in done.stdout + done.stderr
    bare = tmp_path / "python"
    bare.write_text(f"#!/bin/sh\nexec {sys.executable} -S -E \"$@\"\n")
    bare.chmod(0o755)
    failure = failure_of(validate(HEAD, "--python", bare))
    assert failure["kind"] == "not-started" and "torch" in failure["message"]
