"""The committed profile against the installed torch: parts of it are generated again and must come out the same.

All of it takes minutes (`./dev profile`); the parts here cover each kind of record and each way a break is found.
"""
from __future__ import annotations

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")


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


# Tensor methods with every kind of outcome, torch functions, a module of the standard library that is skipped, one that
# is inlined, one that is replaced by polyfills, and methods of objects.
@pytest.mark.parametrize("prefix", ["torch.Tensor.i", "torch.un", "torch.is_", "time.", "itertools.", "logging.Logger.w", "copy."])
def test_callables_again(committed, tools, prefix):
    command = [sys.executable, "generate.py", "--only", prefix]
    done = subprocess.run(command, cwd=tools, capture_output=True, text=True, check=True)
    expected = [line for line in of_kind(committed, "callable") if line.split("\t")[1].startswith(prefix)]
    assert expected
    assert done.stdout.splitlines() == expected
