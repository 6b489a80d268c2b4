// Running one model: what comes out, which gradients, how long it takes, how much memory.
//
// Each model has a process of its own, so that one that dies takes nothing with it and peaks of memory do not mix;
// what it computed goes to a file, and compare.h looks at two of these.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "validator/libtorch/progress.h"

namespace fullgraph::libtorch {

// `request` and the result: see docs/validate.md, "The libtorch worker". Failure, Skipped.
nlohmann::ordered_json measure(const nlohmann::ordered_json& request, Progress& progress);

}  // namespace fullgraph::libtorch
