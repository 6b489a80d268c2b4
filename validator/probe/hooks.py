"""Which hooks run: each that is registered when the block begins is counted while it lasts."""
from __future__ import annotations

from typing import Any

_OF_MODULES = {"_forward_pre_hooks": "forward_pre", "_forward_hooks": "forward", "_backward_pre_hooks": "backward_pre",
               "_backward_hooks": "backward"}
_OF_PARAMETERS = {"_backward_hooks": "parameter", "_post_accumulate_grad_hooks": "parameter"}


class HookCounter:
    """A context manager; `counts()` afterwards."""

    def __init__(self, owner):
        import torch

        self._owner = owner if isinstance(owner, torch.nn.Module) else None
        self._counts: dict[tuple[str, str], int] = {}
        self._undo: list[tuple[Any, Any, Any]] = []

    def _count_all(self, table, kind: str, name: str) -> None:
        for key, hook in list((table or {}).items()):
            self._undo.append((table, key, hook))
            table[key] = self._counting(hook, kind, name)

    def _counting(self, hook, kind: str, name: str):
        def counted(*args, **kwargs):
            self._counts[kind, name] = self._counts.get((kind, name), 0) + 1
            return hook(*args, **kwargs)

        return counted

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
        return [{"kind": kind, "module": name, "calls": calls} for (kind, name), calls in self._counts.items()]
