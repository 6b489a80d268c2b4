"""Gradient checkpointing of a model, and what the policies of selective checkpoints are asked about."""
from __future__ import annotations

import collections
from typing import Any

from .places import Places


class NotSupported(Exception):
    """The model has no such kind of checkpointing: the run is left out, and that is no failure."""


def apply(owner, kind: str) -> None:
    """"none" leaves the model as it was built."""
    if kind == "none":
        return
    arguments: dict[str, Any] = {"use_reentrant": kind == "reentrant"}
    enable = getattr(owner, "gradient_checkpointing_enable", None)
    if enable is None:
        raise NotSupported(f"{type(owner).__name__} has no gradient_checkpointing_enable")
    try:
        enable(gradient_checkpointing_kwargs=arguments)
    except ValueError as error:
        raise NotSupported(str(error)) from error


class CheckpointWatch:
    """The checkpoints that are entered inside a `with` block: of which kind, and from where."""

    def __init__(self, places: Places):
        self._places = places
        self._calls: collections.Counter = collections.Counter()

    def __enter__(self) -> CheckpointWatch:
        import torch.utils.checkpoint as module

        self._old = {name: getattr(module, name, None) for name in ("CheckpointFunction", "_checkpoint_without_reentrant_generator")}
        reentrant, other = self._old.values()
        if reentrant is None or other is None:  # a torch that is built in another way
            self._old = {}
            return self
        note = self._note

        class Watched(reentrant):
            @staticmethod
            def forward(ctx, *args):
                note("reentrant")
                return reentrant.forward(ctx, *args)

        def generator(*args, **kwargs):
            note("non-reentrant")
            return other(*args, **kwargs)

        module.CheckpointFunction, module._checkpoint_without_reentrant_generator = Watched, generator
        return self

    def __exit__(self, *error) -> None:
        import torch.utils.checkpoint as module

        for name, value in self._old.items():
            setattr(module, name, value)

    def _note(self, kind: str) -> None:
        self._calls[kind, self._places.of_caller()] += 1

    def counts(self) -> list[dict[str, Any]]:
        return [{"kind": kind, "module": "", "place": place, "calls": calls} for (kind, place), calls in self._calls.items()]


class PolicyWatch:
    """The operators that policies of selective checkpoints are asked about inside a `with` block.

    Operators of compiled code are none of them unless the compiler asks: then the policy is bypassed.
    """

    def __init__(self):
        self.asked: set[str] = set()

    def __enter__(self) -> PolicyWatch:
        import torch.utils.checkpoint as module

        self._mode = getattr(module, "_CachingTorchDispatchMode", None)
        if self._mode is None:  # older than selective checkpoints
            return self
        self._old = old = self._mode.__init__
        watch = self

        def init(mode, policy_fn, *args, **kwargs):
            def asked(ctx, op, *op_args, **op_kwargs):
                watch.asked.add(str(op))
                return policy_fn(ctx, op, *op_args, **op_kwargs)

            old(mode, asked, *args, **kwargs)

        self._mode.__init__ = init
        return self

    def __exit__(self, *error) -> None:
        if self._mode is not None:
            self._mode.__init__ = self._old
