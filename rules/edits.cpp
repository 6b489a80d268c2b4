#include "rules/edits.h"

#include <algorithm>
#include <array>

#include "rules/layout.h"

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

// The name at the end of what is called.
std::string_view callee_of(const ir::Module& module, const ir::Expr& call) {
  const ir::Expr& callee = module.expr(call.a);
  const bool named = callee.kind == ir::ExprKind::Name || callee.kind == ir::ExprKind::Attribute;
  return named ? callee.name.text() : std::string_view();
}

bool does_nothing(const ir::Module& module, ir::ExprId id);

bool all_do_nothing(const ir::Module& module, ir::Range items) {
  return std::ranges::all_of(module.list(items), [&](ir::ExprId item) { return does_nothing(module, item); });
}

// Can the expression be left unevaluated without anybody noticing?
bool does_nothing(const ir::Module& module, ir::ExprId id) {
  constexpr std::array<std::string_view, 12> questions = {
      "isinstance",      "issubclass",          "hasattr",      "callable",   "len",    "bool", "is_compiling",
      "is_grad_enabled", "is_dynamo_compiling", "is_scripting", "is_tracing", "getattr"};
  if (!id) return true;
  const ir::Expr& expr = module.expr(id);
  switch (expr.kind) {
    case ir::ExprKind::None:
    case ir::ExprKind::True:
    case ir::ExprKind::False:
    case ir::ExprKind::Ellipsis:
    case ir::ExprKind::Int:
    case ir::ExprKind::Float:
    case ir::ExprKind::Imaginary:
    case ir::ExprKind::String:
    case ir::ExprKind::Bytes:
    case ir::ExprKind::Name:
      return true;
    case ir::ExprKind::Attribute:
    case ir::ExprKind::Unary:
    case ir::ExprKind::Comparison:
    case ir::ExprKind::Starred:
      return does_nothing(module, expr.a);
    case ir::ExprKind::Subscript:
    case ir::ExprKind::Binary:
      return does_nothing(module, expr.a) && does_nothing(module, expr.b);
    case ir::ExprKind::BoolOp:
    case ir::ExprKind::Tuple:
    case ir::ExprKind::List:
    case ir::ExprKind::Set:
      return all_do_nothing(module, expr.items);
    case ir::ExprKind::Compare:
      return does_nothing(module, expr.a) && all_do_nothing(module, expr.items);
    case ir::ExprKind::Conditional:
      return does_nothing(module, expr.a) && does_nothing(module, expr.b) && does_nothing(module, expr.c);
    case ir::ExprKind::Call:
      return std::ranges::find(questions, callee_of(module, expr)) != questions.end() &&
             does_nothing(module, module.expr(expr.a).a) && all_do_nothing(module, expr.items);
    default:
      return false;
  }
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
      change({layout_.line_begin(span.begin), layout_.next_line(span.end)}, "");
    } else if (spot.index < line->last) {
      change({span.begin, layout_.span_of(layout_.in_block(spot, spot.index + 1)).begin}, "");
    } else {
      change({layout_.span_of(layout_.in_block(spot, spot.index - 1)).end, span.end}, "");
    }
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
