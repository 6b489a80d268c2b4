#include "rules/edits.h"

#include <algorithm>

#include "rules/layout.h"
#include "rules/purpose.h"

namespace fullgraph::rules {
namespace {

std::string indented(std::string_view lines, std::string_view indentation) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    if (end != 0) out.append(indentation).append(lines.substr(0, end));
    out += '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

// The changes to one file's statements.
class Editor {
 public:
  explicit Editor(const ir::Module& module) : module_(module), layout_(module) {}

  Edits insert_before(ir::Span span, std::string_view lines) {
    const std::vector<Spot> spots = layout_.around(span);
    if (spots.empty()) return {};
    const Spot& spot = spots.back();
    const auto line = layout_.line_of(spot);
    if (!line) return {};
    const std::uint32_t begin = layout_.span_of(spot.id).begin;
    if (!line->headed && spot.index == line->first) {
      change({layout_.line_begin(begin), layout_.line_begin(begin)}, indented(lines, layout_.indentation(begin)));
      return take();
    }
    const std::string inner = inner_indentation(spots, *line);
    if (line->headed) break_at_colon(spot, spot.index == 0 ? indented(lines, inner) : std::string(), inner);
    if (spot.index > line->first) break_before(spot, spot.index, indented(lines, inner), inner);
    return take();
  }

  Edits remove(ir::Span span) {
    const std::vector<Spot> spots = layout_.around(span);
    if (!spots.empty()) remove(spots);
    return take();
  }

  Edits guard(ir::Span span, std::string_view condition) {
    const std::vector<Spot> spots = layout_.around(span);
    if (spots.empty() || !may_be_guarded(module_.stmt(spots.back().id))) return {};
    const Spot& spot = spots.back();
    if (const ir::ExprId test = test_around(spot)) {
      narrow(test, condition);
      return take();
    }
    const auto line = layout_.line_of(spot);
    if (!line) return {};
    const std::string unit = layout_.unit(spots);
    const std::string inner = inner_indentation(spots, *line);
    if (line->headed) break_at_colon(spot, {}, inner);
    if (spot.index > line->first) break_before(spot, spot.index, {}, inner);
    const std::string text = layout_.deeper(spot.id, layout_.indentation(layout_.span_of(spot.id).begin), unit);
    change(layout_.span_of(spot.id), "if " + std::string(condition) + ":\n" + inner + unit + text);
    if (spot.index < line->last) break_before(spot, spot.index + 1, {}, inner);
    return take();
  }

 private:
  static bool may_be_guarded(const ir::Stmt& stmt) {
    const bool future = stmt.kind == ir::StmtKind::ImportFrom && stmt.module.text() == "__future__";
    return stmt.kind != ir::StmtKind::Global && stmt.kind != ir::StmtKind::Nonlocal && !future;
  }

  // The test of the `if` that the statement is, or that it alone stands under.
  ir::ExprId test_around(const Spot& spot) const {
    const auto lone_if = [&](const ir::Stmt& stmt) { return stmt.kind == ir::StmtKind::If && stmt.orelse.count == 0; };
    const ir::Stmt& stmt = module_.stmt(spot.id);
    if (lone_if(stmt)) return stmt.a;
    if (!spot.owner || spot.block.count != 1 || spot.clause != Clause::Body) return {};
    const ir::Stmt& owner = module_.stmt(spot.owner);
    return lone_if(owner) && !layout_.is_elif(spot.owner) && does_nothing(module_, owner.a) ? owner.a : ir::ExprId();
  }

  // `test` → `condition and test`
  void narrow(ir::ExprId test, std::string_view condition) {
    const ir::Expr& expr = module_.expr(test);
    const bool binds_weaker = (expr.kind == ir::ExprKind::BoolOp && expr.op == 1) ||
                              expr.kind == ir::ExprKind::Conditional || expr.kind == ir::ExprKind::Lambda ||
                              expr.kind == ir::ExprKind::NamedExpr;
    const std::string_view before = module_.source->text().substr(0, expr.span.begin);
    const bool touches = before.ends_with("if") || before.ends_with("assert");  // `if-x:`
    change({expr.span.begin, expr.span.begin},
           (touches ? " " : "") + std::string(condition) + " and " + (binds_weaker ? "(" : ""));
    if (binds_weaker) change({expr.span.end, expr.span.end}, ")");
  }

  void change(ir::Span span, std::string text) { edits_.push_back({{module_.source, span}, std::move(text)}); }

  Edits take() {
    std::ranges::sort(edits_, {}, [](const Edit& edit) { return edit.place.span.begin; });
    return std::move(edits_);
  }

  // Of statements that get a line of their own.
  std::string inner_indentation(const std::vector<Spot>& spots, const Layout::Line& line) const {
    const Spot& spot = spots.back();
    if (line.headed) return layout_.indentation(spot.clause_begin) + layout_.unit(spots);
    return layout_.indentation(layout_.span_of(layout_.in_block(spot, line.first)).begin);
  }

  // `if x: a` → the statement on the next line.
  void break_at_colon(const Spot& spot, const std::string& lines, const std::string& inner) {
    const std::uint32_t end = layout_.span_of(layout_.in_block(spot, 0)).begin;
    std::uint32_t begin = end;
    while (module_.source->text()[begin - 1] != ':') --begin;
    change({begin, end}, "\n" + lines + inner);
  }

  // `a; b` → b on the next line.
  void break_before(const Spot& spot, std::size_t index, const std::string& lines, const std::string& inner) {
    const ir::Span gap{layout_.span_of(layout_.in_block(spot, index - 1)).end,
                       layout_.span_of(layout_.in_block(spot, index)).begin};
    change(gap, "\n" + lines + inner);
  }

  void remove(std::vector<Spot> spots) {
    const Spot spot = spots.back();
    const auto line = layout_.line_of(spot);
    if (!line) return;
    const ir::Span span = layout_.span_of(spot.id);
    if (spot.block.count == 1) {
      if (!remove_clause(std::move(spots))) change(span, "pass");
    } else if (line->first == line->last) {
      change(paragraph_or_lines(span), "");
    } else if (spot.index < line->last) {
      change({span.begin, layout_.span_of(layout_.in_block(spot, spot.index + 1)).begin}, "");
    } else {
      change({layout_.span_of(layout_.in_block(spot, spot.index - 1)).end, span.end}, "");
    }
  }

  // The lines of a statement. When blank lines set it apart together with comments right above it, the comments are
  // about nothing else and go too, with the blank lines behind.
  ir::Span paragraph_or_lines(ir::Span statement) const {
    const ir::SourceFile& source = *module_.source;
    const auto is = [&](unsigned number, auto&& what) {
      std::string_view text = source.line_text(number);
      while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
      return what(text);
    };
    const auto blank = [](std::string_view text) { return text.empty() || text == "\r"; };
    const auto comment = [](std::string_view text) { return text.starts_with('#'); };
    const unsigned first = source.position(statement.begin).line, last = source.position(statement.end).line;
    const unsigned lines = source.line_count();
    unsigned above = first;
    while (above > 1 && is(above - 1, comment)) --above;
    const bool apart = above > 1 && is(above - 1, blank) && last < lines && is(last + 1, blank);
    if (above == first || !apart) return {layout_.line_begin(statement.begin), layout_.next_line(statement.end)};
    return {source.line_start(above), source.line_start(last + 2)};
  }

  // The clause that holds nothing but the last of `spots`, where it can go without changing anything else.
  bool remove_clause(std::vector<Spot> spots) {
    const Spot spot = spots.back();
    if (!spot.owner) return false;
    const ir::Stmt& owner = module_.stmt(spot.owner);
    const std::uint32_t end = layout_.next_line(layout_.span_of(spot.id).end);
    if (spot.clause == Clause::Else || (spot.clause == Clause::Finally && owner.handlers.count != 0)) {
      const auto keyword = layout_.keyword_of(spot, spot.clause == Clause::Else ? "else" : "finally");
      if (!keyword) return false;
      change({layout_.line_begin(*keyword), end}, "");
      return true;
    }
    const bool lone_if = spot.clause == Clause::Body && owner.kind == ir::StmtKind::If && owner.orelse.count == 0;
    if (!lone_if || !does_nothing(module_, owner.a)) return false;
    if (layout_.is_elif(spot.owner)) {
      if (!layout_.starts_line(owner.span.begin)) return false;
      change({layout_.line_begin(owner.span.begin), end}, "");
      return true;
    }
    spots.pop_back();
    if (spots.empty() || spots.back().id != spot.owner || !layout_.line_of(spots.back())) return false;
    remove(std::move(spots));
    return true;
  }

  const ir::Module& module_;
  Layout layout_;
  Edits edits_;
};

}  // namespace

bool is_call_statement(const ir::Module& module, ir::Span call) {
  const std::vector<Spot> spots = Layout(module).around(call);
  if (spots.empty()) return false;
  const ir::Stmt& stmt = module.stmt(spots.back().id);
  return stmt.kind == ir::StmtKind::Expression && module.expr(stmt.a).span == call;
}

bool is_assignment_of(const ir::Module& module, ir::Span target, std::string_view value) {
  const std::vector<Spot> spots = Layout(module).around(target);
  if (spots.empty()) return false;
  const ir::Stmt& stmt = module.stmt(spots.back().id);
  if (stmt.kind != ir::StmtKind::Assign || stmt.items.count != 1) return false;
  const ir::Span only = module.expr(module.list(stmt.items)[0]).span;
  return only.contains(target) && module.text(stmt.a) == value;
}

Edits add_argument(const ir::Module& module, ir::Span call, std::string_view argument) {
  for (const ir::Expr& expr : module.exprs) {
    if (expr.kind != ir::ExprKind::Call || expr.span != call) continue;
    if (expr.items.count == 0) {
      const std::uint32_t end = call.end - 1;  // the closing parenthesis
      return {{{module.source, {end, end}}, std::string(argument)}};
    }
    const auto arguments = module.list(expr.items);
    const ir::Expr& last = module.expr(arguments[arguments.size() - 1]);
    // A generator expression may stand alone without parentheses, but not beside another argument; what a dictionary
    // brings is not known.
    const bool brought = std::ranges::any_of(
        arguments, [&](ir::ExprId one) { return module.expr(one).kind == ir::ExprKind::DoubleStarred; });
    if (brought || (last.kind == ir::ExprKind::GeneratorExp && arguments.size() == 1)) return {};
    const std::string_view rest = module.source->text().substr(last.span.end, call.end - 1 - last.span.end);
    const std::size_t closing = rest.rfind(')');  // of parentheses around the last argument
    if (closing != std::string_view::npos && rest.find('#') != std::string_view::npos) return {};
    const std::uint32_t end =
        last.span.end + (closing == std::string_view::npos ? 0 : static_cast<std::uint32_t>(closing) + 1);
    return {{{module.source, {end, end}}, ", " + std::string(argument)}};
  }
  return {};
}

Edits replace(const ir::Module& module, ir::Span span, std::string text) {
  return {{{module.source, span}, std::move(text)}};
}

Edits insert_before_statement(const ir::Module& module, ir::Span span, std::string_view lines) {
  return Editor(module).insert_before(span, lines);
}

Edits remove_statement(const ir::Module& module, ir::Span span) {
  return Editor(module).remove(span);
}

Edits guard_statement(const ir::Module& module, ir::Span span, std::string_view condition) {
  return Editor(module).guard(span, condition);
}

}  // namespace fullgraph::rules
