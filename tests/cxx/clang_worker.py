"""Where the worker and libtorch are, for the tests of C++ sources."""
from __future__ import annotations

import json
import pathlib
import sysconfig

from conftest import PROGRAM

WORKER = PROGRAM.parent / "fullgraph-clang"
TORCH = pathlib.Path(sysconfig.get_paths()["purelib"]) / "torch"  # of the tests' own environment
ENVIRONMENT = {"VIRTUAL_ENV": str(TORCH.parents[3])}


def make_database(folder, sources, flags) -> None:
    """compile_commands.json as CMake writes it into its build folder."""
    (folder / "build").mkdir(exist_ok=True)
    entries = [{"directory": str(folder / "build"), "file": str(source),
                "command": " ".join(["/usr/bin/c++", *flags, "-o", f"{source.stem}.o", "-c", str(source)])}
               for source in sources]
    (folder / "build" / "compile_commands.json").write_text(json.dumps(entries))
