"""What the marks of the C++ fixtures say is found there, and nothing else."""
from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess

import pytest
from conftest import ROOT, run_fullgraph
from clang_worker import ENVIRONMENT, TORCH, make_database

FOLDER = ROOT / "fixtures" / "cxx"
FIXTURES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".cpp", ".cu"))
PROJECT = FOLDER / "project"
MARK = re.compile(r"//.*\bexpect:((?: FG\d{3})+)")


def marks(path) -> set[tuple[int, str]]:
    """(line, code) of each mark."""
    out = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if found := MARK.search(line):
            out |= {(number, code) for code in found.group(1).split()}
    return out


@functools.cache
def look():
    """All fixtures in one run, which is how a project is linted."""
    return run_fullgraph("check", "--isolated", "--output-format", "json", *FIXTURES, env=ENVIRONMENT, timeout=1200).ok()


def found(result, path) -> set[tuple[int, str]]:
    shown = str(path.relative_to(ROOT))
    return {(one["line"], one["code"]) for one in result.findings() if one["file"] == shown}


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_fixture(path):
    assert found(look(), path) == marks(path)


def test_both_kinds_of_fixtures():
    with_findings = [path for path in FIXTURES if marks(path)]
    assert len(FIXTURES) >= 40 and len(with_findings) >= 20 and len(FIXTURES) - len(with_findings) >= 18


def test_fixtures_compile():
    """Against the real libtorch, with the same Clang: nothing was read in part."""
    assert "in part" not in look().stderr
    assert not [one for one in look().findings() if one["code"] == "FG902"]


def test_messages_quote_the_source():
    (copy,) = [one for one in look().findings() if one["file"].endswith("host_copy.cpp") and one["line"] == 7]
    assert "`x.to(torch::kCPU)`" in copy["message"]
    assert copy["function"] == "StatsImpl::forward"
    assert (FOLDER / "host_copy.cpp").read_text().splitlines()[6][copy["column"] - 1 :].startswith("x.to")


def test_suppressed_are_counted():
    assert "4 suppressed" in run_fullgraph("check", "--isolated", FOLDER / "suppressed.cpp", env=ENVIRONMENT).stdout


def test_unused_suppression(tmp_path):
    source = tmp_path / "idle.cpp"
    source.write_text("int f() { return 1; }  // fullgraph: ignore[FG601] for nothing\n")
    (finding,) = run_fullgraph("check", "--isolated", "--output-format", "json", source, env=ENVIRONMENT).findings()
    assert (finding["code"], finding["line"], finding["fixes"]) == ("FG901", 1, [])


def test_project(tmp_path):
    """Include folders and macros come from compile_commands.json; the header that both sources include is told once."""
    project = tmp_path / "project"
    shutil.copytree(PROJECT, project)
    make_database(project, [project / "src" / "denoiser.cpp", project / "src" / "main.cpp"],
                  ["-I", str(project / "include"), "-DDENOISER_LEVELS=3", "-O3", "-fPIC", "-std=gnu++20",
                   "-I", f"{TORCH}/include", "-I", f"{TORCH}/include/torch/csrc/api/include"])
    result = run_fullgraph("check", "--isolated", "--output-format", "json", *sorted((project / "src").iterdir()),
                           project / "include" / "denoiser" / "denoiser.h", cwd=project, env=ENVIRONMENT).ok()
    seen = sorted((one["file"], one["line"], one["code"]) for one in result.findings())
    expected = sorted((str(path.relative_to(project)), line, code)
                      for path in project.rglob("*") if path.suffix in (".cpp", ".h") for line, code in marks(path))
    assert seen == expected and len(expected) == 2


def test_folders(tmp_path):
    """In a folder, sources that have to do with libtorch are looked at, and headers with them; nothing else of C++ is."""
    project = tmp_path / "project"
    shutil.copytree(PROJECT, project)
    (project / "src" / "other.cpp").write_text("#include <not/there.h>\nint f() { return 1; }\n")
    make_database(project, [project / "src" / "denoiser.cpp", project / "src" / "main.cpp"],
                  ["-I", str(project / "include"), "-DDENOISER_LEVELS=3", f"-I{TORCH}/include",
                   f"-I{TORCH}/include/torch/csrc/api/include"])
    shown = run_fullgraph("check", "--isolated", "--show-files", ".", cwd=project).stdout.split()
    assert shown == ["src/denoiser.cpp", "src/main.cpp"]
    found = run_fullgraph("check", "--isolated", "--output-format", "json", ".", cwd=project).ok().findings()
    assert sorted((one["file"], one["line"], one["code"]) for one in found) == sorted(
        (str(path.relative_to(project)), line, code)
        for path in project.rglob("*") if path.suffix in (".cpp", ".h") for line, code in marks(path))


def test_folder_without_libtorch(tmp_path):
    """Nothing is certain of a source whose headers are not there: no finding, and the run says what it left out."""
    (tmp_path / "net.cpp").write_text((FOLDER / "host_copy.cpp").read_text())
    left_out = {"VIRTUAL_ENV": "", "PATH": "/usr/bin:/bin"}
    folder = run_fullgraph("check", "--isolated", ".", cwd=tmp_path, env=left_out)
    assert folder.code == 0 and "left out: no libtorch was found" in folder.stderr
    given = run_fullgraph("check", "--isolated", "net.cpp", cwd=tmp_path, env=left_out)
    assert given.code == 2 and "net.cpp: is not looked at: no libtorch was found" in given.stderr


def test_given_commands(tmp_path):
    """-p names a folder, --extra-arg adds to the command."""
    source = tmp_path / "net.cpp"
    source.write_text("#include <torch/torch.h>\nstruct NetImpl : torch::nn::Module {\n  torch::Tensor forward(torch::Tensor x) {\n"
                      "#ifdef ON_HOST\n    x = x.cpu();\n#endif\n    return x;\n  }\n};\n")

    def lines(*arguments):
        return [one["line"] for one in run_fullgraph("check", "--isolated", "--output-format", "json", *arguments, source,
                                                     env=ENVIRONMENT).ok().findings()]

    assert lines() == [] and lines("--extra-arg", "-DON_HOST") == [5]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    make_database(elsewhere, [source], ["-DON_HOST"])
    assert lines("-p", elsewhere / "build") == [5]
    wrong = run_fullgraph("check", "--isolated", "-p", tmp_path, source, env=ENVIRONMENT)
    assert wrong.code == 2 and "no compile_commands.json in" in wrong.stderr


def test_text_of_a_source():
    text = run_fullgraph("dump", "--text", FOLDER / "scalar_read.cpp", env=ENVIRONMENT).stdout
    assert "largest = x.abs().max().item()" in text


def test_headers_of_libtorch():
    """torch's own modules lint without a crash, and nothing is found in their constructors."""
    modules = sorted((TORCH / "include/torch/csrc/api/include/torch/nn/modules").glob("*.h"))
    result = run_fullgraph("check", "--isolated", "--select", "FG1,FG2,FG4,FG5,FG6", "--output-format", "json", *modules,
                           env=ENVIRONMENT, timeout=600).ok()
    assert len(modules) > 10 and result.findings() == []


def test_errors(tmp_path):
    """What does not compile is told as Clang does, and the rest is looked at."""
    source = tmp_path / "broken.cpp"
    source.write_text("#include <torch/torch.h>\n#include <not/there.h>\n"
                      "struct NetImpl : torch::nn::Module {\n"
                      "  torch::Tensor forward(torch::Tensor x) {\n    auto y = missing(x);\n    return x.cpu();\n  }\n};\n")
    result = run_fullgraph("check", "--isolated", "--output-format", "json", source, env=ENVIRONMENT).ok()
    assert [(one["line"], one["code"]) for one in result.findings()] == [(2, "FG902"), (5, "FG902"), (6, "FG601")]
    assert "'not/there.h' file not found" in result.findings()[0]["message"]
    assert "was read in part: Clang reports 2 errors" in result.stderr


def test_missing_worker(tmp_path):
    """It costs the C++ files only, and the message says how to get it."""
    program = tmp_path / "fullgraph"
    shutil.copy(run_fullgraph("--version").command[0], program)
    python = tmp_path / "net.py"
    python.write_text("import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x.sum().item()\n")
    done = subprocess.run([program, "check", "--isolated", "--output-format", "json", python, FOLDER / "host_copy.cpp"],
                          capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}, timeout=60)
    assert done.returncode == 2
    assert "fullgraph-clang" in done.stderr and "libclang-19-dev" in done.stderr
    assert [one["code"] for one in json.loads(done.stdout)["findings"]] == ["FG402"]
