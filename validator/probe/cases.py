"""What is run: entries of the shape that `fullgraph check --entry` takes, one by one or many from a file.

An entry is `FILE:function` or `pkg.module:function`, a function that returns (module or callable, args, kwargs), and perhaps a
fourth thing, a function from the output to the loss. Where it has a parameter `mode`, it is told for which mode it builds. A file
of cases defines `cases()`, which returns `Case`s or entries.
"""
from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import importlib.util
import inspect
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

MODES = ("eval", "train")


class BadEntry(SystemExit):
    """What is named is no entry, or does not return what an entry does."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One model. `build` returns (module or callable, args, kwargs); `package` is looked up in its class when empty."""

    name: str
    build: Callable[..., tuple[Any, tuple, dict]]
    modes: tuple[str, ...] = MODES
    package: str = ""
    note: str = ""

    @property
    def takes_mode(self) -> bool:
        return "mode" in inspect.signature(self.build).parameters

    def make(self, mode: str) -> tuple[Any, tuple, dict, Callable[[Any], Any] | None]:
        made = self.build(mode=mode) if self.takes_mode else self.build()
        if wrong := _wrong_with(made):
            raise BadEntry(f"{self.name}: an entry returns (module or callable, args, kwargs) and perhaps a loss function; {wrong}")
        return made if len(made) == 4 else (*made, None)


def _wrong_with(made: Any) -> str:
    if not isinstance(made, tuple) or len(made) not in (3, 4):
        return f"this is {type(made).__name__}{f' of {len(made)}' if isinstance(made, tuple) else ''}"
    model, args, kwargs, *loss = made
    if not callable(model):
        return f"the first is {type(model).__name__}, which cannot be called"
    if not isinstance(args, (tuple, list)):
        return f"args is {type(args).__name__}, not a tuple (of one: `(x,)`)"
    if not isinstance(kwargs, dict):
        return f"kwargs is {type(kwargs).__name__}, not a dict"
    return f"the loss function is {type(loss[0]).__name__}" if loss and loss[0] is not None and not callable(loss[0]) else ""


def import_folder(path: pathlib.Path) -> tuple[pathlib.Path, list[str]]:
    """The folder from which a file is imported, and the parts of the name that it has there. A link is not followed: in a copy of the
    project what did not change is a link, and what it imports must come from the copy."""
    path = pathlib.Path(os.path.abspath(path))
    parts, folder = [path.stem], path.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, parts


def load_file(path: pathlib.Path):
    """Imports a file under the name that it has for the rest of its project, so that its relative imports work."""
    folder, parts = import_folder(path)
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    name = ".".join(parts)
    if len(parts) > 1:
        return importlib.import_module(name)
    loaded = sys.modules.get(name)
    if loaded is not None:
        if getattr(loaded, "__file__", None) and pathlib.Path(loaded.__file__).resolve() == path.resolve():
            return loaded
        name = f"fullgraph_probe_{name}"  # a module of that name is there already: the standard library's, say
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def file_of_entry(text: str) -> pathlib.Path | None:
    where = text.rpartition(":")[0]
    return pathlib.Path(where) if where.endswith(".py") else None


def from_entry(text: str, modes: tuple[str, ...] = MODES) -> Case:
    where, colon, function = text.rpartition(":")
    if not colon or not function.isidentifier():
        raise BadEntry(f"'{text}' is not FILE:function or pkg.module:function")
    file = file_of_entry(text)
    module = load_file(file) if file else importlib.import_module(where)
    build = getattr(module, function, None)
    if build is None:
        raise BadEntry(f"{where} has no function '{function}'")
    return Case(f"{module.__name__}:{function}", build, modes)


def from_file(path: str) -> list[Case]:
    """The cases of a file. They are in no record: models belong into modules of their own."""
    listed = load_file(pathlib.Path(path)).cases()
    return [from_entry(item) if isinstance(item, str) else item for item in listed]


def package_of(case: Case, model: Any = None) -> str:
    """The top-level package of the model's class or function."""
    owner = getattr(model, "__self__", model)
    module = type(owner).__module__ if hasattr(owner, "parameters") else getattr(owner, "__module__", None)
    return case.package or (module or case.build.__module__).partition(".")[0]


def version_of(package: str) -> str:
    for name in (package, *importlib.metadata.packages_distributions().get(package, ())):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return ""
