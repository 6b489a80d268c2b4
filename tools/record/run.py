"""One model in one mode: run eagerly with the lines noted, then compiled with the breaks noted, then with fullgraph=True."""
from __future__ import annotations

import copy
import dataclasses
import random
import time
import traceback
from collections.abc import Callable
from typing import Any

from .breaks import BreakRecorder
from .cases import Case, package_of, version_of
from .decode import decode_step
from .lines import LineTracer, by_file
from .places import Places

# The defaults but for these: a model that compiles again for each of its layers must not hide its later breaks.
DYNAMO_CONFIG = {"recompile_limit": 64, "accumulated_recompile_limit": 1024}
Emit = Callable[[dict[str, Any]], None]


def trains(mode: str) -> bool:
    """Modes are free words: those that begin with `train` train, all others evaluate without gradients."""
    return mode.startswith("train")


def seed(value: int) -> None:
    import torch

    torch.manual_seed(value)
    random.seed(value)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(value)


class Subject:
    """A built model with inputs that are new for each call: caches, for one, change when a model runs."""

    def __init__(self, case: Case, mode: str):
        import torch

        seed(0)
        self.mode = mode
        self.model, self._args, self._kwargs = case.make(mode)
        owner = getattr(self.model, "__self__", self.model)
        if isinstance(owner, torch.nn.Module):
            owner.train(trains(mode))
        self._again = None
        try:
            self._copy()
        except Exception:  # a tensor with a history cannot be copied
            self._again = lambda: case.make(mode)[1:]
        self._decode = mode == "decode" and not case.takes_mode

    def _copy(self):
        return copy.deepcopy((self._args, self._kwargs))

    def _inputs(self):
        args, kwargs = self._again() if self._again else self._copy()
        return ((), decode_step(self.model, kwargs)) if self._decode else (args, kwargs)

    def call(self, function, backward: bool = False, around=None) -> str:
        """Calls `function` in place of the model. -> what became of the backward pass"""
        import torch

        args, kwargs = self._inputs()
        seed(1)
        with torch.set_grad_enabled(trains(self.mode)):
            if around is None:
                out = function(*args, **kwargs)
            else:
                with around:
                    out = function(*args, **kwargs)
            if not (backward and trains(self.mode)):
                return ""
            roots = [tensor for tensor in tensors_in(out) if tensor.requires_grad and tensor.is_floating_point()]
            if not roots:
                return "no differentiable output"
            sum(tensor.float().sum() for tensor in roots).backward()
            return "ok"


def tensors_in(value, seen=None):
    """The tensors of an output, through containers and dataclasses."""
    import torch

    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in list(value.values()):
            yield from tensors_in(item, seen)
    elif isinstance(value, (list, tuple, set)):
        for item in value:
            yield from tensors_in(item, seen)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from tensors_in(getattr(value, field.name, None), seen)


class CountingBackend:
    """Runs each graph as it was captured, and counts."""

    def __init__(self):
        self.graphs = self.operators = 0

    def __call__(self, graph_module, example_inputs):
        self.graphs += 1
        self.operators += sum(node.op.startswith("call_") for node in graph_module.graph.nodes)
        return graph_module.forward


def error_text(error: BaseException, places: Places) -> str:
    names = [(places.name(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    where = next((f" [at {name}:{line}]" for name, line in reversed(names) if places.is_recorded(name)), "")
    return f"{type(error).__name__}: {error}"[:1500] + where


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
