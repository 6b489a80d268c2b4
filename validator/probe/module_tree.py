"""The modules of a model as a tree, and the module in which each graph break happens.

Dynamo tells of a break in frames, not in modules: the way down the tree is found by their code, each frame being a method of the
module that the way has reached, of one below it, or of none. Modules that are alike and stand side by side, the layers of a
stack, are one node: a break in their common code is one break.
"""
from __future__ import annotations

import inspect
from typing import Any

from .places import Places


class ModuleTree:
    def __init__(self, owner, places: Places):
        import torch

        self._places = places
        self._nodes: list[dict[str, Any]] = []  # parents before children
        self._modules: list[Any] = []  # one of each node
        self._parents: list[int] = []
        self._methods: dict[type, list[tuple[str, int, int]]] = {}
        if isinstance(owner, torch.nn.Module):
            self._add(owner, "", 1, -1, set())

    def nodes(self) -> list[dict[str, Any]]:
        return self._nodes

    def _add(self, module, name: str, count: int, parent: int, above: set[int]) -> None:
        number, depth = len(self._nodes), self._nodes[parent]["depth"] + 1 if parent >= 0 else 0
        self._nodes.append({"name": name, "type": type(module).__name__, "count": count, "depth": depth})
        self._modules.append(module)
        self._parents.append(parent)
        groups: list[tuple[Any, str, list[Any]]] = []  # shape, name of the first, modules
        for child_name, child in module.named_children():
            if id(child) in above:
                continue
            shape = _shape_of(child)
            if groups and groups[-1][0] == shape:
                groups[-1][2].append(child)
            else:
                groups.append((shape, f"{name}.{child_name}" if name else child_name, [child]))
        for _, first_name, members in groups:
            self._add(members[0], first_name, len(members), number, above | {id(module)})

    def module_of(self, stack) -> str:
        """`stack`: frames as (file, line, …), outermost first."""
        at = 0
        for file, line, *_ in stack:
            below = range(at, len(self._nodes))
            found = next((n for n in below if self._is_below(n, at) and self._has_method(self._modules[n], file, line)), None)
            at = at if found is None else found
        return self._nodes[at]["name"] if self._nodes else ""

    def _is_below(self, number: int, ancestor: int) -> bool:
        while number > ancestor:
            number = self._parents[number]
        return number == ancestor

    def _has_method(self, module, file: str, line: int) -> bool:
        return any(name == file and first <= line <= last for name, first, last in self._methods_of(type(module)))

    def _methods_of(self, kind: type) -> list[tuple[str, int, int]]:
        known = self._methods.get(kind)
        if known is None:
            known = self._methods[kind] = []
            for value in (value for base in kind.__mro__ for value in vars(base).values()):
                code = getattr(inspect.unwrap(value) if callable(value) else None, "__code__", None)
                if code is not None:
                    lines = [line for _, _, line in code.co_lines() if line]
                    known.append((self._places.name(code.co_filename), code.co_firstlineno, max(lines, default=0)))
        return known


def _shape_of(module) -> tuple:
    return type(module), tuple((name, _shape_of(child)) for name, child in module.named_children())
