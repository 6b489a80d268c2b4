"""Exported programs: the interpreter computes what Python computes, gradients included."""
from __future__ import annotations

import json
import shutil
import subprocess

import graph_models as models
import pytest
import torch
from conftest import PROGRAM

PROGRAMS = {
    "plain": models.Plain,
    "checkpointed": models.Checkpointed,
    "reentrant": models.Reentrant,
    "without_gradient": models.WithoutGradient,
    "branching": models.Branching,
    "normalised": models.Normalised,
    "counting": models.Counting,
}


def measure(folder, archive) -> tuple[dict, dict]:
    """The worker's own answer, with the tensors that no report shows."""
    request = {"model": str(archive), "tensors": str(folder / "tensors"), "device": "cpu", "repeats": 0}
    (folder / "request").write_text(json.dumps(request))
    subprocess.run([PROGRAM.parent / "fullgraph-libtorch", "measure", folder / "request", folder / "result"], check=True, timeout=60)
    result = json.loads((folder / "result").read_text())
    assert result["status"] == "measured", result
    return result, torch.load(folder / "tensors", weights_only=False)


def check(folder, program, inputs) -> None:
    torch.export.save(program, folder / "model.pt2")
    result, tensors = measure(folder, folder / "model.pt2")
    mode = result["modes"]["as-saved"]
    assert "error" not in mode, mode
    module = torch.export.load(folder / "model.pt2").module()
    found = {one["name"]: one.get("norm") for one in mode["gradients"]}
    models.assert_same_norms(found, models.gradient_norms(module, inputs))
    fresh = torch.export.load(folder / "model.pt2").module()  # with the buffers that were saved
    torch.manual_seed(0)
    outputs = fresh(*inputs)
    for index, output in enumerate(outputs if isinstance(outputs, (tuple, list)) else [outputs]):
        torch.testing.assert_close(tensors[f"as-saved/output/{index}"], output.detach())


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(tmp_path, name):
    torch.manual_seed(0)
    inputs = (torch.rand(3, 4),)
    check(tmp_path, torch.export.export(PROGRAMS[name](), inputs), inputs)


def test_a_program_with_dynamic_sizes_and_one_that_was_decomposed(tmp_path):
    torch.manual_seed(0)
    inputs = (torch.rand(3, 4),)
    batch = torch.export.Dim("batch", min=2, max=64)
    program = torch.export.export(models.Plain(), inputs, dynamic_shapes=({0: batch},))
    check(tmp_path, program, inputs)
    check(tmp_path, program.run_decompositions(), inputs)


def test_a_lost_gradient_is_named(fullgraph, tmp_path):
    """What exporting a reentrant checkpoint does to a model, next to the same model without one."""
    inputs = (torch.rand(3, 4),)
    torch.manual_seed(0)
    torch.export.save(torch.export.export(models.Plain(), inputs), tmp_path / "plain.pt2")
    torch.manual_seed(0)
    torch.export.save(torch.export.export(models.Reentrant(), inputs), tmp_path / "reentrant.pt2")
    done = fullgraph("validate", "plain.pt2", "reentrant.pt2", "--output-format", "json", "--repeat", "0", cwd=tmp_path)
    assert done.code == 1
    case = done.json()["cases"][0]
    assert case["kind"] == "exported"
    [run] = case["runs"]
    lost = {one["name"] for one in run["change"]["tensors"] if one["equality"] == "lost"}
    assert lost == {f"grad block.{layer}.{part}" for layer in "ab" for part in ("weight", "bias")}


@pytest.mark.skipif(shutil.which("c++") is None, reason="AOTInductor needs a C++ compiler")
def test_compiled_packages(fullgraph, tmp_path):
    """They have no gradients: the outputs are compared with those of the program, for the inputs that it was run with."""
    torch.manual_seed(0)
    program = torch.export.export(models.Plain(), (torch.rand(3, 4),))
    torch.export.save(program, tmp_path / "program.pt2")
    torch._inductor.aoti_compile_and_package(program, package_path=str(tmp_path / "compiled.pt2"))
    run = lambda *paths: fullgraph("validate", *paths, "--output-format", "json", "--repeat", "1", cwd=tmp_path)
    done = run("program.pt2", "compiled.pt2")
    assert done.code == 0, done.stdout
    [compared] = done.json()["cases"][0]["runs"]
    assert [(one["name"], one["equality"]) for one in compared["change"]["tensors"]] == [("output.0", "equal")]
    assert "no gradients" in compared["change"]["note"] or "gradients are not compared" in compared["change"]["note"]
    alone = run("compiled.pt2")
    assert alone.code == 2 and "--input" in alone.json()["cases"][0]["failure"]["message"]
    wrong = run("compiled.pt2", "--input", "f32[3,5]").json()["cases"][0]["runs"][0]["before"]["failure"]
    assert wrong["kind"] == "raised" and "frame #" not in wrong["message"]


def test_kinds_that_cannot_be_compared(fullgraph, tmp_path):
    torch.export.save(torch.export.export(models.Plain(), (torch.rand(3, 4),)), tmp_path / "a.pt2")
    torch.jit.save(torch.jit.script(models.Block()), tmp_path / "b.pt")
    done = fullgraph("validate", "a.pt2", "b.pt", "--input", "f32[3,4]", "--repeat", "0", cwd=tmp_path)
    assert done.code == 2
    assert "nothing to compare" in done.stdout


class Optional(torch.nn.Module):
    """A flag among the sample inputs that is no input of the graph, and a keyword."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, flag, x=None, scale=None):
        out = self.linear(x) if flag else x
        return {"out": out if scale is None else out * scale, "kept": [x + 1]}


def test_inputs_are_those_that_the_program_was_exported_with(tmp_path):
    torch.manual_seed(0)
    x = torch.rand(3, 4)
    program = torch.export.export(Optional(), (True,), {"x": x, "scale": None})
    torch.export.save(program, tmp_path / "model.pt2")
    _, tensors = measure(tmp_path, tmp_path / "model.pt2")
    expected = torch.export.load(tmp_path / "model.pt2").module()(True, x=x, scale=None)
    torch.testing.assert_close(tensors["as-saved/output/0"], expected["out"].detach())
    torch.testing.assert_close(tensors["as-saved/output/1"], expected["kept"][0])
