"""`python tools/record`: loads this folder as the package `fullgraph_record` and hands over to its command line.

Python puts the folder itself on the module path here. It is taken off again: `processes` or `records` must stay free for
modules of the project that is recorded. What watches Dynamo is the probe of `fullgraph validate`, loaded beside it.
"""
import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROBE = HERE.parents[1] / "validator" / "probe"


def load(name: str, folder: pathlib.Path) -> None:
    spec = importlib.util.spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    sys.path[:] = [entry for entry in sys.path if pathlib.Path(entry or ".").resolve() != HERE]
    load("fullgraph_probe", PROBE)
    load("fullgraph_record", HERE)
    from fullgraph_record.command_line import main

    sys.exit(main())
