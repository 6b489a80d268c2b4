#include "rules/purpose.h"

#include <algorithm>
#include <array>

#include "rules/layout.h"

namespace fullgraph::rules {
namespace {

// Does anything in the place bind a name or wait for somebody?
bool acts(const ir::Module& module, ir::Span place) {
  return std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
    const bool acting = expr.kind == ir::ExprKind::NamedExpr || expr.kind == ir::ExprKind::Await ||
                        expr.kind == ir::ExprKind::Yield || expr.kind == ir::ExprKind::YieldFrom;
    return acting && place.contains(expr.span);
  });
}

// Are all calls in this place known to change nothing?
bool is_harmless(const ir::Module& module, ir::Span place) {
  return std::ranges::all_of(module.exprs, [&](const ir::Expr& expr) {
    return expr.kind != ir::ExprKind::Call || !place.contains(expr.span) || changes_nothing(callee_of(module, expr));
  });
}

// Exceptions that end a program, as far as their names say; others may be how somebody learns what to do next.
bool raises_an_error(const ir::Module& module, const ir::Stmt& raise) {
  if (!raise.a) return false;
  const ir::Expr& expr = module.expr(raise.a);
  const ir::Expr& cls = expr.kind == ir::ExprKind::Call ? module.expr(expr.a) : expr;
  if (cls.kind != ir::ExprKind::Name && cls.kind != ir::ExprKind::Attribute) return false;
  return cls.name.text().ends_with("Error") || cls.name.text() == "Exception";
}

// May something in the same function go on because of what is raised here: a handler, a loop that has no other end?
bool decides_flow(const ir::Module& module, const std::vector<Spot>& spots) {
  for (std::size_t i = spots.size(); i-- > 0 && spots[i].owner;) {
    const ir::Stmt& owner = module.stmt(spots[i].owner);
    if (owner.kind == ir::StmtKind::FunctionDef) return false;
    if (owner.kind == ir::StmtKind::While) return true;
    if (owner.kind == ir::StmtKind::Try && spots[i].clause == Clause::Body && owner.handlers.count != 0) return true;
  }
  return false;
}

// Calls whose result nobody uses and that only tell somebody something.
bool is_message(const ir::Module& module, const ir::Stmt& stmt) {
  constexpr std::array<std::string_view, 6> speakers = {"logger", "_logger", "log", "LOG", "logging", "warnings"};
  constexpr auto words =
      std::to_array<std::string_view>({"debug", "info", "warning", "warn", "error", "exception", "critical", "log",
                                       "warning_once", "warn_once", "info_once", "warning_advice"});
  if (stmt.kind == ir::StmtKind::Pass) return true;
  if (stmt.kind != ir::StmtKind::Expression) return false;
  const ir::Expr& expr = module.expr(stmt.a);
  if (expr.kind == ir::ExprKind::String) return true;
  if (expr.kind != ir::ExprKind::Call || !is_harmless(module, {module.expr(expr.a).span.end, expr.span.end}))
    return false;
  const ir::Expr& callee = module.expr(expr.a);
  if (callee.kind == ir::ExprKind::Name) return callee.name.text() == "print";
  if (callee.kind != ir::ExprKind::Attribute) return false;
  const ir::Expr& object = module.expr(callee.a);
  const bool named = object.kind == ir::ExprKind::Name || object.kind == ir::ExprKind::Attribute;
  return named && std::ranges::find(speakers, object.name.text()) != speakers.end() &&
         std::ranges::find(words, callee.name.text()) != words.end();
}

}  // namespace

std::string_view callee_of(const ir::Module& module, const ir::Expr& call) {
  const ir::Expr& callee = module.expr(call.a);
  const bool named = callee.kind == ir::ExprKind::Name || callee.kind == ir::ExprKind::Attribute;
  return named ? callee.name.text() : std::string_view();
}

bool changes_nothing(std::string_view callee) {
  constexpr auto harmless = std::to_array<std::string_view>(
      {"str", "repr", "format", "join", "type", "id", "round", "list", "tuple", "int", "float", "bool", "len", "sorted",
       "keys", "values", "items", "get", "upper", "lower", "strip", "split", "startswith", "endswith", "getattr",
       "hasattr", "isinstance", "issubclass", "callable", "time", "perf_counter",
       // of tensors
       "item", "size", "dim", "numel", "sum", "mean", "min", "max", "amin", "amax", "any", "all", "abs", "norm", "std",
       "var", "isnan", "isinf", "isfinite", "isclose", "allclose", "equal", "eq", "ne", "gt", "lt", "ge", "le",
       "count_nonzero", "detach", "tolist", "cpu", "numpy", "long", "to", "view", "reshape", "flatten", "is_tensor",
       "is_floating_point", "finfo", "iinfo",
       // about the mode that code runs in
       "is_compiling", "is_grad_enabled", "is_dynamo_compiling", "is_scripting", "is_tracing"});
  return std::ranges::find(harmless, callee) != harmless.end();
}

namespace {

bool all_do_nothing(const ir::Module& module, ir::Range items) {
  return std::ranges::all_of(module.list(items), [&](ir::ExprId item) { return does_nothing(module, item); });
}

}  // namespace

bool does_nothing(const ir::Module& module, ir::ExprId id) {
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
      return changes_nothing(callee_of(module, expr)) && does_nothing(module, module.expr(expr.a).a) &&
             all_do_nothing(module, expr.items);
    default:
      return false;
  }
}

bool is_for_training(const ir::Module& module, ir::Span span) {
  const std::vector<Spot> spots = Layout(module).around(span);
  return std::ranges::any_of(spots, [&](const Spot& spot) {
    if (!spot.owner || spot.clause != Clause::Body || module.stmt(spot.owner).kind != ir::StmtKind::If) return false;
    const ir::Span test = module.expr(module.stmt(spot.owner).a).span;
    return std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
      return expr.kind == ir::ExprKind::Attribute && expr.name.text() == "training" && test.contains(expr.span);
    });
  });
}

Purpose purpose_of(const ir::Module& module, ir::Span span) {
  const std::vector<Spot> spots = Layout(module).around(span);
  if (spots.empty()) return Purpose::Other;
  const ir::Stmt& stmt = module.stmt(spots.back().id);
  const bool candidate = stmt.kind == ir::StmtKind::Assert || stmt.kind == ir::StmtKind::Expression ||
                         (stmt.kind == ir::StmtKind::If && stmt.orelse.count == 0);
  if (!candidate || acts(module, stmt.span)) return Purpose::Other;
  if (stmt.kind == ir::StmtKind::Assert) {
    const bool check = is_harmless(module, module.expr(stmt.a).span) && !decides_flow(module, spots);
    return check ? Purpose::Check : Purpose::Other;
  }
  if (stmt.kind == ir::StmtKind::Expression) return is_message(module, stmt) ? Purpose::Message : Purpose::Other;
  if (!is_harmless(module, module.expr(stmt.a).span)) return Purpose::Other;
  bool raises = false;
  for (const ir::StmtId id : module.block(stmt.body)) {
    const ir::Stmt& one = module.stmt(id);
    if (one.kind == ir::StmtKind::Raise && raises_an_error(module, one)) {
      raises = true;
    } else if (!is_message(module, one)) {
      return Purpose::Other;
    }
  }
  if (!raises) return Purpose::Message;
  return decides_flow(module, spots) ? Purpose::Other : Purpose::Check;
}

}  // namespace fullgraph::rules
