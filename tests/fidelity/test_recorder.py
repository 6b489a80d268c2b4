"""The recorder: what it writes of a model whose breaks are known, and the committed recording made again."""
from __future__ import annotations

import json
import subprocess
import sys

import pytest
from conftest import ROOT

OWN = ROOT / "fixtures" / "fidelity"
RECORDED_WITH = (3, 11)  # comprehensions are frames of their own there

MODEL = """\
from dataclasses import dataclass

import torch
from torch import nn

from .helper import length_of


class Model(nn.Module):
    def forward(self, x, cache=None):
        if self.training:
            x = (x.relu()
                 .add(1)
                 .mul(2))
            print("training")
            n = length_of(x)
            x = (x
                 .add(n)
                 .sub(1))
        if cache is not None:
            cache.append(x)
        return x * 2


def example():
    return Model(), (torch.ones(3),), {"cache": []}


@dataclass
class Output:
    logits: torch.Tensor
    past_key_values: torch.Tensor | None


class Decoder(nn.Module):  # takes and returns a cache as the models of Hugging Face do
    def forward(self, input_ids, attention_mask=None, past_key_values=None, use_cache=False):
        hidden = input_ids.float()
        if past_key_values is not None:
            print("a step")
            hidden = torch.cat([past_key_values, hidden], dim=1)
            assert attention_mask.shape == hidden.shape and hidden.shape == (2, 5)
        return Output(hidden * 2, hidden if use_cache else None)


def decoder():
    tokens = torch.ones(2, 4, dtype=torch.long)
    return Decoder(), (), {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}


def wrong(mode):
    if mode == "train":
        raise ValueError("no such thing")
    return Model(), (torch.ones(3, 4) @ torch.ones(4),), {}


def endless():
    while True:
        pass
"""
HELPER = """\
def length_of(x):
    n = x.sum().item()
    return int(n)
"""
# A module of the project that has the name of one of the recorder's own.
LINES = "raise RuntimeError('the recorder must not import this')\n"


def record(*arguments, cwd):
    command = [sys.executable, str(ROOT / "tools" / "record"), *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=500)
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr[-3000:]
    return done


def read(path):
    return {(r["model"], r["mode"]): r for r in map(json.loads, path.read_text().splitlines())}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "toy").mkdir()
    for name, text in (("__init__", ""), ("model", MODEL), ("helper", HELPER)):
        (folder / "toy" / f"{name}.py").write_text(text)
    (folder / "lines.py").write_text(LINES)
    return folder


@pytest.fixture(scope="module")
def records(project):
    out = project / "records.jsonl"
    record("--entry", "toy/model.py:example", "--entry", "toy.model:wrong", "--out", out, cwd=project)
    return read(out)


def lines_with(text, source):
    return [number for number, line in enumerate(source.splitlines(), 1) if text in line]


def test_sites(records):
    found = records["toy.model:example", "train"]["breaks"]
    [printed], [item] = lines_with('print("training")', MODEL), lines_with(".item()", HELPER)
    assert {(b["file"], b["line"]) for b in found} == {("toy/model.py", printed), ("toy/helper.py", item)}
    by_line = {b["line"]: b for b in found}
    assert (by_line[item]["gb_id"], by_line[item]["func"]) == ("GB0124", "length_of")
    assert by_line[printed]["kind"] == "partial"


def test_the_stack_leads_to_the_break(records):
    [item] = lines_with(".item()", HELPER)
    [call] = lines_with("= length_of(x)", MODEL)
    inlined = [b["stack"] for b in records["toy.model:example", "train"]["breaks"] if b["line"] == item]
    assert [["toy/model.py", call, "forward"], ["toy/helper.py", item, "length_of"]] in inlined


def test_no_site_in_the_other_mode(records):
    entry = records["toy.model:example", "eval"]
    assert (entry["breaks"], entry["graphs"], entry["fullgraph_ok"]) == ([], 1, True)


def test_lines(records):
    """What ran, and what Dynamo followed; a resumed function's lines are those of the source. Dynamo also sees the last
    line of a branch that is not taken: the jump over it carries that line."""
    for mode in ("train", "eval"):
        entry = records["toy.model:example", mode]
        ran, traced = ({n for a, b in entry[key]["toy/model.py"] for n in range(a, b + 1)} for key in ("executed", "traced"))
        [resumed] = lines_with(".sub(1)", MODEL)
        assert (resumed in ran & traced) == (mode == "train")
        assert ran - set(lines_with("def ", MODEL)) <= traced
    assert "lines.py" not in records["toy.model:example", "eval"]["executed"]


def test_a_decoding_step(project):
    """The prompt was run before: the cache holds its four tokens, the mask covers five."""
    out = project / "decode.jsonl"
    record("--entry", "toy.model:decoder", "--modes", "eval,decode", "--out", out, cwd=project)
    [step] = lines_with('print("a step")', MODEL)
    breaks = {mode: [b["line"] for b in r["breaks"]] for (_, mode), r in read(out).items()}
    assert breaks == {"eval": [], "decode": [step]}


def test_each_call_has_new_inputs(records):
    """Four calls with one cache would change its length, and Dynamo would compile again."""
    assert records["toy.model:example", "eval"]["frames"] == {"total": 1, "ok": 1}


def test_a_wrong_case_is_told(records):
    assert records["toy.model:wrong", "train"]["status"] == "build_error"
    assert "no such thing" in records["toy.model:wrong", "train"]["error"]
    assert records["toy.model:wrong", "eval"]["status"] == "ok"


def test_a_case_that_does_not_end(project):
    out = project / "endless.jsonl"
    record("--entry", "toy.model:endless", "--modes", "eval", "--timeout", 1, "--out", out, cwd=project)
    assert read(out)["toy.model:endless", "eval"]["status"] == "timeout"


def test_the_log_agrees(records):
    assert all(not r.get("log_only") for r in records.values())


@pytest.mark.skipif(sys.version_info[:2] != RECORDED_WITH, reason="recorded with another Python, whose bytecode differs")
def test_the_committed_recording_is_what_dynamo_does(tmp_path):
    """Some of the models, with all kinds of breaks; all of them would take a minute."""
    out = tmp_path / "again.jsonl"
    some = ["--only", "^(speech|text|detector|graph)$"]
    record("--cases", OWN / "cases.py", "--src", OWN, *some, "--no-fullgraph", "--jobs", 2, "--out", out, cwd=ROOT)
    committed, again = read(OWN / "small_models.jsonl"), read(out)
    assert len(again) == 11
    for key in again:
        entry = committed[key]
        for field in ("status", "executed", "traced"):
            assert again[key][field] == entry[field], key
        sites = [{(b["file"], b["line"], b["gb_id"], b["kind"]) for b in r["breaks"]} for r in (entry, again[key])]
        assert sites[0] == sites[1], key
