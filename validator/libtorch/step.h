// One step of training or evaluation: forward, backward, and everything that is compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validator/libtorch/hooks.h"
#include "validator/libtorch/model.h"

namespace fullgraph::libtorch {

struct StepResult {
  NamedTensors outputs;
  NamedTensors gradients;  // undefined: none
  HookCount hooks;
  bool reached_backward = false;  // an output needs a gradient
};

// Forward and backward, from `seed`. The loss weighs every element of every floating output with cos(0), cos(1), …: the
// gradient of a plain sum vanishes behind a normalisation.
StepResult run_step(Model& model, const std::vector<c10::IValue>& inputs, std::uint64_t seed);

// The same without looking at anything, for the clock.
void run_bare_step(Model& model, const std::vector<c10::IValue>& inputs, std::uint64_t seed, bool backward);

void drop_gradients(Model& model);

}  // namespace fullgraph::libtorch
