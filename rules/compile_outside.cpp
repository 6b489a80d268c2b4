#include "rules/compile_outside.h"

#include <algorithm>

#include "rules/layout.h"
#include "rules/purpose.h"

namespace fullgraph::rules {
namespace {

using ir::ExprId;
using ir::ExprKind;

const ir::Expr* at(const ir::Module& module, ir::Span span) {
  const auto found = std::ranges::find(module.exprs, span, &ir::Expr::span);
  return found == module.exprs.end() ? nullptr : &*found;
}

bool is_compile(const ir::Module& module, const ir::Expr& callee) {
  return module.source->text(callee.span) == "torch.compile";
}

// How often the module speaks of a variable of this name, apart from binding it.
std::ptrdiff_t uses_of(const ir::Module& module, ir::Symbol name, ir::Span binding) {
  return std::ranges::count_if(module.exprs, [&](const ir::Expr& expr) {
    return expr.kind == ExprKind::Name && expr.name == name && !binding.contains(expr.span);
  });
}

// "mode=\"max-autotune\", dynamic=False": none where one of them is no constant.
std::optional<std::string> options_of(const ir::Module& module, const ir::Expr& call, std::size_t first) {
  std::string out;
  auto arguments = module.list(call.items);
  for (std::size_t i = first; i < arguments.size(); ++i) {
    const ir::Expr& argument = module.expr(arguments[i]);
    if (argument.kind != ExprKind::Keyword) return std::nullopt;
    const ExprKind kind = module.expr(argument.a).kind;
    const bool constant = kind == ExprKind::String || kind == ExprKind::True || kind == ExprKind::False ||
                          kind == ExprKind::None || kind == ExprKind::Int;
    if (!constant) return std::nullopt;
    out += (out.empty() ? "" : ", ") + std::string(module.source->text(argument.span));
  }
  return out;
}

// What is compiled today, to be compiled no longer.
struct Inner {
  Edits edits;
  std::string options;
};

// Python:  mix = torch.compile(mix_eagerly, dynamic=False)
// Not an attribute: a compiled module has other names for its parameters, which somebody may load.
std::optional<Inner> call_of_compile(const ir::Module& module, const ir::Expr& call) {
  auto arguments = module.list(call.items);
  if (call.kind != ExprKind::Call || !is_compile(module, module.expr(call.a)) || arguments.size() == 0)
    return std::nullopt;
  const ir::Expr& target = module.expr(arguments[0]);
  const bool closed = target.kind == ExprKind::Name || target.kind == ExprKind::Attribute ||
                      target.kind == ExprKind::Call || target.kind == ExprKind::Subscript;
  const std::vector<Spot> spots = Layout(module).around(call.span);
  if (!closed || spots.empty()) return std::nullopt;
  const ir::Stmt& stmt = module.stmt(spots.back().id);
  if (stmt.kind != ir::StmtKind::Assign || stmt.items.count != 1 || module.expr(stmt.a).span != call.span)
    return std::nullopt;
  const ir::Expr& bound = module.expr(module.list(stmt.items)[0]);
  if (bound.kind != ExprKind::Name || uses_of(module, bound.name, bound.span) != 1) return std::nullopt;
  auto options = options_of(module, call, 1);
  if (!options) return std::nullopt;
  return Inner{replace(module, call.span, std::string(module.source->text(target.span))), *std::move(options)};
}

// Python:  @torch.compile(dynamic=False)
std::optional<Inner> decorator(const ir::Module& module, const ir::Expr& expr) {
  const bool called = expr.kind == ExprKind::Call;
  if (!is_compile(module, called ? module.expr(expr.a) : expr)) return std::nullopt;
  const auto function = std::ranges::find_if(module.functions, [&](const ir::Function& one) {
    auto decorators = module.list(one.decorators);
    return decorators.size() == 1 && module.expr(decorators[0]).span == expr.span;
  });
  if (function == module.functions.end() || uses_of(module, function->name, function->span) != 1) return std::nullopt;
  auto options = called ? options_of(module, expr, 0) : std::string();
  if (!options) return std::nullopt;
  const Layout layout(module);
  if (!layout.starts_line(expr.span.begin - 1)) return std::nullopt;  // the `@`
  return Inner{replace(module, {layout.line_begin(expr.span.begin), layout.next_line(expr.span.end)}, ""),
               *std::move(options)};
}

}  // namespace

Edits compile_outside(const ir::Module& module, ir::Span compile, ir::Span checkpoint) {
  const ir::Expr* expr = at(module, compile);
  if (!expr) return {};
  auto inner = decorator(module, *expr);
  if (!inner) inner = call_of_compile(module, *expr);
  const ir::Stmt* around = function_around(module, Layout(module).around(checkpoint));
  if (!inner || !around) return {};
  const ir::Function& function = module.function(around->function);
  if (function.decorators.count != 0 || function.is_async || function.is_generator) return {};
  Edits edits = insert_before_statement(
      module, function.name_span, "@torch.compile" + (inner->options.empty() ? "" : "(" + inner->options + ")") + "\n");
  if (edits.empty()) return {};
  edits.insert(edits.end(), inner->edits.begin(), inner->edits.end());
  return edits;
}

}  // namespace fullgraph::rules
