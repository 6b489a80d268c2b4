// Parts of a result from the JSON that a worker wrote.
#pragma once

#include <string>

#include "validator/result.h"

namespace fullgraph::validator {

// Members that are missing keep their defaults, unknown ones are left out. `what` is for messages.
Result<Side> side_of(const std::string& json, const std::string& what);
Result<Comparison> comparison_of(const std::string& json, const std::string& what);

}  // namespace fullgraph::validator
