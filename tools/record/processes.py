"""Each model in a process of its own, forked from one that has torch, the packages and Dynamo loaded already.

Nothing that Dynamo or a package remembers can pass from one record to the next, and a crash or an endless loop costs
one record.
"""
from __future__ import annotations

import dataclasses
import json
import os
import platform
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

from fullgraph_probe.cases import Case, package_of
from fullgraph_probe.places import Places
from fullgraph_probe.subject import error_text, warm_up

from .run import record

POLL_S = 0.02


@dataclasses.dataclass
class _Child:
    case: Case
    mode: str
    path: str
    begin: float
    ended: bool = False


def header(case: Case, mode: str) -> dict[str, Any]:
    import torch

    return {"package": package_of(case), "version": "", "torch": torch.__version__, "python": platform.python_version(),
            "model": case.name, "mode": mode, "note": case.note}


def _write(path: str, entry: dict[str, Any]) -> None:
    with open(path + ".new", "w", encoding="utf-8") as out:
        json.dump(entry, out)
    os.replace(path + ".new", path)  # a reader never sees half a record


def _in_child(case: Case, mode: str, path: str, places: Places, fullgraph: bool) -> None:
    last: dict[str, Any] = {"stage": "build"}

    def emit(entry):
        last.update(entry)
        _write(path, last)

    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        record(case, mode, places, emit, fullgraph)
    except BaseException as error:  # the case is wrong: told in its record, since there is no truth then
        last.update(status=f"{last['stage']}_error", error=error_text(error, places))
        _write(path, last)


def _start(case: Case, mode: str, folder: str, number: int, places: Places, fullgraph: bool) -> tuple[int, _Child]:
    child = _Child(case, mode, os.path.join(folder, f"{number}.json"), time.time())
    pid = os.fork()
    if pid == 0:
        try:
            _in_child(case, mode, child.path, places, fullgraph)
        finally:
            os._exit(0)
    return pid, child


def _result(child: _Child, timeout: float) -> dict[str, Any]:
    try:
        with open(child.path, encoding="utf-8") as text:
            entry = json.load(text)
    except (OSError, ValueError):
        entry = {"stage": "build"}
    if child.ended:
        entry |= {"status": "timeout", "error": f"over {timeout:.0f} s in stage {entry['stage']}"}
    elif "status" not in entry:
        entry |= {"status": "crash", "error": f"the process died in stage {entry['stage']}"}
    return {**header(child.case, child.mode), **entry, "t_total": round(time.time() - child.begin, 1)}


def record_all(work: Sequence[tuple[Case, str]], places: Places, jobs: int, timeout: float,
               fullgraph: bool) -> Iterator[dict[str, Any]]:
    """A record for each (case, mode), in the order in which they end."""
    warm_up()
    waiting, running = list(enumerate(work)), {}
    with tempfile.TemporaryDirectory(prefix="record.") as folder:
        while waiting or running:
            while waiting and len(running) < jobs:
                number, (case, mode) = waiting.pop(0)
                pid, child = _start(case, mode, folder, number, places, fullgraph)
                running[pid] = child
            for pid, child in list(running.items()):
                if time.time() - child.begin > timeout and not child.ended:
                    child.ended = True
                    os.kill(pid, signal.SIGKILL)
                if os.waitpid(pid, os.WNOHANG)[0]:
                    del running[pid]
                    yield _result(child, timeout)
            time.sleep(POLL_S)
