"""Real models: exported and traced ones are read whole and fast, whatever their weights weigh, and logs of runs are
matched with the sources."""
from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import time
import zipfile

import pytest
from conftest import ROOT, run_fullgraph, transformers_sources
from node_counts import in_text

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 1.0  # for each archive; a run has the machine for itself only now and then, so the best of three counts


def record(*arguments, **environment):
    sources = transformers_sources("5.24.0").parent
    done = subprocess.run(
        [sys.executable, HERE / "record_transformers.py", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(sources), **environment}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    folder = tmp_path_factory.mktemp("transformers")
    record("export", folder)
    return folder


def seconds(*arguments):
    best = None
    for _ in range(3):
        begin = time.perf_counter()
        result = run_fullgraph(*arguments).ok()
        took = time.perf_counter() - begin
        best = took if best is None else min(best, took)
    return best, result


def test_exported_models(archives):
    nodes = json.loads((archives / "nodes.json").read_text())
    assert len(nodes) >= 10
    for model_type, count in nodes.items():
        path = archives / f"{model_type}.pt2"
        assert in_text(run_fullgraph("dump", "--text", path).ok().stdout) == count, model_type
        took, result = seconds("check", "--isolated", "--output-format", "json", path)
        assert took < SECONDS, f"{model_type}: {took:.2f} s"
        assert result.findings() == [], "all of these models are known to compile as one graph"


def test_traced_models(archives):
    paths = sorted(archives.glob("*.trace.pt"))
    assert len(paths) >= 5
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            code = [name for name in archive.namelist() if "/code/" in name and name.endswith(".py")]
            functions = sum(archive.read(name).decode().count("  def ") for name in code)
        assert run_fullgraph("dump", "--text", path).ok().stdout.count("  def ") >= functions
        took, result = seconds("check", "--isolated", "--output-format", "json", path)
        assert took < SECONDS, f"{path.name}: {took:.2f} s"
        codes = {finding["code"] for finding in result.findings()}
        assert "FG705" in codes
        assert codes <= {"FG705", "FG706"}, "recorded in eval mode, on the CPU"


def test_weights_are_never_read(archives, tmp_path):
    """The same archive with two gigabytes of weights more."""
    large = tmp_path / "large.pt2"
    with zipfile.ZipFile(archives / "bert.pt2") as small, zipfile.ZipFile(large, "w") as archive:
        for name in small.namelist():
            archive.writestr(name, small.read(name))
        top = small.namelist()[0].split("/")[0]
        with archive.open(f"{top}/data/weights/weight_9999", "w", force_zip64=True) as weights:
            piece = bytes(64 << 20)
            for _ in range(33):
                weights.write(piece)
    assert large.stat().st_size > 2 << 30
    small_took, _ = seconds("check", "--isolated", archives / "bert.pt2")
    large_took, _ = seconds("check", "--isolated", large)
    assert large_took < small_took + 0.2


@pytest.mark.parametrize(
    "model_type, mode", [("wav2vec2", "train"), ("switch_transformers", "train"), ("longformer", "eval")]
)
def test_log_of_a_run(tmp_path, model_type, mode):
    """Every line of the log where the graph broke is the line of a finding that a run confirms, or of one that says
    that the run alone shows it."""
    text = record("run", model_type, mode, TORCH_LOGS="graph_breaks")
    log = tmp_path / "breaks.log"
    log.write_text(text)
    logged = {
        (path, int(line))
        for path, line in re.findall(r"Graph break (?:\([^)]*\) )?in user code at (\S+?):(\d+)$", text, re.M)
    }
    assert len(logged) >= 2, "the run broke, or the test shows nothing"
    package = transformers_sources("5.24.0")
    result = run_fullgraph("check", "--isolated", "--roots", "modules", "--output-format", "json",
                           package / "models" / model_type, package / "utils", log, timeout=300).ok()  # fmt: skip
    seen = [finding for finding in result.findings() if finding.get("evidence")]
    for path, line in logged:
        assert any(
            (ROOT / finding["file"]).resolve() == pathlib.Path(path).resolve()
            and finding["line"] <= line <= finding["end_line"]
            for finding in seen
        ), f"{path}:{line}"
    assert {finding["evidence"] for finding in seen} <= {"confirmed", "run-time"}
    assert sum(finding["evidence"] == "confirmed" for finding in seen) >= 2, "what these models are known for"
    for finding in seen:
        assert (finding["code"] == "FG701") == (finding["evidence"] == "run-time")
