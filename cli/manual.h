// The manual page.
#pragma once

#include <string>
#include <string_view>

#include "cli/command_tree.h"

namespace fullgraph::cli {

// fullgraph(1), in the macros of `man`.
std::string manual_page(const CommandInfo& program, std::string_view version);

}  // namespace fullgraph::cli
