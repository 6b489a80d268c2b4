// Two runs held against each other: every output and every parameter's gradient.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "validator/libtorch/step.h"

namespace fullgraph::libtorch {

// {"before", "after": files of tensors that measure() wrote, "rtol", "atol": or those of torch.testing for the type}.
// Failure: a file cannot be read.
nlohmann::ordered_json compare(const nlohmann::ordered_json& request);

// Bit for bit.
bool same(const StepResult& one, const StepResult& other);

}  // namespace fullgraph::libtorch
