"""C++ models: sources before and after a change are compiled and compared. Each build takes half a minute, so there are
few of them."""
from __future__ import annotations

import json
import subprocess

import pytest

BEFORE = """
#include <torch/nn/modules/linear.h>

struct EncoderImpl : torch::nn::Module {  // a class that is a part: not what is meant
  EncoderImpl() : first(register_module("first", torch::nn::Linear(8, 8))) {}
  torch::Tensor forward(torch::Tensor x) {
    auto hidden = torch::relu(first(x));
    if (hidden.requires_grad()) {
      hidden.register_hook([](torch::Tensor gradient) { return gradient * 0.5; });
      hidden.register_hook([](torch::Tensor gradient) { return gradient * SCALE; });
    }
    return hidden;
  }
  torch::nn::Linear first;
};
TORCH_MODULE(Encoder);

class Classifier : public torch::nn::Module {
 public:
  Classifier() { encoder = register_module("encoder", Encoder()); head = register_module("head", torch::nn::Linear(8, 2)); }
  std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor x, std::optional<torch::Tensor> mask = {}) {
    auto hidden = encoder(x);
    return {head(hidden), hidden.mean()};
  }
 private:
  Encoder encoder{nullptr};
  torch::nn::Linear head{nullptr};
};

int main() { Classifier classifier; }
"""


def validate(fullgraph, folder, *args):
    done = fullgraph("validate", *args, "--output-format", "json", "--repeat", "3", cwd=folder, timeout=300)
    return done, done.json()["cases"][0]


def test_a_lost_hook_and_a_lost_gradient(fullgraph, tmp_path):
    (tmp_path / "before.cpp").write_text(BEFORE)
    hooks = [line for line in BEFORE.splitlines(keepends=True) if "register_hook" in line]
    after = "".join(line for line in BEFORE.splitlines(keepends=True) if line not in hooks)
    # A folder: a header and a source, with a flag of their own that the build must take over.
    (tmp_path / "after").mkdir()
    (tmp_path / "after" / "model.cpp").write_text(after.replace("torch::relu(first(x))", "scaled(first(x.detach()))")
                                                  .replace("struct EncoderImpl", '#include "scale.h"\nstruct EncoderImpl', 1))
    (tmp_path / "after" / "include").mkdir()
    (tmp_path / "after" / "include" / "scale.h").write_text(
        'extern "C" double half();\n'
        "inline torch::Tensor scaled(torch::Tensor x) { return (torch::relu(x) * (SCALE * half())).detach(); }\n")
    (tmp_path / "half.c").write_text("double half(void) { return 0.5; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "libhalf.so", "half.c"], cwd=tmp_path, check=True)
    (tmp_path / "compile_commands.json").write_text(json.dumps([
        {"directory": str(tmp_path), "file": "before.cpp", "command": "c++ -DSCALE=2.0 -c before.cpp -o before.o"},
        {"directory": str(tmp_path / "after"), "file": "model.cpp",
         "arguments": ["c++", "-DSCALE=2.0", "-Iinclude", "-std=c++17", "-Werror", "-c", "model.cpp"]},
    ]))
    done, case = validate(fullgraph, tmp_path, "before.cpp", "after", "--input", "f32[4,8]", "--link", "libhalf.so")
    assert done.code == 1, done.stdout
    assert case["kind"] == "c++"
    for run in case["runs"]:
        unequal = {one["name"]: one["equality"] for one in run["change"]["tensors"] if one["equality"] != "equal"}
        # relu(x) * 1 is relu(x): the outputs stay what they were.
        assert unequal == {"grad encoder.first.weight": "lost", "grad encoder.first.bias": "lost"}
        assert run["change"]["others"] == ["2 hooks on gradients ran before, 0 after"]
        assert [one["name"] for one in run["after"]["gradients"] if one["norm"] is None] == [
            "encoder.first.weight", "encoder.first.bias"]


@pytest.mark.parametrize("source, words", [
    ("#include \"missing.h\"\nstruct Net : torch::nn::Module {};\n", "missing.h"),
    ("struct Net {};\n", "no class there derives from torch::nn::Module"),
    ("struct A : torch::nn::Module {};\n// struct Z : torch::nn::Module {};\nstruct B : torch::nn::Module {};\n", "there are A, B"),
], ids=["does not compile", "no module", "two modules"])
def test_sources_that_cannot_be_used(fullgraph, tmp_path, source, words):
    (tmp_path / "model.cpp").write_text(source)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = fullgraph("validate", "model.cpp", "--output-format", "json", cwd=tmp_path, env={"TMPDIR": str(temporary)})
    assert done.code == 2
    failure = done.json()["cases"][0]["failure"]
    assert failure["kind"] == "bad-input" and words in failure["message"]
    assert list(temporary.iterdir()) == []
