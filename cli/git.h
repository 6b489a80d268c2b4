// What git says of a folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ir/error.h"

namespace fullgraph::cli {

// What git prints. Error (Io): there is no git, or what it says went wrong. Variables whose names begin with "GIT_" are
// not handed on: inside a git hook they would point git at another repository.
//
// git starts programs that a repository names, when it looks at the contents of files (filters). A repository of
// another owner is therefore refused unless the command looks at names alone.
enum class Trust : std::uint8_t { OwnRepositories, OnlyNames };
Result<std::string> run_git(const std::string& folder, const std::vector<std::string>& arguments, Trust trust);

}  // namespace fullgraph::cli
