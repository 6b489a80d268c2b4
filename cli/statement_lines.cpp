#include "cli/statement_lines.h"

#include <algorithm>

#include "analyzer/python/parse.h"
#include "reports/position.h"
#include "rules/layout.h"

namespace fullgraph::cli {

StatementLines statement_lines(const Place& place) {
  const reports::Position position = reports::position_of(place);
  StatementLines out{position.line, position.end_line};
  if (place.source == nullptr) return out;
  const auto module = python::parse(place.source, "module", false);
  const auto spots = rules::Layout(*module).around(place.span);
  if (spots.empty()) return out;
  const ir::StmtId id = spots.back().id;
  const ir::Span span = module->stmt(id).span;
  std::uint32_t end = span.end;
  for (const rules::OwnedBlock& block : rules::blocks_of(*module, id)) {
    if (block.block.count == 0) continue;
    end = std::min(end, module->stmt(module->stmt_lists[block.block.first]).span.begin);
  }
  out.first = place.source->position(span.begin).line;
  // The header of a compound statement ends on the line above its first statement, unless they share one.
  out.last = place.source->position(end).line;
  if (end != span.end && out.last > out.first) --out.last;
  out.last = std::max({out.last, out.first, position.line});
  return out;
}

}  // namespace fullgraph::cli
