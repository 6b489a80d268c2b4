// Which lines of a file belong together, for what only says a line: runs, and logs of runs.
#pragma once

#include "rules/diagnostic.h"

namespace fullgraph::cli {

struct StatementLines {
  unsigned first = 0, last = 0;
  [[nodiscard]] bool meet(unsigned from, unsigned to) const { return from <= last && to >= first; }
};

// Those of the innermost statement around a place; of a compound statement its header. What the parser does not make a
// statement of is the place itself.
StatementLines statement_lines(const Place& place);

}  // namespace fullgraph::cli
