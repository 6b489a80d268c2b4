// A folder of sources with some files changed, without copying the rest and without touching the original.
//
// What is not changed is a link to the original; folders on the way to a changed file are real. Python names files by
// the way on which it found them, so that to it this is a tree of its own.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "analyzer/ir/error.h"

namespace fullgraph::cli {

// Absolute path → text; nothing: the file is gone. Files that are not there yet are new ones.
using ChangedFiles = std::map<std::string, std::optional<std::string>>;

// `only_changed`: at the top, leave out what holds no change (of a folder of installed packages, say).
Result<void> make_shadow_tree(const std::string& original, const ChangedFiles& changed, const std::string& target,
                              bool only_changed);

}  // namespace fullgraph::cli
