"""`python FOLDER REQUEST`: loads this folder as the package `fullgraph_probe` and hands over to its worker.

Python puts the folder itself on the module path here. It is taken off again: `lines` or `cases` must stay free for
modules of the project.
"""
import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def load(name: str, folder: pathlib.Path) -> None:
    spec = importlib.util.spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    sys.path[:] = [entry for entry in sys.path if pathlib.Path(entry or ".").resolve() != HERE]
    load("fullgraph_probe", HERE)
    from fullgraph_probe.worker import main

    main(sys.argv[1])
