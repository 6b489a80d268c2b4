"""The Python package and the hooks, installed as people install them. The program is not built again for that."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
from conftest import PROGRAM, ROOT

MODEL = """import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        print(x)
        return x * 2
"""
# What pip must not be told by the surroundings, and what git must not take from the person's configuration.
ENVIRONMENT = {**os.environ, "XDG_CONFIG_HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null",
               "GIT_CONFIG_SYSTEM": "/dev/null", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_COLOR": "1"}
PREBUILT = f"cmake.define.FULLGRAPH_PREBUILT={PROGRAM}"


def run(*command, code=0, **options):
    done = subprocess.run(list(map(str, command)), text=True, capture_output=True, timeout=600,
                          **{"env": ENVIRONMENT, **options})
    assert done.returncode == code, f"{done.args}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The repository as it is checked out: what git knows of and ignores is no part of it."""
    folder = tmp_path_factory.mktemp("sources") / "fullgraph"
    ignored = shutil.ignore_patterns(".git", "build*", "node_modules", "__pycache__", "_skbuild", "site")
    shutil.copytree(ROOT, folder, ignore=ignored, symlinks=True)
    return folder


@pytest.fixture(scope="module")
def wheel(sources, tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", out, "-C", PREBUILT, sources)
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def venv(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "python", "-m", "pip", "install", "-q", "--no-index", wheel)
    return folder


def test_program_of_the_wheel(venv, tmp_path):
    """It is the same program, finds its libraries by itself, and python -m fullgraph passes arguments and status on."""
    (tmp_path / "model.py").write_text(MODEL)
    clean = {"PATH": "/usr/bin:/bin", "NO_COLOR": "1"}
    version = run(venv / "bin" / "fullgraph", "--version", env=clean).stdout
    assert version == run(PROGRAM, "--version").stdout
    for command in ([venv / "bin" / "fullgraph"], [venv / "bin" / "python", "-m", "fullgraph"]):
        done = run(*command, "check", "--output-format", "concise", "model.py", code=1, cwd=tmp_path, env=clean)
        assert re.findall(r"^model\.py:(\d+):\d+: (FG\d+)", done.stdout, re.MULTILINE) == [("7", "FG501")]
    run(venv / "bin" / "python", "-m", "fullgraph", "check", "not-there.py", code=2, cwd=tmp_path, env=clean)


def test_libraries_of_the_wheel(wheel):
    """Besides what every Linux has (the manylinux policies), nothing from the system is needed."""
    shown = run(sys.executable, "-m", "auditwheel", "show", wheel).stdout
    assert 'platform tag: "manylinux_' in " ".join(shown.split()), shown
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "fullgraph/__main__.py" in names and any(name.endswith("scripts/fullgraph") for name in names)
    assert not [name for name in names if name.endswith((".h", ".cpp", ".a", ".md"))]
    assert wheel.name.split("-", 2)[2].startswith("py3-none-")


def test_source_archive(sources, tmp_path):
    """It holds what a build needs, and a wheel can be made from it."""
    run(sys.executable, "-m", "build", "-q", "--sdist", "--no-isolation", "-o", tmp_path, sources)
    (made,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    run("cmake", "-S", folder, "-B", tmp_path / "build", "-G", "Ninja", "-DFULLGRAPH_TESTS=OFF", "-DFULLGRAPH_WORKERS=OFF",
        "-DFULLGRAPH_BUNDLE=ON")
    # Every source that the build names is there: ninja looks for them before it begins.
    run("ninja", "-C", tmp_path / "build", "-n", "fullgraph")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path / "out", "-C",
        PREBUILT, folder)


@pytest.fixture(scope="module")
def hooks(sources, tmp_path_factory):
    """A clone to take the hooks from, and a repository with a commit that uses them."""
    clone = sources
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]
    run(*git, "init", "-q", cwd=clone)
    run(*git, "add", "-A", cwd=clone)
    run(*git, "commit", "-q", "-m", "sources", cwd=clone)
    revision = run(*git, "rev-parse", "HEAD", cwd=clone).stdout.strip()
    project = tmp_path_factory.mktemp("project")
    run(*git, "init", "-q", cwd=project)
    environment = {**ENVIRONMENT, "PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("pre-commit")),
                   "SKBUILD_CMAKE_DEFINE": f"FULLGRAPH_PREBUILT={PROGRAM}"}

    def commit(hook, code):
        (project / ".pre-commit-config.yaml").write_text(
            f"repos:\n- repo: {clone}\n  rev: {revision}\n  hooks:\n  - id: {hook}\n")
        run(*git, "add", "-A", cwd=project)
        return run(sys.executable, "-m", "pre_commit", "run", "--color", "never", code=code, cwd=project, env=environment)

    return project, commit


def test_hooks(hooks):
    """The real pre-commit, in a repository of its own: a finding fails the commit, a repair too, then it passes."""
    project, commit = hooks
    (project / "clean.py").write_text("import torch\n")
    assert "Passed" in commit("fullgraph", 0).stdout
    (project / "model.py").write_text(MODEL)
    assert re.search(r"model\.py:7:9\b.*FG501|FG501.*\n.*model\.py:7:9", commit("fullgraph", 1).stdout)
    repaired = commit("fullgraph-fix", 1).stdout
    assert "files were modified by this hook" in repaired
    assert "is_compiling" in (project / "model.py").read_text()
    assert "Passed" in commit("fullgraph-fix", 0).stdout


def test_hook_leaves_out_what_is_excluded(hooks):
    project, commit = hooks
    (project / "model.py").unlink()
    (project / "pyproject.toml").write_text('[tool.fullgraph]\nextend-exclude = ["legacy"]\n')
    (project / "legacy").mkdir()
    (project / "legacy" / "model.py").write_text(MODEL)
    assert "Passed" in commit("fullgraph", 0).stdout
