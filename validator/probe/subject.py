"""A model with its inputs, run in one mode: eagerly or compiled, with a backward pass or without."""
from __future__ import annotations

import copy
import dataclasses
import random
import re
import traceback
from typing import Any

from .cases import BadEntry, Case
from .decode import decode_step
from .places import Places

# The defaults but for these: a model that compiles again for each of its layers must not hide its later breaks.
DYNAMO_CONFIG = {"recompile_limit": 64, "accumulated_recompile_limit": 1024}


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


def warm_up() -> None:
    """Dynamo's imports and tables are paid for once, before the forks."""
    import torch

    torch.set_num_threads(1)
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()


class Subject:
    """A built model with inputs that are new for each call: caches, for one, change when a model runs."""

    def __init__(self, case: Case, mode: str, device: str = "cpu", weighted: bool = False):
        """`weighted`: what is differentiated, where the case has no loss of its own, is a weighted sum of the outputs. In a plain one
        differences cancel: behind a normalisation every gradient is nearly zero, and any two are equal."""
        import torch

        seed(0)
        self.mode, self._weighted = mode, weighted
        self.model, self._args, self._kwargs, self._loss = case.make(mode)
        owner = self.owner
        if isinstance(owner, torch.nn.Module):
            owner.train(trains(mode))
        if device != "cpu":
            if isinstance(owner, torch.nn.Module):
                owner.to(device)
            self._args, self._kwargs = moved((self._args, self._kwargs), device)
        self._again = None
        try:
            self._copy()
        except Exception:  # a tensor with a history cannot be copied
            self._again = lambda: moved(case.make(mode)[1:3], device)
        self._decode = mode == "decode" and not case.takes_mode

    @property
    def owner(self):
        """The module that the callable belongs to, or the callable."""
        return getattr(self.model, "__self__", self.model)

    def _copy(self):
        return copy.deepcopy((self._args, self._kwargs))

    def inputs(self):
        args, kwargs = self._again() if self._again else self._copy()
        return ((), decode_step(self.model, kwargs)) if self._decode else (args, kwargs)

    def call(self, function, backward: bool = False, around=None) -> str:
        """Calls `function` in place of the model. -> what became of the backward pass"""
        return self.run(function, self.inputs(), backward, around)[1]

    def run(self, function, inputs, backward: bool = False, around=None) -> tuple[Any, str]:
        """The output, and what became of the backward pass."""
        import torch

        args, kwargs = inputs
        seed(1)
        with torch.set_grad_enabled(trains(self.mode)):
            if around is None:
                out = function(*args, **kwargs)
            else:
                with around:
                    out = function(*args, **kwargs)
            if not (backward and trains(self.mode)):
                return out, ""
            loss = self._loss_of(out) if self._loss else _sum_of(out, self._weighted)
            if loss is None:
                return out, "no differentiable output"
            loss.backward()
            return out, "ok"


    def _loss_of(self, out):
        import torch

        loss = self._loss(out)
        if not (isinstance(loss, torch.Tensor) and loss.numel() == 1):
            found = f"a tensor of {loss.numel()} values" if isinstance(loss, torch.Tensor) else type(loss).__name__
            raise BadEntry(f"the loss function of an entry returns a tensor of one value, not {found}")
        return loss if loss.requires_grad else None


def _sum_of(out, weighted: bool):
    roots = [tensor for tensor in tensors_in(out) if tensor.requires_grad and tensor.is_floating_point()]
    if not roots:
        return None
    return sum((tensor.float() * _weights_like(tensor) if weighted else tensor.float()).sum() for tensor in roots)


def _weights_like(tensor):
    import torch

    return torch.cos(torch.arange(tensor.numel(), device=tensor.device, dtype=torch.float32)).view(tensor.shape)


def moved(value, device: str):
    import torch

    return torch.utils._pytree.tree_map(lambda item: item.to(device) if isinstance(item, torch.Tensor) else item, value)


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
    """Hands each graph to a backend (the default runs it as it was captured), and counts graphs and how often each is called.

    `faithful`: a graph with a gradient checkpoint in it goes to `aot_eager` instead of being run as it was captured. There the
    checkpoint would not restore the state of random numbers (torch leaves that to what is behind AOTAutograd), so that dropout
    would differ in the backward pass, and with it all gradients.
    """

    def __init__(self, name: str = "eager", faithful: bool = False):
        self._name, self._faithful = name, faithful
        self.operators = 0
        self.calls: list[int] = []  # of each graph
        self.origins: list[str] = []  # where each comes from: "file:line function", as Python names the file

    @property
    def graphs(self) -> int:
        return len(self.calls)

    def __call__(self, graph_module, example_inputs):
        number = len(self.calls)
        self.calls.append(0)
        self.origins.append(_origin_of(graph_module))
        self.operators += sum(node.op.startswith("call_") for node in graph_module.graph.nodes)
        compiled = graph_module.forward
        name = "aot_eager" if self._name == "eager" and self._faithful and _has_checkpoint(graph_module) else self._name
        if name != "eager":
            from torch._dynamo.backends.registry import lookup_backend

            compiled = lookup_backend(name)(graph_module, example_inputs)

        def run(*args):
            self.calls[number] += 1
            return compiled(*args)

        return run


def _has_checkpoint(graph_module) -> bool:
    return any(getattr(node.target, "__name__", "") == "tag_activation_checkpoint"
               for module in graph_module.modules() if hasattr(module, "graph") for node in module.graph.nodes)


_FRAME = re.compile(r'File "(.*?)", line (\d+), in (.*)')


def _origin_of(graph_module) -> str:
    for node in graph_module.graph.nodes:
        frames = _FRAME.findall(node.stack_trace or "")
        if frames:
            name, line, function = frames[-1]
            return f"{name}:{line} {function.strip()}"
    return ""


def error_text(error: BaseException, places: Places) -> str:
    names = [(places.name(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    where = next((f" [at {name}:{line}]" for name, line in reversed(names) if places.is_recorded(name)), "")
    return f"{type(error).__name__}: {error}"[:1500] + where
