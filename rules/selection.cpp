#include "rules/selection.h"

#include <algorithm>
#include <array>
#include <optional>

#include "rules/edits.h"
#include "rules/layout.h"
#include "rules/purpose.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

using ir::ExprId;
using ir::ExprKind;

template <std::size_t Count>
bool is_one_of(std::string_view name, const std::array<std::string_view, Count>& names) {
  return std::ranges::find(names, name) != names.end();
}

// Methods that make one value of a tensor when they get no argument.
constexpr auto reductions = std::to_array<std::string_view>({"max", "min", "amax", "amin", "sum", "mean", "norm"});
// Elementwise operators with a gradient that is finite everywhere, by what their further arguments do to the dtype.
constexpr auto keep_dtype = std::to_array<std::string_view>({"abs", "neg", "relu", "nan_to_num"});
constexpr auto dtype_by_bounds = std::to_array<std::string_view>({"clamp", "clip", "clamp_min", "clamp_max"});
constexpr auto bounds = std::to_array<std::string_view>({"min", "max", "nan", "posinf", "neginf"});

// The two values that are chosen between, and the test, as text.
struct Choice {
  std::string test, when_true, when_false;
  bool same_dtype = true;
  bool narrows = false;  // the test is the last operand only; the `if` stays with those in front of it
};

class Reader {
 public:
  explicit Reader(const ir::Module& module) : module_(module) {}

  // A test of tensors alone, as an expression whose value is one boolean tensor. `negated`: it is the opposite.
  std::optional<std::string> test(ExprId id, bool& negated) const {
    negated = false;
    const ir::Expr& expr = module_.expr(id);
    if (expr.kind != ExprKind::Unary || static_cast<ir::UnaryOp>(expr.op) != ir::UnaryOp::Not) return positive(id);
    negated = true;
    return positive(expr.a);
  }

  // What an elementwise operator makes of the variable: "torch.clamp(x, min=0)", "x.abs()", or the variable itself.
  struct Side {
    ir::Symbol variable;
    bool same_dtype = true;
  };
  std::optional<Side> side(ExprId id) const {
    const ir::Expr& expr = module_.expr(id);
    if (expr.kind == ExprKind::Name) return Side{expr.name};
    if (expr.kind != ExprKind::Call || !does_nothing_more(expr)) return std::nullopt;
    const ir::Expr& callee = module_.expr(expr.a);
    if (callee.kind != ExprKind::Attribute) return std::nullopt;
    const ir::Expr& object = module_.expr(callee.a);
    auto arguments = module_.list(expr.items);
    const bool function = object.kind == ExprKind::Name && object.name.text() == "torch";
    const ExprId operand = !function ? callee.a : arguments.size() != 0 ? arguments[0] : ExprId();
    if (!operand || module_.expr(operand).kind != ExprKind::Name) return std::nullopt;
    Side result{module_.expr(operand).name};
    if (is_one_of(callee.name.text(), keep_dtype)) return result;
    if (!is_one_of(callee.name.text(), dtype_by_bounds)) return std::nullopt;
    for (std::size_t i = function ? 1 : 0; i < arguments.size(); ++i)
      result.same_dtype = result.same_dtype && is_integer(arguments[i]);
    return result;
  }

 private:
  std::optional<std::string> positive(ExprId id) const {
    const ir::Expr& expr = module_.expr(id);
    if (!does_nothing(module_, id)) return std::nullopt;
    switch (expr.kind) {
      case ExprKind::Call:
        if (is_reduction(id, "all") || is_reduction(id, "any")) return std::string(module_.text(id));
        return std::nullopt;
      case ExprKind::Compare: {
        auto items = module_.list(expr.items);
        const ir::Expr& only = module_.expr(items[0]);
        const bool ordered = static_cast<ir::CompareOp>(only.op) <= ir::CompareOp::GreaterEq;
        if (items.size() != 1 || !ordered || !(is_number(expr.a) || is_number(only.a))) return std::nullopt;
        return std::string(module_.text(id));
      }
      case ExprKind::BoolOp: {
        std::string result;
        for (ExprId part : module_.list(expr.items)) {
          bool negated = false;
          const auto text = test(part, negated);
          if (!text) return std::nullopt;
          if (!result.empty()) result += expr.op == 0 ? " & " : " | ";
          result += (negated ? "~(" : "(") + *text + ")";
        }
        return result;
      }
      default:
        return std::nullopt;
    }
  }

  // `tensor.max()`: one number in a tensor
  bool is_number(ExprId id) const {
    return std::ranges::any_of(reductions, [&](std::string_view name) { return is_reduction(id, name); });
  }

  bool is_reduction(ExprId id, std::string_view name) const {
    const ir::Expr& expr = module_.expr(id);
    if (expr.kind != ExprKind::Call || expr.items.count != 0) return false;
    const ir::Expr& callee = module_.expr(expr.a);
    return callee.kind == ExprKind::Attribute && callee.name.text() == name;
  }

  bool does_nothing_more(const ir::Expr& call) const {
    return std::ranges::all_of(module_.list(call.items), [&](ExprId id) {
      const ir::Expr& argument = module_.expr(id);
      if (argument.kind != ExprKind::Keyword) return does_nothing(module_, id);
      return is_one_of(argument.name.text(), bounds) && does_nothing(module_, argument.a);
    });
  }

  bool is_integer(ExprId id) const {
    const ir::Expr& expr = module_.expr(id);
    if (expr.kind == ExprKind::Keyword || expr.kind == ExprKind::Unary) return is_integer(expr.a);
    return expr.kind == ExprKind::Int;
  }

  const ir::Module& module_;
};

// The assignment of one value to one variable.
const ir::Expr* variable_of(const ir::Module& module, const ir::Stmt& stmt) {
  if (stmt.kind != ir::StmtKind::Assign || stmt.items.count != 1) return nullptr;
  const ir::Expr& target = module.expr(module.list(stmt.items)[0]);
  return target.kind == ExprKind::Name && static_cast<ir::Scope>(target.op) == ir::Scope::Local ? &target : nullptr;
}

bool holds_comment(const ir::Module& module, ir::Span span) {
  return std::ranges::any_of(module.comments, [&](ir::Span comment) { return span.contains(comment); });
}

// One `if` with what it does, in a function.
class Branch {
 public:
  Branch(const ir::Module& module, const std::vector<Spot>& spots)
      : module_(module), layout_(module), spots_(spots), stmt_(module.stmt(spots.back().id)), reader_(module) {}

  // Nothing: this is no plain choice between two tensors.
  std::optional<Choice> choice() const {
    auto body = module_.block(stmt_.body), orelse = module_.block(stmt_.orelse);
    if (body.size() == 0 || orelse.size() > 1 || !function()) return std::nullopt;
    const ir::Stmt& last = module_.stmt(*(body.end() - 1));
    const ir::Expr* target = variable_of(module_, last);
    if (!target) return std::nullopt;
    const auto side = reader_.side(last.a);
    std::string other(target->name.text());
    bool same_dtype = side && side->same_dtype;
    if (orelse.size() == 1) {
      const ir::Stmt& otherwise = module_.stmt(*orelse.begin());
      const ir::Expr* same = variable_of(module_, otherwise);
      const auto second = same && same->name == target->name ? reader_.side(otherwise.a) : std::nullopt;
      if (!second || !side || second->variable != side->variable) return std::nullopt;
      other = module_.text(otherwise.a);
      same_dtype = same_dtype && second->same_dtype;
    } else if (!side || side->variable != target->name) {
      return std::nullopt;
    }
    if (!helpers_stay_inside() || is_changed_in_place(target->name) || is_changed_in_place(side->variable))
      return std::nullopt;
    bool negated = false;
    auto test = reader_.test(stmt_.a, negated);
    const bool narrows = !test && orelse.size() == 0 && has_plain_operands();
    if (narrows) test = reader_.test(last_operand(), negated);
    if (!test) return std::nullopt;
    Choice result{*test, std::string(module_.text(last.a)), other, same_dtype, narrows};
    if (negated) std::swap(result.when_true, result.when_false);
    return result;
  }

  // Both ways do nothing but assign variables.
  bool only_assigns() const {
    const auto assigns = [&](ir::Block block) {
      return std::ranges::all_of(module_.block(block),
                                 [&](ir::StmtId id) { return variable_of(module_, module_.stmt(id)) != nullptr; });
    };
    bool negated = false;
    return stmt_.orelse.count != 0 && assigns(stmt_.body) && assigns(stmt_.orelse) && reader_.test(stmt_.a, negated);
  }

  // The whole `if` by the assignment. Comments in the branch come to stand above what is left of it.
  Edits replace_by(std::string_view value) const {
    const auto line = layout_.line_of(spots_.back());
    const bool alone = line && !line->headed && line->first == line->last && !layout_.is_elif(spots_.back().id);
    if (!alone) return {};
    auto body = module_.block(stmt_.body);
    std::string text;
    for (const ir::Span comment : module_.comments) {
      if (stmt_.span.contains(comment))
        text += std::string(module_.source->text(comment)) + "\n" + layout_.indentation(stmt_.span.begin);
    }
    for (const ir::StmtId id : body) {
      const ir::Stmt& stmt = module_.stmt(id);
      if (id != *(body.end() - 1)) {
        text += std::string(module_.source->text(stmt.span)) + "\n" + layout_.indentation(stmt_.span.begin);
      } else {
        text += std::string(variable_of(module_, stmt)->name.text()) + " = " + std::string(value);
      }
    }
    return replace(module_, stmt_.span, text);
  }

  // The `if` stays, with the operands that are decided while tracing.
  Edits narrow(std::string_view value) const {
    auto operands = module_.list(module_.expr(stmt_.a).items);
    const ir::Span test = module_.expr(stmt_.a).span, kept = module_.expr(operands[operands.size() - 2]).span;
    const std::string_view text = module_.source->text();
    // Parentheses around an operand are not in its span.
    const bool plain = text[kept.end] == ' ' && module_.expr(last_operand()).span.end == test.end;
    if (!plain || holds_comment(module_, test)) return {};
    auto body = module_.block(stmt_.body);
    Edits edits = replace(module_, {kept.end, test.end}, "");
    Edits selected = replace(module_, module_.expr(module_.stmt(*(body.end() - 1)).a).span, std::string(value));
    edits.insert(edits.end(), selected.begin(), selected.end());
    return edits;
  }

 private:
  // `if self.training and not mask.all():` Are the operands in front of the last one decided while tracing?
  bool has_plain_operands() const {
    const ir::Expr& test = module_.expr(stmt_.a);
    if (test.kind != ExprKind::BoolOp || test.op != 0) return false;
    auto operands = module_.list(test.items);
    return std::all_of(operands.begin(), operands.end() - 1, [&](ExprId id) {
      bool negated = false;
      return does_nothing(module_, id) && !reader_.test(id, negated);
    });
  }
  ExprId last_operand() const {
    auto operands = module_.list(module_.expr(stmt_.a).items);
    return *(operands.end() - 1);
  }

  const ir::Stmt* function() const { return function_around(module_, spots_); }

  // What the body computes on its way can be computed always, and nobody outside asks for it.
  bool helpers_stay_inside() const {
    auto body = module_.block(stmt_.body);
    return std::all_of(body.begin(), body.end() - 1, [&](ir::StmtId id) {
      const ir::Expr* helper = variable_of(module_, module_.stmt(id));
      if (!helper || !does_nothing(module_, module_.stmt(id).a)) return false;
      return std::ranges::none_of(module_.exprs, [&](const ir::Expr& expr) {
        return expr.kind == ExprKind::Name && expr.name == helper->name && function()->span.contains(expr.span) &&
               !stmt_.span.contains(expr.span);
      });
    });
  }

  // Does the function change the tensor itself? It would be the one that was handed in no longer.
  bool is_changed_in_place(ir::Symbol name) const {
    const ir::Span inside = function()->span;
    const auto is_it = [&](ExprId id) {
      const ir::Expr* expr = &module_.expr(id);
      while (expr->kind == ExprKind::Subscript || expr->kind == ExprKind::Attribute) expr = &module_.expr(expr->a);
      return expr->kind == ExprKind::Name && expr->name == name;
    };
    const bool assigned = std::ranges::any_of(module_.stmts, [&](const ir::Stmt& stmt) {
      const bool in_place = stmt.kind == ir::StmtKind::AugAssign || stmt.kind == ir::StmtKind::Assign;
      return in_place && inside.contains(stmt.span) &&
             std::ranges::any_of(module_.list(stmt.items), [&](ExprId target) {
               return is_it(target) &&
                      (stmt.kind == ir::StmtKind::AugAssign || module_.expr(target).kind != ExprKind::Name);
             });
    });
    return assigned || std::ranges::any_of(module_.exprs, [&](const ir::Expr& expr) {
             return expr.kind == ExprKind::Attribute && expr.name.text().ends_with('_') &&
                    !expr.name.text().ends_with("__") && inside.contains(expr.span) && is_it(expr.a);
           });
  }

  const ir::Module& module_;
  Layout layout_;
  const std::vector<Spot>& spots_;
  const ir::Stmt& stmt_;
  Reader reader_;
};

}  // namespace

void offer_selection(Diagnostic& diagnostic, const trace::Event& event) {
  const ir::Module& module = *event.where.module;
  const std::vector<Spot> spots = Layout(module).around(event.where.span);
  if (spots.empty() || module.stmt(spots.back().id).kind != ir::StmtKind::If) return;
  const Branch branch(module, spots);
  if (const auto choice = branch.choice()) {
    auto torch = ensure_import(module, "torch", event.where.span);
    if (!torch) return;
    const std::string value =
        torch->name + ".where(" + choice->test + ", " + choice->when_true + ", " + choice->when_false + ")";
    Edits edits = choice->narrows ? branch.narrow(value) : branch.replace_by(value);
    if (edits.empty()) return;
    edits.insert(edits.end(), torch->edits.begin(), torch->edits.end());
    offer(diagnostic, choice->same_dtype ? Applicability::Safe : Applicability::Unsafe,
          std::string("Compute both and select with `torch.where`") +
              (choice->same_dtype ? "" : " (of a tensor of integers this makes one of floating-point numbers)"),
          std::move(edits));
  } else if (branch.only_assigns()) {
    advise(diagnostic,
           "Make a function of each way and let `torch.cond(test, one, other, operands)` choose in the graph");
  }
}

}  // namespace fullgraph::rules
