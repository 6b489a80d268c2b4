"""What is found in recorded graphs, at which line of the author's, in every format that torch 2.13 writes.

The expected findings come from the models (hazards.py) and from what each format keeps of them: a hazard that a format
drops cannot be found in it, and then nothing must be. That the formats keep and drop just this is what the recorder
(make_recordings.py) shows: it runs with the real torch, in the same test run.
"""
from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT, run_fullgraph
from expectations import EXPECTED
from node_counts import in_module, in_text

HERE = pathlib.Path(__file__).resolve().parent
HAZARDS = HERE / "hazards.py"
MARKS = {
    name: number
    for number, line in enumerate(HAZARDS.read_text().splitlines(), 1)
    for name in re.findall(r"# <([\w-]+)>", line)
}

def head_of_forward(name):
    """The line of `def forward` of a class."""
    lines = HAZARDS.read_text().splitlines()
    start = lines.index(f"class {name}(nn.Module):")
    return next(number for number in range(start, len(lines)) if "def forward" in lines[number]) + 1


@pytest.fixture(scope="session")
def recordings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    subprocess.run([sys.executable, HERE / "make_recordings.py", folder], check=True)
    return folder


def test_every_recording_has_expectations(recordings):
    assert {path.name for path in recordings.iterdir() if path.is_file()} == set(EXPECTED)
    assert len(EXPECTED) >= 25


@pytest.mark.parametrize("name", EXPECTED)
def test_findings(recordings, name):
    result = run_fullgraph("check", "--isolated", "--output-format", "json", recordings / name).ok()
    found = []
    for finding in result.findings():
        if finding["code"] == "FG705":
            assert ".script." in name or ".trace." in name
            assert finding["severity"] == "info"
            continue
        if (ROOT / finding["file"]).resolve() == HAZARDS:
            found.append((finding["code"], finding["line"]))
        else:
            assert name in finding["file"], "what has no line of the author's is shown in the recording itself"
            found.append((finding["code"], None))
    expected = [
        (code, mark and (MARKS[mark] if mark in MARKS else head_of_forward(mark))) for code, mark in EXPECTED[name]
    ]
    assert sorted(found, key=str) == sorted(expected, key=str)
    if ".script." in name or ".trace." in name:
        assert [finding["code"] for finding in result.findings()].count("FG705") == 1
    assert result.code == (1 if expected else 0)


def test_blind_spots_are_told(recordings):
    result = run_fullgraph("check", "--isolated", recordings / "Clean.trace.pt").ok()
    assert result.code == 0
    assert "keeps only the operators of one run" in result.stderr


def test_sources_and_a_log_together(recordings, tmp_path):
    """What the log confirms says so and keeps its repair; a static finding that no run reached stays as it is."""
    source = tmp_path / "hazards.py"
    shutil.copy(HAZARDS, source)  # elsewhere than where the run was
    result = run_fullgraph(
        "check", "--isolated", "--output-format", "json", source, recordings / "run.log", cwd=tmp_path
    ).ok()
    by_line = {}
    for finding in result.findings():
        assert finding["file"] == "hazards.py", "a break of the log is in the source that was given"
        by_line.setdefault(finding["line"], []).append((finding["code"], finding.get("evidence")))
    assert by_line[MARKS["item"]] == [("FG402", "confirmed")]
    assert by_line[MARKS["branch"]] == [("FG401", "confirmed")]
    assert by_line[MARKS["print"]] == [("FG501", "confirmed")]
    assert by_line[MARKS["helper"]] == [("FG402", "confirmed")]
    assert by_line[MARKS["nonzero"]] == [("FG403", None)]  # that model did not run
    assert "FG701" not in str(by_line)
    assert "4 found in the sources as well, 0 only at run time" in result.stderr


def test_a_log_alone(recordings, tmp_path):
    """The sources that it names are looked at, and what they have besides is not told."""
    source = tmp_path / "hazards.py"
    shutil.copy(HAZARDS, source)
    log = tmp_path / "run.log"
    log.write_text((recordings / "run.log").read_text().replace(str(HAZARDS), str(source)))
    result = run_fullgraph("check", "--isolated", "--output-format", "json", log, cwd=tmp_path).ok()
    assert {(finding["line"], finding["code"], finding["evidence"]) for finding in result.findings()} == {
        (MARKS["item"], "FG402", "confirmed"), (MARKS["branch"], "FG401", "confirmed"),
        (MARKS["print"], "FG501", "confirmed"), (MARKS["helper"], "FG402", "confirmed"),
    }  # fmt: skip

    # Changed since: what the log says of its lines says nothing of these.
    source.write_text("import torch\n" + source.read_text())
    result = run_fullgraph("check", "--isolated", "--output-format", "json", log, cwd=tmp_path).ok()
    assert {(finding["line"], finding["code"]) for finding in result.findings()} == {
        (MARKS[mark], "FG701") for mark in ("item", "branch", "print", "helper")
    }  # fmt: skip


def test_a_log_brings_the_repair(tmp_path):
    source = tmp_path / "net.py"
    source.write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.layer = torch.nn.Linear(4, 4)\n\n"
        "    def forward(self, x):\n        h = self.layer(x)\n        if self.training:\n"
        "            h.requires_grad = True\n        return h * 2\n"
    )
    record = "V1130 19:26:30.657000 5089 torch/_dynamo/symbolic_convert.py:5124] [1/0] [__graph_breaks] "
    log = tmp_path / "breaks.log"
    log.write_text(f"{record}Graph break in user code at {source}:12\n{record}Graph Break Reason: setattr\n")
    result = run_fullgraph("check", "--isolated", "--fix", "breaks.log", cwd=tmp_path).ok()
    assert result.code == 0 and "torch.compiler.is_compiling()" in source.read_text()


def test_a_break_that_only_the_run_shows(tmp_path):
    log = tmp_path / "breaks.log"
    log.write_text(
        "V1130 19:26:30.657000 5089 torch/_dynamo/symbolic_convert.py:5124] [1/0] [__graph_breaks] "
        "Graph break in user code at /elsewhere/net.py:3\n"
        "V1130 19:26:30.657000 5089 torch/_dynamo/symbolic_convert.py:5124] [1/0] [__graph_breaks] "
        "Graph Break Reason: something that no look at the code shows\n"
    )
    (tmp_path / "net.py").write_text("import torch\n\nx = torch.ones(3)\n")
    result = run_fullgraph("check", "--isolated", "--output-format", "json", "net.py", "breaks.log", cwd=tmp_path).ok()
    [finding] = result.findings()
    assert (finding["code"], finding["file"], finding["line"]) == ("FG701", "net.py", 3)
    assert finding["evidence"] == "run-time"


def test_the_same_finding_once(recordings, tmp_path):
    shutil.copy(HAZARDS, tmp_path / "hazards.py")
    alone = run_fullgraph("check", "--isolated", "--output-format", "json", "hazards.py", cwd=tmp_path).ok()
    both = run_fullgraph(
        "check", "--isolated", "--output-format", "json", "hazards.py", recordings / "Reads.export.pt2", cwd=tmp_path
    ).ok()
    key = lambda finding: (finding["file"], finding["line"], finding["code"])  # noqa: E731
    assert sorted(map(key, both.findings())) == sorted(map(key, alone.findings()))
    [reads] = [finding for finding in both.findings() if finding["line"] == MARKS["item"]]
    assert any("Reads.export.pt2" in related["message"] for related in reads["related"])


def test_a_comment_in_the_source_suppresses_it(recordings, tmp_path):
    text = HAZARDS.read_text().replace("# <nonzero>", "# <nonzero>  # fullgraph: ignore[FG403] few rows")
    (tmp_path / "hazards.py").write_text(text)
    # The line reads otherwise now: it is another source than the recorded one.
    other = run_fullgraph(
        "check", "--isolated", "--select", "FG403", "--output-format", "json", "hazards.py",
        recordings / "FindsNonzero.export.pt2", cwd=tmp_path,
    ).ok()  # fmt: skip
    assert MARKS["nonzero"] in {finding["line"] for finding in other.findings()}


def test_select_and_ignore(recordings):
    for options in (["--select", "FG4"], ["--ignore", "FG702"]):
        result = run_fullgraph("check", "--isolated", *options, recordings / "Checkpoints.export.pt2").ok()
        assert result.code == 0


def test_text_of_an_exported_program(recordings):
    """Node for node what torch itself loads from the archive."""
    torch = pytest.importorskip("torch")
    for path in sorted(recordings.glob("*.export.pt2")):
        program = torch.export.load(path)
        text = run_fullgraph("dump", "--text", path).ok().stdout
        assert in_text(text) == in_module(program.graph_module), path.name


def test_json_is_kept_apart_from_notes(recordings):
    result = run_fullgraph("check", "--isolated", "--output-format", "json", recordings / "Clean.weights.pt").ok()
    assert json.loads(result.stdout)["findings"] == []
    assert "holds tensors and no model" in result.stderr
