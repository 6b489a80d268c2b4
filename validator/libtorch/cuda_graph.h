// Whether a forward can be captured into a CUDA graph: one that reads a value back, allocates on the host or launches
// on another stream cannot, and that is what such hazards in C++ sources cost.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "validator/libtorch/model.h"

namespace fullgraph::libtorch {

struct Capture {
  std::string state;    // "captured", "failed", "skipped"
  std::string message;  // why not
};

Capture capture_forward(Model& model, const std::vector<c10::IValue>& inputs, at::Device device);

}  // namespace fullgraph::libtorch
