// The parser's tree as one flat array in source order.
//
// Lowering asks for children by field and looks ahead a lot, which is slow through the parser's own cursor; the array
// is 16 bytes a node, is walked by index, and lets the parser's tree (several times as large) be freed at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/ir/ir.h"
#include "analyzer/python/grammar.h"

namespace fullgraph::python {

class KeptTree;  // parse.h

struct SyntaxNode {
  Kind kind = Kind::Error;
  Field field = Field::None;  // the field of its parent that the node fills
  bool missing = false;       // put in by the parser where something was expected
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t next = 0;  // index after the node's last descendant: the next sibling, if there is one
};
static_assert(sizeof(SyntaxNode) == 16);

class SyntaxTree {
 public:
  std::vector<SyntaxNode> nodes;   // nodes[0] is the root; comments are left out
  std::vector<ir::Span> comments;  // in source order
  std::vector<ir::SyntaxError> errors;

  // Parses `text` into this tree, reusing its memory.
  void parse(std::string_view text, KeptTree* kept = nullptr);

 private:
  void read(std::string_view text, KeptTree* kept = nullptr);
};

}  // namespace fullgraph::python
