#include "rules/layout.h"

#include <algorithm>

namespace fullgraph::rules {
namespace {

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\f';
}

bool line_break(char c) {
  return c == '\n' || c == '\r';
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

std::vector<OwnedBlock> blocks_of(const ir::Module& module, ir::StmtId id) {
  const ir::Stmt& stmt = module.stmt(id);
  std::vector<OwnedBlock> out;
  const auto first_of = [&](ir::Block block) { return module.stmt(module.stmt_lists[block.first]).span.begin; };
  const auto add = [&](ir::Block block, Clause clause, std::uint32_t begin) {
    if (block.count != 0) out.push_back({block, clause, begin});
  };
  const auto add_tail = [&](ir::Block block, Clause clause) {
    if (block.count != 0) add(block, clause, first_of(block));
  };
  switch (stmt.kind) {
    case ir::StmtKind::FunctionDef:
      add(module.function(stmt.function).body, Clause::Body, stmt.span.begin);
      break;
    case ir::StmtKind::ClassDef:
      add(module.cls(stmt.cls).body, Clause::Body, stmt.span.begin);
      break;
    case ir::StmtKind::Match:
      for (std::uint32_t i = 0; i < stmt.handlers.count; ++i) {
        const ir::MatchCase& one = module.cases[stmt.handlers.first + i];
        add(one.body, Clause::Case, one.pattern ? module.expr(one.pattern).span.begin : stmt.span.begin);
      }
      break;
    case ir::StmtKind::Try:
      add(stmt.body, Clause::Body, stmt.span.begin);
      for (std::uint32_t i = 0; i < stmt.handlers.count; ++i) {
        const ir::Handler& one = module.handlers[stmt.handlers.first + i];
        add(one.body, Clause::Handler, one.span.begin);
      }
      add_tail(stmt.orelse, Clause::Else);
      add_tail(stmt.finally, Clause::Finally);
      break;
    default:
      add(stmt.body, Clause::Body, stmt.span.begin);
      add_tail(stmt.orelse, Clause::Else);
      break;
  }
  return out;
}

const ir::Stmt* function_around(const ir::Module& module, const std::vector<Spot>& spots) {
  for (auto spot = spots.rbegin(); spot != spots.rend(); ++spot) {
    if (spot->owner && module.stmt(spot->owner).kind == ir::StmtKind::FunctionDef) return &module.stmt(spot->owner);
  }
  return nullptr;
}

std::vector<Spot> Layout::around(ir::Span span) const {
  std::vector<Spot> out;
  find(module_.body, {}, span, out);
  // What stands in an elif's condition belongs to the whole statement.
  while (!out.empty() && is_elif(out.back().id)) out.pop_back();
  if (out.empty() || !understood(span_of(out.front().id))) return {};
  return out;
}

void Layout::find(ir::Block block, const Spot& place, ir::Span span, std::vector<Spot>& out) const {
  for (std::size_t i = 0; i < block.count; ++i) {
    const ir::StmtId id = module_.stmt_lists[block.first + i];
    if (!span_of(id).contains(span)) continue;
    Spot spot = place;
    spot.id = id;
    spot.block = block;
    spot.index = i;
    out.push_back(spot);
    for (const OwnedBlock& owned : blocks_of(module_, id)) {
      const std::size_t before = out.size();
      find(owned.block, {{}, id, owned.clause, owned.clause_begin, {}, 0}, span, out);
      if (out.size() != before) break;
    }
    return;
  }
}

bool Layout::understood(ir::Span span) const {
  const std::uint32_t begin = line_begin(span.begin), end = next_line(span.end);
  const bool broken = std::ranges::any_of(
      module_.errors, [&](const ir::SyntaxError& error) { return error.span.begin <= end && begin <= error.span.end; });
  return !broken && std::ranges::none_of(module_.stmts, [&](const ir::Stmt& stmt) {
    return stmt.kind == ir::StmtKind::Error && span.contains(stmt.span);
  });
}

std::optional<Layout::Line> Layout::line_of(const Spot& spot) const {
  // Two statements share a line when nothing but a semicolon stands between them.
  const auto joined = [&](std::size_t left) {
    const std::uint32_t end = span_of(in_block(spot, left)).end, begin = span_of(in_block(spot, left + 1)).begin;
    const std::string_view between = text_.substr(end, begin - end);
    const bool continued = between.find('\\') != std::string_view::npos;
    return std::ranges::all_of(
        between, [&](char c) { return blank(c) || c == ';' || c == '\\' || (continued && line_break(c)); });
  };
  Line out{spot.index, spot.index};
  while (out.first > 0 && joined(out.first - 1)) --out.first;
  while (out.last + 1 < spot.block.count && joined(out.last)) ++out.last;

  const std::uint32_t begin = span_of(in_block(spot, out.first)).begin;
  if (starts_line(begin)) {
    const std::uint32_t line = line_begin(begin);
    const std::string_view before = text_.substr(0, line);
    // The line goes on from the one before.
    if (before.ends_with("\\\n") || before.ends_with("\\\r\n") || before.ends_with("\\\r")) return std::nullopt;
    return out;
  }
  std::uint32_t at = begin;
  while (at > 0 && blank(text_[at - 1])) --at;
  if (at == 0 || text_[at - 1] != ':' || spot.clause == Clause::Module || out.first != 0) return std::nullopt;
  out.headed = true;
  return out;
}

bool Layout::is_elif(ir::StmtId id) const {
  return module_.stmt(id).kind == ir::StmtKind::If && source_.text(span_of(id)).starts_with("elif");
}

std::string Layout::indentation(std::uint32_t offset) const {
  const std::uint32_t begin = line_begin(offset);
  std::uint32_t end = begin;
  while (end < text_.size() && blank(text_[end])) ++end;
  return std::string(text_.substr(begin, end - begin));
}

std::string Layout::unit(const std::vector<Spot>& spots) const {
  const auto of_block = [&](const OwnedBlock& owned) -> std::string {
    const std::uint32_t first = span_of(module_.stmt_lists[owned.block.first]).begin;
    if (!starts_line(first) || owned.clause == Clause::Else || owned.clause == Clause::Finally) return {};
    const std::string outer = indentation(owned.clause_begin), inner = indentation(first);
    return inner.size() > outer.size() && inner.starts_with(outer) ? inner.substr(outer.size()) : std::string();
  };
  for (std::size_t i = spots.size(); i-- > 1;) {
    if (std::string found = of_block({spots[i].block, spots[i].clause, spots[i].clause_begin}); !found.empty())
      return found;
  }
  for (std::uint32_t i = 0; i < module_.stmts.size(); ++i) {
    for (const OwnedBlock& owned : blocks_of(module_, {i})) {
      if (std::string found = of_block(owned); !found.empty()) return found;
    }
  }
  return "    ";
}

bool Layout::starts_line(std::uint32_t offset) const {
  const std::uint32_t begin = line_begin(offset);
  return std::ranges::all_of(text_.substr(begin, offset - begin), blank);
}

std::uint32_t Layout::line_begin(std::uint32_t offset) const {
  const std::uint32_t begin = source_.line_start(source_.position(offset).line);
  return begin == 0 && text_.starts_with(byte_order_mark) ? static_cast<std::uint32_t>(byte_order_mark.size()) : begin;
}

std::uint32_t Layout::next_line(std::uint32_t offset) const {
  return source_.line_start(source_.position(offset).line + 1);
}

std::optional<std::uint32_t> Layout::keyword_of(const Spot& spot, std::string_view word) const {
  // Behind everything of the statement that comes before the clause.
  const std::uint32_t first = span_of(module_.stmt_lists[spot.block.first]).begin;
  std::uint32_t from = span_of(spot.owner).begin;
  for (const OwnedBlock& owned : blocks_of(module_, spot.owner)) {
    const std::uint32_t end = span_of(module_.stmt_lists[owned.block.first + owned.block.count - 1]).end;
    if (end <= first) from = std::max(from, end);
  }
  for (std::uint32_t at = from; at < first; ++at) {
    const auto comment = std::ranges::lower_bound(module_.comments, at, {}, &ir::Span::begin);
    if (comment != module_.comments.end() && comment->begin == at) {
      at = comment->end;
      continue;
    }
    if (is_word(text_[at])) {
      if (text_.substr(at).starts_with(word) && starts_line(at)) return at;
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::string Layout::deeper(ir::StmtId id, std::string_view indentation, std::string_view unit) const {
  const ir::Span span = span_of(id);
  const std::vector<ir::Span> strings = strings_in(span);
  std::string out;
  std::uint32_t done = span.begin;
  for (unsigned line = source_.position(span.begin).line + 1; source_.line_start(line) < span.end; ++line) {
    std::uint32_t at = source_.line_start(line);
    out += text_.substr(done, at - done);
    done = at;
    const bool within = std::ranges::any_of(strings, [&](ir::Span s) { return s.begin < at && at < s.end; });
    const bool empty = std::ranges::all_of(source_.line_text(line), blank);
    if (within || empty) continue;
    if (text_.substr(at).starts_with(indentation)) {
      out += indentation;
      done += static_cast<std::uint32_t>(indentation.size());
    }
    out += unit;
  }
  out += text_.substr(done, span.end - done);
  return out;
}

std::vector<ir::Span> Layout::strings_in(ir::Span span) const {
  std::vector<bool> part(module_.exprs.size(), false);  // the text between two fields of an f-string: no literal
  for (const ir::Expr& expr : module_.exprs) {
    if (expr.kind != ir::ExprKind::FString || !span.contains(expr.span)) continue;
    for (const ir::ExprId item : module_.list(expr.items)) part[item.index] = true;
  }
  std::vector<ir::Span> out;
  for (std::size_t i = 0; i < module_.exprs.size(); ++i) {
    const ir::Expr& expr = module_.exprs[i];
    if (expr.kind != ir::ExprKind::String && expr.kind != ir::ExprKind::Bytes && expr.kind != ir::ExprKind::FString)
      continue;
    if (part[i]) continue;
    if (span.contains(expr.span) && std::ranges::any_of(source_.text(expr.span), line_break)) add_strings(expr, out);
  }
  return out;
}

// The literals of one string expression, of which several may stand side by side with line breaks between them.
void Layout::add_strings(const ir::Expr& expr, std::vector<ir::Span>& out) const {
  std::uint32_t at = expr.span.begin;
  while (at < expr.span.end) {
    const char c = text_[at];
    if (c == '#') {
      while (at < expr.span.end && !line_break(text_[at])) ++at;
    } else if (blank(c) || line_break(c) || c == '\\') {
      ++at;
    } else {
      const std::uint32_t end = string_end(at, expr);
      if (end == at) return;  // a format, behind the colon of a field: its literal is known already
      out.push_back({at, end});
      at = end;
    }
  }
}

// The end of the literal that begins at `at`, or `at` when none does.
std::uint32_t Layout::string_end(std::uint32_t at, const ir::Expr& expr) const {
  std::uint32_t quote = at;
  while (quote < expr.span.end && is_word(text_[quote])) ++quote;
  if (quote >= expr.span.end || (text_[quote] != '"' && text_[quote] != '\'')) return at;
  const std::string three(3, text_[quote]);
  const std::string_view close =
      text_.substr(quote).starts_with(three) ? std::string_view(three) : text_.substr(quote, 1);
  std::uint32_t end = quote + static_cast<std::uint32_t>(close.size());
  while (end < expr.span.end) {
    const ir::Expr* field = nullptr;
    if (expr.kind == ir::ExprKind::FString && text_[end] == '{') {
      for (const ir::ExprId item : module_.list(expr.items)) {
        if (module_.expr(item).kind == ir::ExprKind::Formatted && module_.expr(item).span.begin == end)
          field = &module_.expr(item);
      }
    }
    if (field != nullptr) {
      end = field->span.end;
    } else if (text_[end] == '\\') {
      end += 2;
    } else if (text_.substr(end).starts_with(close)) {
      return end + static_cast<std::uint32_t>(close.size());
    } else {
      ++end;
    }
  }
  return expr.span.end;
}

}  // namespace fullgraph::rules
