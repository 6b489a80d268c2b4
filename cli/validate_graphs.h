// `fullgraph validate model.pt [after.pt]`, and the same for C++ sources.
#pragma once

#include <string>

#include "cli/validate.h"

namespace fullgraph::cli {

int validate_graphs(const ValidateOptions& options, const std::string& working_directory);

}  // namespace fullgraph::cli
