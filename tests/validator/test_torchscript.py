"""`fullgraph validate` of TorchScript archives: what it says is what torch says in this very run."""
from __future__ import annotations

import subprocess

import graph_models as models
import pytest
import torch
from conftest import PROGRAM
from torch import nn


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("torchscript")


@pytest.fixture(scope="module")
def encoder(folder):
    torch.manual_seed(0)
    module = models.Encoder()
    torch.jit.save(torch.jit.script(module), folder / "encoder.pt")
    torch.save((torch.randn(2, 64),), folder / "inputs.pt")
    return module


def variant(folder, encoder, kind) -> str:
    module = kind()
    module.load_state_dict(encoder.state_dict())
    torch.jit.save(torch.jit.script(module), folder / f"{kind.__name__}.pt")
    return str(folder / f"{kind.__name__}.pt")


def run(fullgraph, folder, *args):
    done = fullgraph("validate", *args, "--output-format", "json", "--repeat", "3", cwd=folder)
    return done, (done.json()["cases"][0] if done.stdout else None)


def of_mode(case, mode):
    return next(one for one in case["runs"] if one["mode"] == mode)


def unequal(run) -> dict[str, str]:
    return {one["name"]: one["equality"] for one in run["change"]["tensors"] if one["equality"] != "equal"}


def test_a_detached_layer_is_named(fullgraph, folder, encoder):
    after = variant(folder, encoder, models.Detached)
    done, case = run(fullgraph, folder, "encoder.pt", after, "--input", "inputs.pt")
    assert done.code == 1
    assert case["kind"] == "torchscript"
    for mode in ("train", "eval"):
        one = of_mode(case, mode)
        assert unequal(one) == {"grad conv.weight": "lost", "grad conv.bias": "lost"}
        lost = [gradient["name"] for gradient in one["after"]["gradients"] if gradient["norm"] is None]
        assert lost == ["conv.weight", "conv.bias"]
    text = fullgraph("validate", "encoder.pt", after, "--repeat", "0", cwd=folder)
    assert "no gradient: conv.weight, conv.bias (of 4 parameters)" in text.stdout
    assert text.code == 1


def test_gradients_are_those_of_torch(fullgraph, folder, encoder):
    done, case = run(fullgraph, folder, "encoder.pt", "--input", "inputs.pt")
    assert done.code == 0
    inputs = torch.load(folder / "inputs.pt")
    for mode in ("train", "eval"):  # the dropout of `train` follows the seed
        archive = torch.jit.load(folder / "encoder.pt").train(mode == "train")
        expected = models.gradient_norms(archive, inputs)
        found = {one["name"]: one["norm"] for one in of_mode(case, mode)["before"]["gradients"]}
        models.assert_same_norms(found, expected)


def test_equal_models_pass(fullgraph, folder, encoder):
    done, case = run(fullgraph, folder, "encoder.pt", "encoder.pt")
    assert done.code == 0
    for mode in ("train", "eval"):
        one = of_mode(case, mode)
        assert unequal(one) == {}
        assert len(one["change"]["tensors"]) == 5  # an output and four gradients
        assert one["before"]["eager_time"]["runs"] == 3
        assert one["after"]["peak_memory_bytes"] > 1 << 20


def test_other_values_are_seen(fullgraph, folder, encoder):
    done, case = run(fullgraph, folder, "encoder.pt", variant(folder, encoder, models.Scaled))
    assert done.code == 1
    found = unequal(of_mode(case, "eval"))
    assert found["output.0"] == "differs"
    one = next(one for one in of_mode(case, "eval")["change"]["tensors"] if one["name"] == "output.0")
    assert one["largest"] > one["allowed"]


def test_the_code_is_compared_and_not_the_weights(fullgraph, folder, encoder):
    torch.manual_seed(7)
    torch.jit.save(torch.jit.script(models.Encoder()), folder / "other_weights.pt")
    done, case = run(fullgraph, folder, "encoder.pt", "other_weights.pt")
    assert done.code == 0
    assert any("weights of the first" in note and "conv.weight" in note for note in case["notes"])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_cuda_that_is_not_there_is_skipped(fullgraph, folder, encoder):
    done, case = run(fullgraph, folder, "encoder.pt", "encoder.pt", "--device", "cuda")
    assert done.code == 0
    assert all("no CUDA device" in one["before"]["skipped"] for one in case["runs"])
    text = fullgraph("validate", "encoder.pt", "--device", "cuda", cwd=folder)
    assert "no CUDA device" in text.stdout and "all is well" not in text.stdout


class Image(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(6, 4, 3, groups=2)

    def forward(self, x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
        return self.conv(torch.relu(x)) * scale


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 8)
        self.linear = nn.Linear(8, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.linear(self.table(ids))


class Sum(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x.mean()


@pytest.mark.parametrize("module, inputs", [
    (Rows(), "i64[2,8]"),
    (nn.Sequential(nn.Dropout(0.1), nn.Linear(5, 3)), "f32[2,5]"),
    (Image(), "f32[2,6,64,64], 2"),
    (nn.Sequential(nn.LayerNorm(12), nn.Linear(12, 2)), "f32[2,12]"),
], ids=["embedding", "linear", "groups", "norm"])
def test_inputs_are_told_by_the_weights(fullgraph, tmp_path, module, inputs):
    torch.jit.save(torch.jit.script(module), tmp_path / "model.pt")
    done, case = run(fullgraph, tmp_path, "model.pt")
    assert done.code == 0, done.stdout
    assert case["notes"][0].startswith(f"inputs: {inputs} ")


def test_inputs_that_nothing_tells_are_asked_for(fullgraph, tmp_path):
    torch.jit.save(torch.jit.script(Sum()), tmp_path / "model.pt")
    done, case = run(fullgraph, tmp_path, "model.pt")
    assert done.code == 2
    assert case["failure"]["kind"] == "bad-input"
    assert "`x`" in case["failure"]["message"] and "--input" in case["failure"]["message"]
    assert run(fullgraph, tmp_path, "model.pt", "--input", "f32[3]")[0].code == 0


def test_a_model_that_raises(fullgraph, folder, encoder):
    done, case = run(fullgraph, folder, "encoder.pt", "--input", "f32[2,2,2,2,2]")
    assert done.code == 2
    assert {one["before"]["failure"]["kind"] for one in case["runs"]} == {"raised"}


def test_the_worker_is_missing(fullgraph, folder, encoder, tmp_path):
    copy = tmp_path / "fullgraph"
    copy.write_bytes(PROGRAM.read_bytes())
    copy.chmod(0o755)
    done = subprocess.run([copy, "validate", folder / "encoder.pt"], capture_output=True, text=True,
                          env={"PATH": str(tmp_path)}, timeout=60)
    assert done.returncode == 2
    assert "fullgraph-libtorch" in done.stderr and "CMAKE_PREFIX_PATH" in done.stderr


class Endless(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        while True:
            x = x + 1
        return x


class Hungry(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = [x]
        while len(kept) < 1 << 40:
            kept.append(torch.rand([1 << 22]))  # of a constant there would be only one
        return kept[-1]


@pytest.mark.parametrize("kind, limits, failure", [
    (Endless, ("--timeout", "5"), "timed-out"),
    (Hungry, ("--memory-limit", "2G"), "out-of-memory"),
], ids=["endless", "hungry"])
def test_a_model_that_does_not_come_back(fullgraph, tmp_path, kind, limits, failure):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    torch.jit.save(torch.jit.script(kind()), tmp_path / "model.pt")
    done = fullgraph("validate", "model.pt", "--input", "f32[2]", *limits, "--output-format", "json", cwd=tmp_path,
                     env={"TMPDIR": str(temporary)})
    assert done.code == 2
    found = done.json()["cases"][0]["failure"]
    assert found["kind"] == failure and found["stage"] == "train: forward and backward"
    assert limits[0] in found["message"]
    assert list(temporary.iterdir()) == []


def test_modes_can_be_chosen(fullgraph, folder, encoder):
    done, case = run(fullgraph, folder, "encoder.pt", "encoder.pt", "--modes", "eval")
    assert done.code == 0
    assert [one["mode"] for one in case["runs"]] == ["eval"]
