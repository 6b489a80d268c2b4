// Where the programs are that do a part of the work and are built only where their libraries are.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/ir/error.h"

namespace fullgraph::validator {

// What the variable names, else the program beside this one, else in PATH. Error: nowhere; `missing` says how to get
// it.
Result<std::string> find_worker(std::string_view name, const char* variable, std::string_view missing);

}  // namespace fullgraph::validator
