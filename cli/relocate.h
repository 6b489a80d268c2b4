// Findings outside the linted files.
//
// Traced code reaches into installed packages. A break there is real, but nobody can edit that line, and no run over
// the project's own files would ever show it: it is reported where the project calls into the package. Findings in
// files of the project that were not given are dropped: the run that lints those files reports them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rules/diagnostic.h"

namespace fullgraph::cli {

// `is_linted` and `is_installed` take a path as shown. Order is kept; what becomes equal is kept once.
std::vector<Diagnostic> relocate(std::vector<Diagnostic> findings,
                                 const std::function<bool(const std::string&)>& is_linted,
                                 const std::function<bool(const std::string&)>& is_installed);

}  // namespace fullgraph::cli
