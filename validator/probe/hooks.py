"""Which hooks run, and where they are written: each that is registered when the block begins is counted while it lasts."""
from __future__ import annotations

import collections
import functools
from typing import Any

_OF_MODULES = {"_forward_pre_hooks": "forward_pre", "_forward_hooks": "forward", "_backward_pre_hooks": "backward_pre",
               "_backward_hooks": "backward"}
_OF_PARAMETERS = {"_backward_hooks": "parameter", "_post_accumulate_grad_hooks": "parameter"}


class RegistrationWatch:
    """The hooks that are registered on parameters inside a `with` block, and whether those are still the model's in the end."""

    def __init__(self, places):
        self._places = places
        self._seen: list[tuple[str, Any]] = []
        self._undo: list[tuple[str, Any]] = []

    def __enter__(self) -> RegistrationWatch:
        import torch

        for name in ("register_hook", "register_post_accumulate_grad_hook"):
            self._undo.append((name, getattr(torch.Tensor, name)))
            setattr(torch.Tensor, name, self._watching(getattr(torch.Tensor, name)))
        return self

    def _watching(self, register):
        import torch

        @functools.wraps(register)
        def watched(tensor, *args, **kwargs):
            if isinstance(tensor, torch.nn.Parameter):
                self._seen.append((self._places.of_caller(), tensor))
            return register(tensor, *args, **kwargs)

        return watched

    def __exit__(self, *error) -> None:
        import torch

        while self._undo:
            setattr(torch.Tensor, *self._undo.pop())

    def counts(self, owner) -> list[dict[str, Any]]:
        import torch

        own = {id(tensor) for tensor in owner.parameters()} if isinstance(owner, torch.nn.Module) else set()
        counts = collections.Counter(("kept" if id(tensor) in own else "lost", place) for place, tensor in self._seen)
        return [{"kind": kind, "module": "", "place": place, "calls": number} for (kind, place), number in counts.items()]


class HookCounter:
    """A context manager; `counts()` afterwards."""

    def __init__(self, owner, places):
        import torch

        self._places = places
        self._owner = owner if isinstance(owner, torch.nn.Module) else None
        self._counts: dict[tuple[str, str, str], int] = {}
        self._undo: list[tuple[Any, Any, Any]] = []

    def _count_all(self, table, kind: str, name: str) -> None:
        for key, hook in list((table or {}).items()):
            self._undo.append((table, key, hook))
            table[key] = self._counting(hook, kind, name)

    def _counting(self, hook, kind: str, name: str):
        key = kind, name, self._place_of(hook)

        def counted(*args, **kwargs):
            self._counts[key] = self._counts.get(key, 0) + 1
            return hook(*args, **kwargs)

        return counted

    def _place_of(self, hook) -> str:
        while isinstance(hook, functools.partial):
            hook = hook.func
        code = getattr(hook, "__code__", None) or getattr(getattr(hook, "__func__", None), "__code__", None)
        return f"{self._places.name(code.co_filename)}:{code.co_firstlineno}" if code else ""

    def __enter__(self) -> HookCounter:
        if self._owner is None:
            return self
        for name, module in self._owner.named_modules():
            for attribute, kind in _OF_MODULES.items():
                self._count_all(getattr(module, attribute, None), kind, name)
        for name, parameter in self._owner.named_parameters():
            for attribute, kind in _OF_PARAMETERS.items():
                self._count_all(getattr(parameter, attribute, None), kind, name)
        return self

    def __exit__(self, *error) -> None:
        while self._undo:
            table, key, hook = self._undo.pop()
            if key in table:  # a hook may have removed itself
                table[key] = hook

    def counts(self) -> list[dict[str, Any]]:
        return [{"kind": kind, "module": name, "place": place, "calls": calls} for (kind, name, place), calls in self._counts.items()]
