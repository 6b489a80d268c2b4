"""`python tools/record`: loads this folder as the package `fullgraph_record` and hands over to its command line.

Python puts the folder itself on the module path here. It is taken off again: `lines` or `cases` must stay free for
modules of the project that is recorded.
"""
import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent

if __name__ == "__main__":
    sys.path[:] = [entry for entry in sys.path if pathlib.Path(entry or ".").resolve() != HERE]
    spec = importlib.util.spec_from_file_location(
        "fullgraph_record", HERE / "__init__.py", submodule_search_locations=[str(HERE)])
    package = importlib.util.module_from_spec(spec)
    sys.modules["fullgraph_record"] = package
    spec.loader.exec_module(package)
    from fullgraph_record.command_line import main

    sys.exit(main())
