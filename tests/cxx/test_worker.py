"""The text that stands for a source, and what it costs to get it."""
from __future__ import annotations

import json
import resource
import subprocess

import pytest
from conftest import ROOT
from clang_worker import TORCH, WORKER

FOLDER = ROOT / "fixtures" / "cxx"
SOURCES = sorted(FOLDER.glob("*.cpp"))


def run_worker(path, *arguments, cache) -> str:
    command = [WORKER, "--torch", TORCH, *(["--cache", cache] if cache else []), *arguments, path]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_text_is_python(path, cache):
    document = json.loads(run_worker(path, cache=cache))
    compile(document["text"], path.name, "exec")
    assert document["parsed"] and document["precompiled"] and document["errors"] == []


def test_places(cache):
    """Each span of the text names the bytes that it stands for."""
    path = FOLDER / "scalar_read.cpp"
    document = json.loads(run_worker(path, cache=cache))
    text, lines = document["text"], path.read_text().splitlines()
    pairs = {text[begin:end]: lines[line - 1][column - 1 : column - 1 + length]
             for begin, end, file, line, column, length, _ in document["spans"] if document["files"][file] == str(path)}
    assert pairs["x.abs().max().item()"] == "x.abs().max().item<float>()"
    assert pairs["largest = x.abs().max().item()"] == "const float largest = x.abs().max().item<float>()"
    assert pairs["forward"] == "forward"


def test_warm_is_fast(cache):
    """With the precompiled header there, a file that includes all of libtorch costs less than a second of CPU."""
    path = FOLDER / "containers.cpp"
    run_worker(path, cache=cache)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run_worker(path, cache=cache)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime) < 1.5  # 0.6 where nothing else runs


def test_spoilt_precompiled_header_is_made_again(cache):
    path = FOLDER / "host_copy.cpp"
    wanted = run_worker(path, "--text", cache=cache)
    (header,) = (cache / "clang").glob("*.pch")
    header.write_bytes(header.read_bytes()[:100_000])
    assert run_worker(path, "--text", cache=cache) == wanted
    assert header.stat().st_size > 1_000_000
    assert json.loads(run_worker(path, cache=cache))["precompiled"]
