"""The worker of `fullgraph validate`: one case, one side, all of its runs.

The request is a file of JSON, written by the program (`validator/python_worker.cpp`). What is found is appended to another file,
one JSON object a line, so that nothing that the user's code prints can get between, and that what was found stays found when
the process is killed:

    {"kind": "environment", "torch": …, "python": …, "device": …}
    {"kind": "stage", "run": 0, "stage": "eager"}
    {"kind": "run", "run": 0, "side": {…}, "change": {…} or null, "executed": {…}, "traced": {…}}
    {"kind": "ended", "run": 0, "signal": 9}       the process of a run ended without a word
    {"kind": "failure", "failure": {…}}            nothing can be run at all

Each run is a process of its own, forked from one that has torch and the project loaded. Under torchrun there is one run,
without forks.
"""
from __future__ import annotations

import contextlib
import ctypes
import json
import os
import platform
import signal
import sys
import traceback
import warnings
from typing import Any, NoReturn

from . import cases, distributed
from .measure import Measurement, Plan
from .own_compiles import OwnCompiles
from .places import Places, is_own
from .subject import warm_up
from .tensors import Outcome


def _die_with_parent() -> None:
    """Should the program be killed without a chance to put things away, this process goes as well (Linux)."""
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    except (OSError, AttributeError):
        pass


class Output:
    """The file of results. Each line is one write, so that lines of several processes do not mix. Names of files and messages can hold
    what is no text, which JSON has no form for."""

    def __init__(self, path: str):
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, **fields: Any) -> None:
        os.write(self._file, (json.dumps(fields, allow_nan=False, ensure_ascii=False) + "\n").encode(errors="replace"))


def failure_of(error: BaseException, stage: str, places: Places) -> dict[str, Any]:
    """With a traceback of the user's code: neither this package nor torch is what people look for."""
    if isinstance(error, cases.BadEntry):
        return {"kind": "bad-input", "stage": stage, "message": str(error)}
    trace = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in trace if places.is_recorded(places.name(frame.filename))]
    where = f"{places.name(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    if isinstance(error, SyntaxError) and error.filename and places.is_recorded(places.name(error.filename)):
        where = f"{places.name(error.filename)}:{error.lineno}"
    shown = frames if frames and trace[-1] is frames[-1] else [*frames, *(frame for frame in trace[-1:] if not is_own(frame.filename))]
    # Of a syntax error there is its line in front of the message, and notes can be behind it.
    told = traceback.format_exception_only(error)
    message = next((line for line in told if not line.startswith("  ")), type(error).__name__)
    text = "".join([*traceback.format_list(shown)[-12:], *(line for line in told if line is not message)])
    return {"kind": "raised", "stage": stage, "message": " ".join(message.split())[:400], "where": where, "output": text}


class Worker:
    def __init__(self, request: dict[str, Any]):
        self._request = request
        self._rank, self._processes = distributed.world()
        self._output = Output(request["result"])
        # The first in `path` are the sources of this side, which may be a copy: files are named from there.
        self._places = Places([*request["path"], *request["sources"]])
        self._compiles = OwnCompiles([*request["path"], *request["sources"]])

    def run(self) -> int:
        stage = "import torch"
        try:
            import torch

            warm_up()
            self._device = self._choose_device()
            if self._rank == 0:
                self._output.write(kind="environment", torch=torch.__version__, python=platform.python_version(), device=self._device)
            if self._device is None:
                return 0
            self._compiles.install()
            stage = "import"
            self._case = self._load_case()
            if self._processes > 1:
                stage = "distributed"
                distributed.begin(self._device)
        except BaseException as error:
            self._output.write(kind="failure", failure=failure_of(error, stage, self._places))
            return 1
        for number in self._request["wanted"]:
            if self._processes > 1 or os.environ.get("WORLD_SIZE"):
                self._measure(number)
            else:
                self._in_fork(number)
        distributed.end()
        return 0

    def _choose_device(self) -> str | None:
        """None: a GPU is asked for, and there is none."""
        import torch

        wanted = self._request["device"]
        if wanted == "auto":
            return "cuda" if self._has_gpu() else "cpu"
        if wanted == "cuda" and not self._has_gpu():
            return None
        return wanted

    @staticmethod
    def _has_gpu() -> bool:
        """Asked without beginning to use one: a process that has cannot be forked."""
        import torch

        return torch.backends.cuda.is_built() and torch.cuda.device_count() > 0

    def _load_case(self) -> cases.Case:
        request = self._request
        if request.get("transformers"):
            from . import transformers_case

            import transformers  # noqa: F401  before the forks

            return transformers_case.case(request["transformers"], request["name"], request.get("config"), request.get("class"))
        return cases.from_entry(request["entry"])

    # -- one run

    def _in_fork(self, number: int) -> None:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                _die_with_parent()
                self._measure(number)
                status = 0
            finally:
                leave(status)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            self._output.write(kind="ended", run=number, signal=os.WTERMSIG(status))
        else:
            self._output.write(kind="ended", run=number, status=os.WEXITSTATUS(status))

    def _measure(self, number: int) -> None:
        wanted, stage = self._request["runs"][number], "begin"
        plan = Plan(wanted["mode"], wanted["checkpointing"], self._device, self._request["backend"],
                    self._request["repetitions"], {"whole": True, "self": False}.get(self._request["compile"]))

        def tell(name: str) -> None:
            nonlocal stage
            stage = name
            if self._rank == 0:
                self._output.write(kind="stage", run=number, stage=name)

        measurement, change = Measurement(self._case, plan, self._places, self._compiles, tell), None
        try:
            measurement.run()
            self._check_sources()
            change = self._against_others(number, measurement)
        except BaseException as error:
            measurement.side["failure"] = failure_of(error, stage, self._places)
        if self._rank == 0 or "failure" in measurement.side:
            self._output.write(kind="run", run=number, side=measurement.side, change=change, **measurement.lines)

    def _check_sources(self) -> None:
        """What was changed must be what ran: a module that was loaded from the unchanged file would prove nothing."""
        replaced = set(self._request["replaced"])
        for module in list(sys.modules.values()) if replaced else ():
            if (file := getattr(module, "__file__", None)) and os.path.abspath(file) in replaced:
                raise RuntimeError(f"{module.__name__} was imported from {file} and not from the changed copy")

    def _against_others(self, number: int, measurement: Measurement) -> dict[str, Any] | None:
        """Compares with the side before, and with a single process; leaves what was computed for those that come."""
        mine = measurement.eager
        if mine is None:
            return None
        folder, request = self._request["tensors"], self._request
        if self._rank == 0:
            mine.save(os.path.join(folder, f"{request['side']}-{number}.pt"))
        change = None
        before = os.path.join(folder, f"before-{number}.pt")
        if request["side"] == "after" and os.path.exists(before):
            change = Outcome.load(before).compare(mine)
            change = distributed.worst_of_all(change) if self._processes > 1 else change
        single = os.path.join(folder, f"single-{number}.pt")
        if self._processes > 1 and os.path.exists(single):
            expected = Outcome.load(single)
            note = distributed.without_shards(expected, mine)
            comparison = distributed.worst_of_all(expected.compare(mine))
            measurement.side["single_process"] = {**comparison, "note": note or comparison["note"]}
        return change


def leave(status: int) -> NoReturn:
    """Ends the process without what the project's code has registered for its end, which may hang or change the status."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # closed, or replaced by something else
            stream.flush()
    os._exit(status)


def main(path: str) -> NoReturn:
    _die_with_parent()
    warnings.filterwarnings("ignore")
    with open(path, encoding="utf-8") as text:
        request = json.load(text)
    # The sources of this side come first, then what stands beside the entry.
    file = cases.file_of_entry(request["entry"])
    sys.path[:0] = [*request["path"], *([str(cases.import_folder(file)[0])] if file else [])]
    leave(Worker(request).run())
