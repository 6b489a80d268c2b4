// Completion of the command line by shells.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/command_tree.h"

namespace fullgraph::cli {

// Codes of rules, and what each is about.
using RuleNames = std::vector<std::pair<std::string, std::string>>;

std::string bash_completion(const CommandInfo& program, const RuleNames& rules);
std::string zsh_completion(const CommandInfo& program, const RuleNames& rules);
std::string fish_completion(const CommandInfo& program, const RuleNames& rules);

}  // namespace fullgraph::cli
