"""One model in one mode: run eagerly with the lines noted, then compiled with the breaks noted, then with fullgraph=True."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from fullgraph_probe.breaks import BreakRecorder
from fullgraph_probe.cases import Case, package_of, version_of
from fullgraph_probe.lines import LineTracer, by_file
from fullgraph_probe.places import Places
from fullgraph_probe.subject import DYNAMO_CONFIG, CountingBackend, Subject, error_text

Emit = Callable[[dict[str, Any]], None]


def record(case: Case, mode: str, places: Places, emit: Emit, fullgraph: bool = True) -> None:
    """Runs all stages. `emit` gets the growing record after each, so that a crash leaves what was known before it."""
    entry: dict[str, Any] = {"stage": "build"}
    begin = time.time()
    subject = Subject(case, mode)
    package = package_of(case, subject.model)
    kind = type(getattr(subject.model, "__self__", subject.model))
    entry |= {"package": package, "version": version_of(package), "class": f"{kind.__module__}.{kind.__qualname__}"}
    entry["stage"] = "eager"
    emit(entry)
    tracer = LineTracer(places)
    subject.call(subject.model, around=tracer)
    entry["executed"] = by_file(tracer.seen, places)
    try:
        entry["backward_eager"] = subject.call(subject.model, backward=True)
    except Exception as error:  # no truth about the forward pass is lost by that
        entry["backward_eager"] = f"error: {error_text(error, places)}"[:300]
    entry |= {"t_eager": round(time.time() - begin, 1), "stage": "compile"}
    emit(entry)
    _compiled(subject, entry, places)
    entry["stage"] = "fullgraph"
    emit(entry)
    if fullgraph:
        _fullgraph(subject, entry, places)
    entry["stage"] = "done"
    emit(entry)


def _compiled(subject: Subject, entry: dict[str, Any], places: Places) -> None:
    import torch
    import torch._dynamo as dynamo
    from torch._dynamo.utils import counters

    for option, value in DYNAMO_CONFIG.items():
        setattr(dynamo.config, option, value)
    entry["dynamo_config"] = DYNAMO_CONFIG
    dynamo.reset()
    counters.clear()
    backend, begin = CountingBackend(), time.time()
    entry["status"] = "ok"
    with BreakRecorder(places) as recorder:
        try:
            backward = not str(entry["backward_eager"]).startswith("error")
            entry["backward_compiled"] = subject.call(torch.compile(subject.model, backend=backend), backward)
        except Exception as error:
            entry |= {"status": "compile_error", "error": error_text(error, places)}
    entry |= recorder.fields()
    entry |= {"graphs": backend.graphs, "ops": backend.operators, "frames": dict(counters.get("frames", {})),
              "t_compile": round(time.time() - begin, 1)}


def _fullgraph(subject: Subject, entry: dict[str, Any], places: Places) -> None:
    """Where one frame gave one graph without a break, the same trace would only be made again."""
    import torch
    import torch._dynamo as dynamo

    frames = entry["frames"]
    if entry["status"] == "ok" and not entry["breaks"] and entry["graphs"] == frames.get("total") == frames.get("ok") == 1:
        entry |= {"fullgraph_ok": True, "fullgraph_inferred": True}
        return
    dynamo.reset()
    try:
        subject.call(torch.compile(subject.model, backend=CountingBackend(), fullgraph=True))
        entry["fullgraph_ok"] = True
    except Exception as error:
        entry |= {"fullgraph_ok": False, "fullgraph_error": error_text(error, places)[:700]}
        stack = getattr(error, "real_stack", None)
        if stack:  # the site that stops it; it is not the first of the breaks above where those are captured
            only = BreakRecorder(places)
            only.add("fullgraph", error, stack, [], _code_of(subject.model))
            kept = ("gb_id", "gb_type", "context", "file", "line", "func", "inner_file", "inner_line", "stack")
            entry["fullgraph_break"] = {key: only.breaks[0][key] for key in kept}


def _code_of(model):
    forward = getattr(type(model), "forward", model)
    return getattr(forward, "__code__", _code_of.__code__)
