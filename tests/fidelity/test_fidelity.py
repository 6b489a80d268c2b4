"""The linter against the recorded models: what it has reached must not be lost."""
from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import CACHE, ROOT

HERE = pathlib.Path(__file__).parent
THRESHOLDS = json.loads((HERE / "thresholds.json").read_text())
PROGRAM = os.environ.get("FULLGRAPH_BIN", ROOT / "build" / "bin" / "fullgraph")


def run_fidelity(report, *arguments):
    command = [sys.executable, ROOT / "tools" / "fidelity.py", "--cache", CACHE, "--json", report, *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(report.read_text()), done.stdout


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    return run_fidelity(tmp_path_factory.mktemp("fidelity") / "fidelity.json", "--bin", PROGRAM, "--list")


@pytest.mark.parametrize("package", THRESHOLDS)
@pytest.mark.parametrize("measure", ["recall", "precision", "accuracy"])
def test_nothing_is_lost(measured, package, measure):
    numbers, text = measured
    assert numbers[package][measure] >= THRESHOLDS[package][measure], text


# ----------------------------------------------------------------------------------------------------------------------
# The measure itself, on a package of nine lines and linters that are no linters. What must come out is counted by hand.
# ----------------------------------------------------------------------------------------------------------------------
SOURCE = """\
def forward(x):
    if x.sum() > 0:
        x = x + 1
    y = call(
        x,
        x.item())
    for part in [int(t)
                 for t in x]:
        x = x + part
    return x, y
"""


def broken(line, gb_id, depth=1):
    return {"file": "toy/model.py", "line": line, "gb_id": gb_id, "gb_type": "", "inline_depths": [depth]}


def a_record(model, mode, breaks, executed=((2, 2), (4, 10)), traced=((2, 10),)):
    return {"package": "toy", "version": "1", "model": model, "mode": mode, "status": "ok", "breaks": breaks,
            "executed": {"toy/model.py": executed}, "traced": {"toy/model.py": traced}}


# The generator of line 7 was never first and never inlined when it broke: a consequence, left out.
RECORDS = [
    a_record("a", "train", [broken(2, "GB0170"), broken(6, "GB0124", 2), broken(7, "GB0003")]),
    a_record("a", "eval", [broken(6, "GB0124")], traced=((2, 6),)),
    a_record("b", "eval", []),
]


@pytest.fixture
def measure(tmp_path):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "model.py").write_text(SOURCE)
    records = tmp_path / "records.jsonl"
    records.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))

    def run(train, evaluate):
        """`train`, `evaluate`: the lines that a linter would name in each mode."""
        linter = tmp_path / "linter"
        findings = {mode: [{"file": "toy/model.py", "line": line, "code": "FG4", "severity": "warning"} for line in lines]
                    for mode, lines in (("train", train), ("eval", evaluate))}
        linter.write_text(f"#!{sys.executable}\nimport json, sys\n"
                          f"print(json.dumps({{'findings': {findings!r}[sys.argv[sys.argv.index('--mode') + 1]]}}))\n")
        linter.chmod(0o755)
        report, _ = run_fidelity(tmp_path / "out.json", "--bin", linter, "--records", records, "--src", tmp_path)
        return report["toy"]

    return run


def test_a_linter_that_says_nothing(measure):
    toy = measure([], [])
    assert (toy["sites"], toy["found"], toy["tested"], toy["recall"], toy["precision"]) == (2, 0, 0, 0.0, None)
    assert toy["accuracy"] == pytest.approx(1 / 3, abs=1e-3)  # of b alone it is right that nothing breaks
    assert [row[:3] for row in toy["missed"]] == [["toy/model.py", 2, "GB0170"], ["toy/model.py", 4, "GB0124"]]


def test_a_linter_that_is_right(measure):
    toy = measure([2, 6], [6])  # line 6 belongs to the statement of line 4
    assert (toy["found"], toy["tested"], toy["right"]) == (2, 2, 2)
    # of b the linter says that it breaks: its line 4 ran, too
    assert toy["accuracy"] == pytest.approx(2 / 3, abs=1e-3)
    assert toy["modes"]["train"]["accuracy"] == 1.0


def test_the_mode_counts(measure):
    """Line 2 breaks in training only; line 3 never ran, so that nothing is known about it."""
    toy = measure([], [2, 3])
    assert (toy["found"], toy["tested"], toy["right"]) == (0, 1, 1)


def test_a_false_alarm(measure):
    toy = measure([10], [])
    assert (toy["tested"], toy["right"], toy["precision"]) == (1, 0, 0.0)
    assert toy["false"] == [["toy/model.py", 10, "FG4", "return x, y"]]


def test_a_consequence_is_neither_missed_nor_wrong(measure):
    toy = measure([7], [])
    assert (toy["sites"], toy["tested"]) == (2, 0)


def test_two_modes_of_one_line_are_listed_once(measure):
    assert len(measure([10], [10])["false"]) == 1


def test_the_tool_says_what_a_record_lacks():
    spec = importlib.util.spec_from_file_location("fidelity", ROOT / "tools" / "fidelity.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["fidelity"] = module
    spec.loader.exec_module(module)
    assert module.secondary_sites(RECORDS) == {("toy/model.py", 7, "GB0003")}
