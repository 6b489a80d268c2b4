// Valid Python that the grammar cannot read, put so that it can.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/source.h"

namespace fullgraph::python {

// A text of the same length, so that all offsets stay right, and the comments of the original.
struct Repaired {
  std::string text;
  std::vector<ir::Span> comments;
};

// For texts that did not parse. Two things are known to be wrong with the grammar:
// - A line inside brackets that is indented less than its block ends the block when the bracket's end could not come
//   next: line ends and comments inside brackets become blanks.
// - A star in front of a display or parentheses in a list without parentheses (`return a, *[b]`) is an error: it
//   becomes `~`, an operator that may stand there. Lowering looks at the original text and sees the star.
Repaired repair(std::string_view text);

}  // namespace fullgraph::python
