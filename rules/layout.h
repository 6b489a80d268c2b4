// Where a statement stands: in which block of which clause, what shares its line, how it is indented.
//
// The IR says what a program does and where its parts are in the text; edits must also know of colons, semicolons,
// comments and the strings in which a line break is not a line break.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/ir.h"

namespace fullgraph::rules {

enum class Clause : std::uint8_t { Module, Body, Else, Finally, Handler, Case };

// One statement in its block.
struct Spot {
  ir::StmtId id;
  ir::StmtId owner;  // none: the module
  Clause clause = Clause::Module;
  std::uint32_t clause_begin = 0;  // on the line on which the clause begins
  ir::Block block;
  std::size_t index = 0;  // in the block
};

class Layout {
 public:
  explicit Layout(const ir::Module& module) : module_(module), source_(*module.source), text_(source_.text()) {}

  // The innermost statement around `span` with all that it stands in, outermost first; an `elif` is a part of its
  // statement and only stands among the owners. Empty when there is none, or when something near was not understood.
  [[nodiscard]] std::vector<Spot> around(ir::Span span) const;

  // The statements of the spot's block that share its logical line: positions in the block, inclusive.
  struct Line {
    std::size_t first, last;
    bool headed = false;  // the line begins with the clause: `if x: a; b`
  };
  // Nothing for layouts that are beyond us (a backslash between a colon and its statement).
  [[nodiscard]] std::optional<Line> line_of(const Spot& spot) const;

  [[nodiscard]] ir::Span span_of(ir::StmtId id) const { return module_.stmt(id).span; }
  [[nodiscard]] ir::StmtId in_block(const Spot& spot, std::size_t index) const {
    return module_.stmt_lists[spot.block.first + index];
  }
  [[nodiscard]] bool is_elif(ir::StmtId id) const;

  // The blanks that the line of `offset` begins with.
  [[nodiscard]] std::string indentation(std::uint32_t offset) const;
  // One level of indentation as this file has it, best near the spots.
  [[nodiscard]] std::string unit(const std::vector<Spot>& spots) const;
  // Does nothing but blanks stand before it on its line?
  [[nodiscard]] bool starts_line(std::uint32_t offset) const;
  // Where the line of `offset` begins (behind a byte order mark), and where the next one does.
  [[nodiscard]] std::uint32_t line_begin(std::uint32_t offset) const;
  [[nodiscard]] std::uint32_t next_line(std::uint32_t offset) const;
  // Where the keyword (`else`, `finally`) stands that heads the spot's clause.
  [[nodiscard]] std::optional<std::uint32_t> keyword_of(const Spot& spot, std::string_view word) const;

  // The statement's text one level deeper: `unit` behind `indentation` on each further line, but not on blank ones and
  // not inside of strings.
  [[nodiscard]] std::string deeper(ir::StmtId id, std::string_view indentation, std::string_view unit) const;

 private:
  void find(ir::Block block, const Spot& place, ir::Span span, std::vector<Spot>& out) const;
  [[nodiscard]] bool understood(ir::Span span) const;
  [[nodiscard]] std::vector<ir::Span> strings_in(ir::Span span) const;
  void add_strings(const ir::Expr& expr, std::vector<ir::Span>& out) const;
  [[nodiscard]] std::uint32_t string_end(std::uint32_t at, const ir::Expr& expr) const;

  const ir::Module& module_;
  const ir::SourceFile& source_;
  std::string_view text_;
};

// The innermost function whose body holds the last of `spots`; null: none does.
const ir::Stmt* function_around(const ir::Module& module, const std::vector<Spot>& spots);

// A block that belongs to a statement.
struct OwnedBlock {
  ir::Block block;
  Clause clause;
  std::uint32_t clause_begin;
};
std::vector<OwnedBlock> blocks_of(const ir::Module& module, ir::StmtId id);

}  // namespace fullgraph::rules
