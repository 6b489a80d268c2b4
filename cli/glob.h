// File name patterns as configuration files and `--exclude` have them.
//
// "*" and "?" stay within one path component, "**" goes across them; "[a-z]", "[!a-z]" and "{a,b}" as in shells. A
// pattern without a slash is about one component of any depth ("build", "*_test.py"); one with a slash is about the
// path from its base folder ("tests/data", "src/**/old.py") or, when it begins with one, the absolute path.
#pragma once

#include <string>
#include <string_view>

#include "cli/settings.h"

namespace fullgraph::cli {

bool glob_matches(std::string_view glob, std::string_view text);

// Does the pattern take in exactly this absolute path (not: a folder above it)?
bool matches_path(const Pattern& pattern, std::string_view path);

}  // namespace fullgraph::cli
