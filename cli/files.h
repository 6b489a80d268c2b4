// Reading and replacing small files.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/ir/error.h"

namespace fullgraph::cli {

Result<std::string> read_file(const std::string& path);

// Writes beside `path` and renames, so that readers see the old content or the new one. Keeps the permissions of an
// existing file; a symbolic link stays one and its target is replaced. What is no regular file (/dev/stdout) is written
// directly.
Result<void> write_atomically(const std::string& path, std::string_view content);

}  // namespace fullgraph::cli
