"""Names of source files in a record: relative to the folder that the linter is given, never a path of this machine.

A file of an installed package is named from site-packages on (`transformers/models/t5/modeling_t5.py`), a file of the
project from its own folder on, the standard library as `<stdlib>/…`. Only third-party and project code is recorded; what
happens inside torch or the standard library is told through the innermost line of the caller.
"""
from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable

OWN_FOLDER = os.path.dirname(os.path.realpath(__file__)) + os.sep
STDLIB_MARK = "<stdlib>/"


def is_own(filename: str) -> bool:
    """A file of this package."""
    return os.path.realpath(filename).startswith(OWN_FOLDER)


def folder_of_torch() -> str:
    """The folder that holds `torch/`; found without importing it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise SystemExit("this Python has no torch: name the interpreter of the project's environment (--python)")
    return os.path.dirname(os.path.dirname(os.path.realpath(spec.origin)))


class Places:
    """Maps file names to the names that records use."""

    def __init__(self, folders: Iterable[str], leave_out: Iterable[str] = ()):
        """`leave_out`: files, or folders, that are not recorded."""
        paths = sysconfig.get_paths()
        names = {folder: "" for folder in (*folders, paths["purelib"], paths["platlib"], folder_of_torch())}
        names[paths["stdlib"]] = STDLIB_MARK
        # As given and with links resolved: either can be what Python has as a module's file.
        prefixes = {form(folder): name for folder, name in names.items() for form in (os.path.abspath, os.path.realpath)}
        # The longest first: a venv lies inside its project, site-packages inside the standard library.
        self._prefixes = sorted(((folder + os.sep, name) for folder, name in prefixes.items()), key=lambda p: -len(p[0]))
        self._left_out = tuple(os.path.realpath(path) for path in leave_out)
        self._names: dict[str, str] = {}

    def name(self, filename: str) -> str:
        known = self._names.get(filename)
        if known is None:
            known = self._names[filename] = self._find(filename)
        return known

    def _find(self, filename: str) -> str:
        if filename.startswith("<"):  # made at run time: `<string>`, `<eval_with_key>.3`
            return filename
        path = os.path.realpath(filename)
        if path in self._left_out or path.startswith((OWN_FOLDER, *(folder + os.sep for folder in self._left_out))):
            return path  # an absolute name is not recorded
        for form in (os.path.abspath(filename), path):
            for folder, name in self._prefixes:
                if form.startswith(folder):
                    return name + form[len(folder):].replace(os.sep, "/")
        return path

    def of_caller(self) -> str:
        """ "file:line" of the innermost frame of project or library code; empty: there is none."""
        frame = sys._getframe(1)
        while frame is not None and not self.is_recorded(self.name(frame.f_code.co_filename)):
            frame = frame.f_back
        return f"{self.name(frame.f_code.co_filename)}:{frame.f_lineno}" if frame else ""

    @staticmethod
    def is_recorded(name: str) -> bool:
        """Third-party or project code: not torch, not the standard library, not generated."""
        return not name.startswith(("torch/", "<", "/")) and not os.path.isabs(name)
