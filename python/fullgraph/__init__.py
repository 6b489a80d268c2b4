"""Where the program is: `fullgraph` is written in C++, and this package only carries it."""
from __future__ import annotations

import os
import pathlib
import sysconfig


def program() -> str:
    """The path of the program that belongs to this package.

    Raises FileNotFoundError when it is not there, as after a copy of the package alone.
    """
    name = "fullgraph"
    schemes = ["", f"{os.name}_user"]
    folders = [sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts") for scheme in schemes]
    # `pip install --target FOLDER` puts both side by side.
    folders.append(str(pathlib.Path(__file__).resolve().parent.parent / "bin"))
    for folder in folders:
        path = pathlib.Path(folder) / name
        if path.is_file():
            return str(path)
    raise FileNotFoundError(f"there is no {name} in {', '.join(folders)}: install the package `fullgraph` again")
