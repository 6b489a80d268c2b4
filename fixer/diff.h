// Two versions of a file as a unified diff that `git apply` and `patch -p1` take.
#pragma once

#include <string>
#include <string_view>

namespace fullgraph::fixer {

// `name` is the file's path from the folder in which the patch is to be applied. Empty when nothing differs. Lines are
// what ends with a line feed; everything else in them, carriage returns too, is kept.
std::string unified_diff(std::string_view name, std::string_view before, std::string_view after);

}  // namespace fullgraph::fixer
