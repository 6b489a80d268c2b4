// `fullgraph validate` of Python models: the cases of a run, each before and after a change.
#pragma once

#include <string>

#include "cli/validate.h"

namespace fullgraph::cli {

// Error: wrong options or configuration. What goes wrong with a case is in its result.
Result<validator::ValidationResult> validate_python(const ValidateOptions& options,
                                                    const std::string& working_directory);

// Is there anything for it to do: cases on the command line or in the configuration?
Result<bool> has_python_cases(const ValidateOptions& options, const std::string& working_directory);

// The names of the cases, one a line, as --shard leaves them.
Result<std::string> list_python_cases(const ValidateOptions& options, const std::string& working_directory);

}  // namespace fullgraph::cli
