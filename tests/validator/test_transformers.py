"""Real models: what repairs of transformers do to them. Expected values come from the sources and from how Dynamo is known to
break on them; the tensor-parallel case is one of two processes."""
from __future__ import annotations

import re
import sys

import pytest
from conftest import run_fullgraph, transformers_sources

SPEECH = """\
[[case]]
name = "wav2vec2"
transformers = "wav2vec2"
config = { apply_spec_augment = false, layerdrop = 0.0 }
modes = ["train"]
"""
PARALLEL = """\
[[case]]
name = "qwen3"
transformers = "qwen3"
config = { num_hidden_layers = 3, vocab_size = 64, use_cache = false }
modes = ["train"]
processes = 2
"""
FIRST = "feature_extractor.conv_layers.0.conv.weight"


def validate(folder, configuration, version, *arguments):
    (folder / "fullgraph.toml").write_text(configuration)
    done = run_fullgraph("validate", "--python", sys.executable, "--src", transformers_sources(version).parent, "--repeat", "0",
                         "--output-format", "json", *arguments, cwd=folder, timeout=900)
    assert done.code in (0, 1), done.stdout[-3000:] + done.stderr
    [case] = done.json()["cases"]
    return done, case


def lines_of(side, file):
    return {one["line"] for one in side["capture"]["breaks"] if one["file"].endswith(file)}


def norms(side):
    return {one["name"]: one["norm"] for one in side["gradients"]}


@pytest.fixture(scope="module")
def marked_line():
    source = (transformers_sources("5.24.0") / "models" / "wav2vec2" / "modeling_wav2vec2.py").read_text()
    [line] = [n for n, text in enumerate(source.splitlines(), 1) if re.search(r"hidden_states\.requires_grad = True", text)]
    return line


def check_repair(run, marked_line):
    assert lines_of(run["before"], "modeling_wav2vec2.py") == {marked_line}
    assert run["after"]["capture"]["breaks"] == [] and run["after"]["capture"]["graphs"] == 1
    assert (run["before"]["capture"]["fullgraph"], run["after"]["capture"]["fullgraph"]) == (False, True)


def test_the_safe_fix_of_a_speech_encoder(tmp_path, marked_line):
    done, case = validate(tmp_path, SPEECH, "5.24.0", "--fix", "--select", "FG1")
    [run] = case["runs"]
    check_repair(run, marked_line)
    assert norms(run["after"])[FIRST] > 0 and norms(run["after"]) == norms(run["before"])
    assert all(one["equality"] == "equal" for one in run["change"]["tensors"])
    [finding] = [one for one in case["findings"] if one["code"] == "FG101"]
    assert (finding["verdict"], finding["line"], finding["after"]) == ("confirmed", marked_line, False)
    assert done.code == 0, case["problems"]


def test_the_unsafe_fix_of_a_speech_encoder(tmp_path, marked_line):
    """Without checkpoints and with the non-reentrant kind nothing is lost. The reentrant kind needs an input that requires a
    gradient, which the removed line had provided: the first convolution loses its own."""
    done, case = validate(tmp_path, SPEECH, "5.24.0", "--unsafe-fixes", "--select", "FG1", "--checkpointing", "none,non-reentrant,reentrant")
    runs = {run["checkpointing"]: run for run in case["runs"]}
    for run in runs.values():
        check_repair(run, marked_line)
        assert norms(run["before"])[FIRST] > 0
    for kind in ("none", "non-reentrant"):
        assert norms(runs[kind]["after"])[FIRST] > 0
        assert all(one["equality"] == "equal" for one in runs[kind]["change"]["tensors"] + runs[kind]["after"]["compiled"]["tensors"])
    assert norms(runs["reentrant"]["after"])[FIRST] is None
    changed = {one["name"]: one["equality"] for one in runs["reentrant"]["change"]["tensors"]}
    assert changed[f"grad {FIRST}"] == "lost"
    # Dynamo takes the non-reentrant kind whatever is asked for, and so the gradient is there when compiled.
    compiled = {one["name"]: one["equality"] for one in runs["reentrant"]["after"]["compiled"]["tensors"]}
    assert compiled[f"grad {FIRST}"] == "appeared"
    assert done.code == 1
    assert any(problem.startswith("train, reentrant") and f"grad {FIRST} is lost" in problem for problem in case["problems"])
    assert not any(problem.startswith(("train:", "train, non-reentrant")) for problem in case["problems"])


def test_the_tensor_parallel_hooks(tmp_path):
    """A module hook on both norms of the queries and keys of three layers: six breaks, eleven graphs; on parameters none. The
    gradients of both are those of a single process."""
    done, case = validate(tmp_path, PARALLEL, "5.20.0", "--unsafe-fixes", "--select", "FG2")
    [run] = case["runs"]
    assert (case["kind"], case["processes"]) == ("distributed", 2)
    hooked = [one for one in run["before"]["capture"]["breaks"] if one["id"] == "GB0083"]
    assert (len(hooked), run["before"]["capture"]["graphs"]) == (6, 11)
    assert (run["after"]["capture"]["breaks"], run["after"]["capture"]["graphs"]) == ([], 1)
    for side in (run["before"], run["after"]):
        compared = side["single_process"]["tensors"]
        norms_compared = [one for one in compared if one["gradient"] and "norm" in one["name"]]
        assert len(norms_compared) == 3 * 4 + 1  # four in each layer, and the last one
        assert all(one["equality"] == "equal" for one in compared)
        assert len([hook for hook in side["hooks"] if hook["place"].startswith("transformers/distributed/")]) == 6
    [finding] = [one for one in case["findings"] if one["code"] == "FG201" and not one["after"]]
    assert finding["verdict"] == "confirmed"
    assert done.code == 0, case["problems"]
