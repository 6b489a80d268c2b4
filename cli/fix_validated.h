// `fullgraph fix --validate`: repairs what running the models confirms, and nothing else.
#pragma once

#include <string>

#include "cli/validate.h"

namespace fullgraph::cli {

int fix_validated(const ValidateOptions& options, const std::string& working_directory);

}  // namespace fullgraph::cli
