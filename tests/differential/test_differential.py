"""The real Dynamo decides. Marks, Dynamo's breaks and the linter's findings are compared in pairs: `oracle.py` compares
marks with Dynamo, `tests/rules` and `score.py` compare marks with findings. All three agree when both pairs do."""
from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import ROOT
from programs import CORPUS, RULE_CASES, THRESHOLDS, name_of

HERE = pathlib.Path(__file__).parent
RECORDED_WITH = (3, 11)


def run(*command):
    return subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, cwd=ROOT)


def ask_dynamo(paths, report):
    done = run(HERE / "oracle.py", "--jobs", os.cpu_count() or 1, "--json", report, *paths)
    assert report.exists(), done.stderr[-3000:]
    return json.loads(report.read_text())


@pytest.fixture(scope="module")
def dynamo(tmp_path_factory):
    """What Dynamo said about every case, by name; one run for all, since starting torch costs more than a case."""
    report = tmp_path_factory.mktemp("dynamo") / "observed.json"
    results = ask_dynamo([*RULE_CASES, *CORPUS], report)
    assert len(results) == len(RULE_CASES) + len(CORPUS)
    return dict(zip(map(name_of, [*RULE_CASES, *CORPUS]), results))


@pytest.mark.parametrize("path", [*RULE_CASES, *CORPUS], ids=name_of)
def test_dynamo_agrees_with_the_marks(path, dynamo):
    problems = "\n".join(dynamo[name_of(path)]["problems"])
    if problems and path in CORPUS and sys.version_info[:2] != RECORDED_WITH:
        pytest.skip(f"the corpus was recorded with another Python, whose bytecode differs: {problems}")
    assert not problems


def test_the_corpus_is_whole():
    assert len(CORPUS) == 421


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    report = tmp_path_factory.mktemp("score") / "score.json"
    program = os.environ.get("FULLGRAPH_BIN", ROOT / "build" / "bin" / "fullgraph")
    done = run(HERE / "score.py", "--bin", program, "--json", report, "--list", ROOT / "fixtures" / "cases")
    assert report.exists(), done.stderr[-3000:]
    print(done.stdout)
    table = {}
    for row in json.loads(report.read_text()):
        folder = pathlib.Path(row["case"]).parent.name
        cases, agreeing, errors = table.get(folder, (0, 0, 0))
        table[folder] = (cases + 1, agreeing + (not (row["missed"] or row["false"] or row["error"])),
                         errors + bool(row["error"]))
    return table


@pytest.mark.parametrize("folder", THRESHOLDS)
def test_findings_agree_with_the_corpus(folder, scores):
    """thresholds.json holds what was reached; a lower number than it fails."""
    cases, agreeing, errors = scores[folder]
    print(f"{folder}: {agreeing} of {cases} cases agree ({agreeing / cases:.1%})")
    assert errors == 0, f"{errors} cases made the linter fail"
    assert agreeing / cases >= THRESHOLDS[folder], f"{agreeing} of {cases} cases agree"


def test_reports_are_judged_without_failure(tmp_path):
    """The inputs from public reports: scored for information, but none may crash the linter."""
    report = tmp_path / "reports.json"
    program = os.environ.get("FULLGRAPH_BIN", ROOT / "build" / "bin" / "fullgraph")
    done = run(HERE / "score.py", "--bin", program, "--json", report, ROOT / "fixtures" / "reports" / "cases")
    print(done.stdout)
    rows = json.loads(report.read_text())
    assert rows and not [row for row in rows if row["error"]]
