// Reading and replacing small files.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/error.h"

namespace fullgraph::cli {

bool ends_with_any(std::string_view path, std::span<const std::string_view> suffixes);

Result<std::string> read_file(const std::string& path);

// Writes beside `path` and renames, so that readers see the old content or the new one. Keeps the permissions of an
// existing file; a symbolic link stays one and its target is replaced. What is no regular file (/dev/stdout) is written
// directly.
Result<void> write_atomically(const std::string& path, std::string_view content);

struct Replacement {
  std::string path;
  std::string before;  // what the file must still hold
  std::string after;
};

// Is this the name of a file that a killed run left behind?
bool is_leftover(std::string_view name);

// Replaces all of the files or none: new files are written beside them first, what they hold is compared, and only then
// are they renamed. Each file holds the old or the new bytes whatever happens, a kill included; what a killed run
// leaves behind is called `.fullgraph-XXXXXX.tmp`. Two paths of one file must agree. Error: nothing was changed.
// `before_rename` is called in between, for tests.
Result<void> replace_files(const std::vector<Replacement>& files, const std::function<void()>& before_rename = {});

}  // namespace fullgraph::cli
