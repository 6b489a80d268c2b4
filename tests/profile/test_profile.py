"""The committed profile against the installed torch: parts of it are generated again and must come out the same.

All of it takes minutes (`./dev profile`); the parts here cover each kind of record and each way a break is found.
"""
from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
import torch._dynamo  # noqa: E402


@pytest.fixture(scope="module")
def tools(root):
    sys.path.insert(0, str(root / "tools" / "profile"))
    yield root / "tools" / "profile"
    sys.path.remove(str(root / "tools" / "profile"))


@pytest.fixture(scope="module")
def committed(root) -> list[str]:
    path = root / "profiles" / f"torch-{torch.__version__.partition('+')[0]}.tsv"
    if not path.exists():
        pytest.skip(f"no profile of torch {torch.__version__} is kept")
    return path.read_text().splitlines()


def of_kind(lines: list[str], kind: str) -> list[str]:
    return [line for line in lines if line.startswith(kind + "\t")]


def test_sorted_and_unique(committed):
    assert committed == sorted(set(committed))


@pytest.mark.parametrize("kind, fields", [("alias", 3), ("break", 4), ("callable", 6), ("config", 3), ("instance", 3), ("module", 2)])
def test_shape_of_records(committed, kind, fields):
    lines = of_kind(committed, kind)
    assert lines
    assert [line for line in lines if line.count("\t") != fields - 1] == []


def test_aliases_lead_to_known_names_in_one_step(committed):
    known = {line.split("\t")[1] for line in of_kind(committed, "callable")}
    aliases = dict(line.split("\t")[1:] for line in of_kind(committed, "alias"))
    assert [name for name in aliases if name in known] == []
    assert [name for name in aliases.values() if name not in known] == []


def test_breaks_are_in_the_registry(committed):
    registry = {line.split("\t")[1] for line in of_kind(committed, "break")}
    used = {line.split("\t")[5] for line in of_kind(committed, "callable")} - {""}
    assert used <= registry


@pytest.mark.parametrize("kind, part", [("break", "breaks"), ("config", "configuration")])
def test_tables_of_dynamo(committed, tools, kind, part):
    code = f"import generate; print('\\n'.join(sorted('\\t'.join(row) for row in generate.{part}())))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tools, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == of_kind(committed, kind)


def visibilities(root) -> dict[str, str]:
    lines = (root / "profiles" / "graph_breaks.tsv").read_text().splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("#"))


def test_every_graph_break_has_a_visibility(committed, root):
    assert set(visibilities(root)) == {line.split("\t")[1] for line in of_kind(committed, "break")}


def test_retired_graph_breaks_are_raised_nowhere(root):
    """`retired` in graph_breaks.tsv: no source of Dynamo names the type. Types with fields are looked for up to the field."""
    sources = "".join(path.read_text() for path in Path(torch._dynamo.__file__).parent.rglob("*.py"))
    plain = re.sub(r"""[\s"'\\]""", "", re.sub(r'"\s*f?"', "", sources))
    words = visibilities(root)
    registry = json.loads(Path(torch._dynamo.__file__).with_name("graph_break_registry.json").read_text())
    missing = set()
    for gb_id, entries in registry.items():  # an id may have had several names
        names = [re.sub(r"""[\s"'\\]""", "", entry["Gb_type"].partition("{")[0]) for entry in entries]
        if not any(name and name in plain for name in names):
            missing.add(gb_id)
    assert missing == {gb_id for gb_id, word in words.items() if word == "retired"}


# Tensor methods with every kind of outcome, torch functions, a module of the standard library that is skipped, one that
# is inlined, one that is replaced by polyfills, and methods of objects.
@pytest.mark.parametrize("prefix", ["torch.Tensor.i", "torch.un", "torch.is_", "time.", "itertools.", "logging.Logger.w", "copy."])
def test_callables_again(committed, tools, prefix):
    command = [sys.executable, "generate.py", "--only", prefix]
    done = subprocess.run(command, cwd=tools, capture_output=True, text=True, check=True)
    expected = [line for line in of_kind(committed, "callable") if line.split("\t")[1].startswith(prefix)]
    assert expected
    assert done.stdout.splitlines() == expected
