// The inputs that a TorchScript graph can be given, read from the graph itself: an archive keeps no shapes of inputs,
// but the weights that an input meets first do (a linear layer says how many features, an embedding how many rows).
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/module.h>

#include <vector>

namespace fullgraph::libtorch {

// Random inputs for `forward`. Failure: an input whose shape the graph does not tell.
std::vector<c10::IValue> infer_inputs(const torch::jit::Module& module);

}  // namespace fullgraph::libtorch
