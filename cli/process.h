// Running another program and reading what it prints: only git is ever run.
#pragma once

#include <string>
#include <vector>

#include "analyzer/ir/error.h"

namespace fullgraph::cli {

struct Output {
  int status = 0;  // exit status; 128 + signal when killed
  std::string text;
};

// Runs `arguments[0]`, found in PATH, with no input and stderr thrown away. Variables whose names begin with "GIT_" are
// not handed on: inside a git hook they would point git at another repository. Error: it cannot be started.
Result<Output> run(const std::vector<std::string>& arguments);

}  // namespace fullgraph::cli
