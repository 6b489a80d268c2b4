"""Operators and functions in C++, joined with the Python that calls them: what is found, and what Dynamo says of it."""
from __future__ import annotations

import re
import subprocess
import sys
import sysconfig

import pytest
from clang_worker import ENVIRONMENT, TORCH
from conftest import ROOT, run_fullgraph

FOLDER = ROOT / "fixtures" / "cxx" / "extension"
MARK = re.compile(r"(?://|#) expect: (FG\d{3})")

# Runs each model in model.py under Dynamo, which logs its breaks.
DYNAMO = """
import sys
import torch
sys.path[:0] = sys.argv[1:3]
import scaling_extension, model
torch._logging.set_logs(graph_breaks=True)
for make in (model.Operators, model.Functions, model.Prepared):
    torch._dynamo.reset()
    torch.compile(make(), backend="eager")(torch.ones(4))
"""
BREAK = re.compile(r"Graph break in user code at \S*model\.py:(\d+)\n.*?gb/gb(\d{4})\.html", re.DOTALL)


def marks() -> set[tuple[str, int, str]]:
    return {(path.name, number, code)
            for path in FOLDER.iterdir() for number, line in enumerate(path.read_text().splitlines(), 1)
            for code in MARK.findall(line)}


def check(*arguments, cwd=FOLDER):
    result = run_fullgraph("check", "--isolated", "--output-format", "json", *arguments, cwd=cwd, env=ENVIRONMENT,
                           timeout=600).ok()
    return {(one["file"], one["line"], one["code"]) for one in result.findings()}, result


def test_both_sides():
    found, result = check(".", "ops.cpp")
    assert found == marks() and len(found) == 4
    (plain,) = [one for one in result.findings() if one["code"] == "FG500"]
    assert [(place["file"], place["line"]) for place in plain["related"]] == [("ops.cpp", 8)]


@pytest.mark.parametrize("given", ["ops.cpp", "model.py"])
def test_one_side_alone_says_nothing(given):
    """Python may have what C++ lacks, and the other way round."""
    assert check(given)[0] == set()


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        ('@torch.library.register_fake("scaling::plain")\ndef _(x):\n    return torch.empty_like(x)\n', {"FG500", "FG614"}),
        ("torch.library.register_fake(torch.ops.scaling.plain.default, torch.empty_like)\n", {"FG500", "FG614"}),
        ("for name in ('plain',):\n    torch.library.register_fake(f'scaling::{name}', torch.empty_like)\n", {"FG500", "FG614"}),
        ("for f in (scaling_extension.scaled, scaling_extension.shifted):\n    torch.compiler.allow_in_graph(f)\n"
         "torch.compiler.allow_in_graph(scaling_extension.scaled)\ntorch.compiler.allow_in_graph(scaling_extension.shifted)\n",
         {"FG503"}),
    ],
)  # fmt: skip
def test_what_python_says_of_it(tmp_path, said, gone):
    for path in FOLDER.iterdir():
        (tmp_path / path.name).write_text(path.read_text())
    (tmp_path / "more.py").write_text(f"import torch\nimport scaling_extension\n\n{said}")
    found, _ = check(".", "ops.cpp", cwd=tmp_path)
    assert found == {one for one in marks() if one[2] not in gone}


# What FG402 says of an operator's kernel that is traced, and FG620 of a kernel for a device.
KERNELS = """
import sys
import torch
sys.path.insert(0, sys.argv[1])
import scaling_extension
try:
    torch.compile(lambda x: torch.ops.kernels.halves(x), backend="eager", fullgraph=True)(torch.ones(4))
except torch._dynamo.exc.UserError as error:
    print("halves", "data-dependent" in str(error))
for name in ("twice", "composed"):
    operator = getattr(torch.ops.hidden_autograd, name)
    for function in (lambda x: operator(x) * 3, torch.compile(lambda x: operator(x) * 3, backend="aot_eager")):
        x = torch.ones(2, requires_grad=True)
        function(x).sum().backward()
        print(name, None if x.grad is None else x.grad.tolist())
    torch._dynamo.reset()
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The folder of the real library, built as its setup.py says, with two of the fixtures beside it."""
    out = tmp_path_factory.mktemp("library")
    python = sysconfig.get_paths()["include"]
    flags = ["-std=c++20", "-O0", "-w", "-shared", "-fPIC", "-DTORCH_EXTENSION_NAME=scaling_extension"]
    for folder in (f"{TORCH}/include", f"{TORCH}/include/torch/csrc/api/include", python):
        flags += ["-isystem", folder]
    for fixture in ("kernels", "hidden_autograd"):
        flags += ["-include", ROOT / "fixtures" / "cxx" / f"{fixture}.cpp"]
    libraries = [f"-L{TORCH}/lib", f"-Wl,-rpath,{TORCH}/lib", "-ltorch", "-ltorch_cpu", "-ltorch_python", "-lc10"]
    subprocess.run(["g++", *flags, FOLDER / "ops.cpp", "-o", out / "scaling_extension.so", *libraries], check=True,
                   timeout=600)
    return out


def test_dynamo_breaks_there(library):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", DYNAMO, library, FOLDER], check=True, text=True,
                          capture_output=True, timeout=300)
    breaks = {(int(line), number) for line, number in BREAK.findall(done.stderr)}
    ids = {"FG500": "0090", "FG503": "0007"}
    assert breaks == {(line, ids[code]) for file, line, code in marks() if file == "model.py"}


def test_kernels(library):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", KERNELS, library], check=True, text=True,
                          capture_output=True, timeout=300)
    assert done.stdout.splitlines() == ["halves True", "twice [6.0, 6.0]", "twice None", "composed [6.0, 6.0]",
                                        "composed [6.0, 6.0]"]
