// What git says of a folder. Nothing that a repository names is started, and one of another owner is read all the same.
#pragma once

#include <string>
#include <vector>

#include "analyzer/ir/error.h"

namespace fullgraph::cli {

// What git prints. Error (Io): there is no git, or what it says went wrong. Variables whose names begin with "GIT_" are
// not handed on: inside a git hook they would point git at another repository.
Result<std::string> run_git(const std::string& folder, const std::vector<std::string>& arguments);

}  // namespace fullgraph::cli
