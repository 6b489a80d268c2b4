// What a fix changes, as the lines before and after it. For reading: a patch for `git apply` comes from the fixer,
// which has the files' bytes.
#pragma once

#include <string>
#include <vector>

#include "rules/diagnostic.h"

namespace fullgraph::reports {

struct DiffLine {
  char mark;  // '-', '+' or ' '
  std::string text;
};

struct Hunk {
  const ir::SourceFile* source = nullptr;
  unsigned line = 1;  // of the first of `lines`
  std::vector<DiffLine> lines;
};

// Sorted by file and line. Empty: the fix has no edits, or they do not go together.
std::vector<Hunk> diff_of(const Fix& fix);

}  // namespace fullgraph::reports
