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
    failure = failure_of(validate("import os, time\n" + code))
    assert (failure["kind"], failure["stage"]) == (kind, "import"), failure
    if kind == "raised":
        assert failure["where"] == "model.py:2" and code.strip() in failure["output"]


# What an entry returns → what is said of it.
NO_ENTRIES = {
    "a module alone": ("Model()", "this is Model"),
    "a tensor for the arguments": ("Model(), torch.ones(1, 2), {}", "args is Tensor, not a tuple"),
    "no keyword arguments": ("Model(), (torch.ones(1, 2),), None", "kwargs is NoneType"),
    "a loss of many values": ("Model(), (torch.ones(1, 2),), {}, lambda output: output", "one value, not a tensor of 2 values"),
}


@pytest.mark.parametrize("what", NO_ENTRIES)
def test_an_entry_that_returns(what, validate):
    returned, message = NO_ENTRIES[what]
    failure = failure_of(validate(f"{HEAD}def misbehave(): pass\ndef example():\n    return {returned}\n", modes="train"))
    assert failure["kind"] == "bad-input" and message in failure["message"]


def test_an_error_that_cannot_be_told(validate):
    """What is no text in a message, a closed stream and a traceback: none of it hides the error, and none of it shows the probe."""
    code = "def misbehave():\n    sys.stdout.close(); sys.stderr.close()\n    raise ValueError('\\udc80\\x00 is it')\n"
    failure = failure_of(validate(HEAD + code))
    assert (failure["kind"], failure["stage"]) == ("raised", "eager") and "is it" in failure["message"]
    assert "in misbehave" in failure["output"] and "measure.py" not in failure["output"]
    failure = failure_of(validate(HEAD + "class E(Exception):\n    def __str__(self): raise E\ndef misbehave(): raise E\n"))
    assert (failure["kind"], failure["where"]) == ("raised", f"model.py:{len(HEAD.splitlines()) + 3}")


def test_what_is_registered_for_the_end(validate):
    """It is not run: it could hang, or change the status."""
    begin = time.monotonic()
    done = validate(HEAD + "import atexit\natexit.register(time.sleep, 1000)\ndef misbehave(): pass\n", "--timeout", "60")
    assert done.code == 0 and time.monotonic() - begin < 50


# What stands in the place of the worker's result, written by an interpreter that does nothing else.
RESULTS = {
    "a pipe": "os.mkfifo(path)",
    "a file without an end": "os.symlink('/dev/zero', path)",
    "a file of a terabyte": "open(path, 'w').truncate(1 << 40)",
    "bytes": "open(path, 'wb').write(bytes(range(256)) * 1000)",
    "depth": "open(path, 'w').write('[' * 1_000_000 + '\\n')",
    "other types": r"""open(path, 'w').write('{"kind": "ended", "run": 0, "status": "x", "signal": []}\n{"kind": "stage", "run": 0, "stage": {}}\n'
        '{"kind": "run", "run": 0, "side": {"capture": 7, "notes": [1]}}\n{"kind": "failure", "failure": 3}\n{"kind": 1, "run": -1}\n')""",
}


@pytest.mark.parametrize("what", RESULTS)
def test_a_result_that_is(what, validate, tmp_path):
    interpreter = tmp_path / "interpreter"
    interpreter.write_text(f"#!{sys.executable} -S\nimport json, os, sys\npath = json.load(open(sys.argv[2]))['result']\n{RESULTS[what]}\n")
    interpreter.chmod(0o755)
    assert failure_of(validate("", "--python", interpreter, "--timeout", "20"))["message"]


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGKILL])
def test_a_signal_to_the_program(number, tmp_path):
    """It ends as the signal ends a program, and leaves neither files nor processes."""
    running = Running(tmp_path, {} if number == signal.SIGKILL else {number: signal.SIG_DFL})
    running.process.send_signal(number)
    assert running.process.wait(timeout=30) == -number
    # After SIGKILL another process puts things away, for which nobody waits.
    for _ in range(100):
        if not list(running.temporary.iterdir()) and not leftovers(running.marker):
            break
        time.sleep(0.1)
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
