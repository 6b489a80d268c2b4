"""The readers of recorded graphs, called without the rest of the program, and what Python itself finds in the same files."""
from __future__ import annotations

import functools
import importlib
import io
import json
import os
import pathlib
import pickle
import resource
import subprocess
import sys
import types
import zipfile
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
MEMORY = 2 << 30  # no input makes a reader need more than this


@dataclass
class Read:
    code: int
    message: str
    data: dict

    @property
    def texts(self) -> dict[str, dict]:
        return {text["module"]: text for text in self.data["texts"]}

    def load(self) -> str:
        """The text that makes the recorded object."""
        return self.texts["__archive__"]["text"]


@functools.cache
def program() -> pathlib.Path:
    """tests/graphs/graph_texts.cpp, built as it stands now."""
    if given := os.environ.get("GRAPH_TEXTS_BIN"):
        return pathlib.Path(given)
    assert (BUILD / "build.ninja").is_file(), f"{BUILD} is missing: run the tests through ./dev test"
    subprocess.run(["ninja", "-C", str(BUILD), "graph_texts"], check=True, stdout=subprocess.DEVNULL, timeout=1800)
    return BUILD / "bin" / "graph_texts"


def read(path, timeout: float = 60) -> Read:
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))  # noqa: E731
    done = subprocess.run([str(program()), str(path)], capture_output=True, timeout=timeout, preexec_fn=limit)
    assert done.returncode in (0, 2), f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}"
    return Read(done.returncode, done.stderr.decode(), json.loads(done.stdout))


def refused(path, *parts: str, timeout: float = 60) -> Read:
    """The file must be refused in one line that says what is wrong."""
    result = read(path, timeout)
    assert result.code == 2, "the file was read"
    assert result.message.count("\n") == 1 and result.message.rstrip("\n").isprintable()
    for part in parts:
        assert part in result.message, result.message
    return result


def member(path, ending: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(ending)]
        assert len(names) == 1, names
        return archive.read(names[0])


class _NumbersOnly(pickle.Unpickler):
    """Source maps hold tuples, strings, numbers and lists of numbers."""

    def find_class(self, module, name):
        assert (module, name) == ("torch.jit._pickle", "build_intlist")
        return list


@dataclass
class Row:
    offset: int
    text: str
    file: str | None
    first_line: int
    start: int

    @property
    def place(self) -> tuple[str, int, int, str]:
        """File, line, column in characters from 1, and the line."""
        before = self.text.encode()[: self.start].decode()
        line = self.text.split("\n")[before.count("\n")]
        return self.file, self.first_line + before.count("\n"), len(before) - before.rfind("\n"), line


def rows_of(raw: bytes) -> list[Row]:
    """A source map as torch 2.13 writes it, decoded by Python's own pickle module."""
    tag, table, rows = _NumbersOnly(io.BytesIO(raw)).load()
    assert tag == "FORMAT_WITH_STRING_TABLE"
    return [Row(offset, "".join(table[line] for line in lines), table[file] or None, first, start)
            for offset, ((lines, file, first), start, _), _ in rows]


def origin_at(text: dict, offset: int) -> dict | None:
    found = None
    for start, origin in text["map"]:
        if start > offset:
            break
        found = origin
    return found


def executed(text: str, modules: dict) -> object:
    """What the text of `__archive__` makes, executed by Python. `modules` stand for those that cannot be imported."""
    from torch import nn

    def new(cls):
        made = object.__new__(cls)
        if isinstance(made, nn.Module):
            nn.Module.__init__(made)  # without which nothing can be assigned
        return made

    names = {"object": types.SimpleNamespace(__new__=new), **modules}
    imports, body = text.split("\n\n\n", 1)
    for line in imports.splitlines():
        name = line.split()[1]
        if name.split(".")[0] not in names:
            importlib.import_module(name)
            names[name.split(".")[0]] = sys.modules[name.split(".")[0]]
    exec(compile(body, "load", "exec"), names)
    return names["load"]()
