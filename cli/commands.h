// The commands. Each returns the exit status: 0 clean, 1 findings, 2 something that the user must repair.
#pragma once

#include <string>

#include "cli/options.h"

namespace fullgraph::cli {

constexpr int exit_clean = 0;
constexpr int exit_findings = 1;
constexpr int exit_error = 2;

int check(const CheckOptions& options, const std::string& working_directory);
int show_rule(const Command& command);
int show_config(const Command& command);
int show_version(const Command& command);
int dump(const Command& command, const std::string& working_directory);

// "fullgraph: error: file:line: message" on stderr.
void print_error(const Error& error);
// Everything to stdout; false when it cannot be written.
bool print(const std::string& text);

}  // namespace fullgraph::cli
