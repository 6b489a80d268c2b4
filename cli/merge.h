// `fullgraph merge`: the reports of the parts of a run (`check --shard`) as the report that one run would have given.
#pragma once

#include <string>

#include "cli/options.h"

namespace fullgraph::cli {

// Of `check` what says how a report is delivered. Returns the exit status.
int merge(const std::vector<std::string>& files, const CheckOptions& options, const std::string& working_directory);

}  // namespace fullgraph::cli
