"""`torch.compile` as the project calls it: with the backend that counts, and with a note that it was called.

A project that compiles parts of its model itself is run as it is. Compiling the whole of it once more would trace through
those parts, and show nothing of what they do.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Iterable


class OwnCompiles:
    def __init__(self, folders: Iterable[str]):
        self._folders = tuple(os.path.realpath(folder) + os.sep for folder in folders)
        self.called = False  # by the project's own code
        self.backend = None  # of this moment

    def _is_own(self, filename: str) -> bool:
        path = os.path.realpath(filename)
        return path.startswith(self._folders) and f"{os.sep}site-packages{os.sep}" not in path

    def _caller(self) -> str:
        import torch

        torch_folder = os.path.dirname(torch.__file__)
        frame = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename.startswith(torch_folder):
            frame = frame.f_back  # nn.Module.compile
        return frame.f_code.co_filename if frame is not None else ""

    def install(self) -> None:
        import torch

        real = torch.compile

        def compile(model=None, **options):
            self.called |= self._is_own(self._caller())
            if model is None:
                return lambda function: compile(function, **options)
            for name in ("mode", "options"):  # they are for the backend
                options.pop(name, None)
            return real(model, **{**options, "backend": self._dispatch})

        torch.compile = compile
        self.real = real

    def _dispatch(self, graph_module, example_inputs, **ignored):
        return self.backend(graph_module, example_inputs) if self.backend else graph_module.forward
