// Flags that only decide whether an activation is marked for reentrant checkpointing, and what goes with them.
//
// Python:  class Encoder(nn.Module):
//              def __init__(self): …; self._requires_grad = True
//              def _freeze_parameters(self): …; self._requires_grad = False
//              def forward(self, x):
//                  if self._requires_grad and self.training: x.requires_grad = True
#include "analyzer/trace/requires_grad_flag.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_map>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"

namespace fullgraph::trace {

using ir::Expr;
using ir::ExprKind;
using ir::Span;
using ir::Stmt;
using ir::StmtKind;
using ir::Symbol;

namespace {

bool is_self(const ir::Module& module, const Expr& attribute) {
  const Expr& object = module.expr(attribute.a);
  return object.kind == ExprKind::Name && object.name.text() == "self";
}

// `tensor.requires_grad = True`
bool is_marking(const ir::Module& module, const Stmt& stmt) {
  if (stmt.kind != StmtKind::Assign || module.expr(stmt.a).kind != ExprKind::True) return false;
  const Expr& target = module.expr(module.list(stmt.items)[0]);
  // Of an activation; parameters are marked for good.
  return target.kind == ExprKind::Attribute && target.name == names::requires_grad &&
         module.expr(target.a).kind == ExprKind::Name;
}

// How often the name stands in the source as a word, in strings and comments too.
std::size_t mentions(const ir::Module& module, std::string_view name) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const std::string_view text = module.source->text();
  std::size_t count = 0;
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool before = at > 0 && is_word(text[at - 1]);
    const bool after = at + name.size() < text.size() && is_word(text[at + name.size()]);
    count += !before && !after;
  }
  return count;
}

// The attributes of `self` that the conditions around a place ask for.
std::vector<std::pair<Symbol, Span>> flags_around(const ir::Module& module, Span place) {
  std::vector<std::pair<Symbol, Span>> result;
  for (const Stmt& stmt : module.stmts) {
    if (stmt.kind != StmtKind::If || !stmt.span.contains(place)) continue;
    const Span test = module.expr(stmt.a).span;
    for (const Expr& expr : module.exprs) {
      if (expr.kind == ExprKind::Attribute && test.contains(expr.span) && is_self(module, expr) &&
          expr.name != names::training)
        result.emplace_back(expr.name, expr.span);
    }
  }
  return result;
}

// Where the constructor of a class sets an attribute to True.
std::vector<std::pair<Symbol, Span>> set_by_constructor(const ClassObject& cls) {
  std::vector<std::pair<Symbol, Span>> result;
  const ir::Module& module = *cls.module;
  for (const ir::Function& function : module.functions) {
    if (function.name != names::init || !function.owner || &module.cls(function.owner) != cls.cls) continue;
    for (const Stmt& stmt : module.stmts) {
      if (stmt.kind != StmtKind::Assign || !function.span.contains(stmt.span)) continue;
      if (module.expr(stmt.a).kind != ExprKind::True) continue;
      const Expr& target = module.expr(module.list(stmt.items)[0]);
      if (target.kind == ExprKind::Attribute) result.emplace_back(target.name, stmt.span);
    }
  }
  return result;
}

// All statements of the class family that a private flag needs; others may be used by anybody.
std::vector<Location> statements_of_flag(const ClassObject& cls, const ir::Module& reader, Symbol flag) {
  if (!flag.text().starts_with("_")) return {};
  std::vector<const ir::Module*> family = {&reader};
  for (const ClassObject* base : cls.mro) {
    if (base->cls && base->module && std::ranges::find(family, base->module) == family.end())
      family.push_back(base->module);
  }
  std::vector<Location> result;
  for (const ir::Module* module : family) {
    const auto uses = uses_of_flag(*module, flag);
    if (!uses) return {};
    result.insert(result.end(), uses->begin(), uses->end());
  }
  return result;
}

}  // namespace

std::optional<std::vector<Location>> uses_of_flag(const ir::Module& module, Symbol flag) {
  std::vector<Span> left;  // where it stands
  for (const Expr& expr : module.exprs) {
    if (expr.kind == ExprKind::Attribute && expr.name == flag) left.push_back(expr.span);
  }
  if (left.size() != mentions(module, flag.text())) return std::nullopt;  // getattr(self, "_flag")
  std::vector<Location> result;
  for (const Stmt& stmt : module.stmts) {
    Span explained;
    if (stmt.kind == StmtKind::Assign && stmt.items.count == 1) {
      const Expr& target = module.expr(module.list(stmt.items)[0]);
      const ExprKind value = module.expr(stmt.a).kind;
      if (target.kind != ExprKind::Attribute || target.name != flag || !is_self(module, target)) continue;
      if (value != ExprKind::True && value != ExprKind::False) return std::nullopt;
      explained = target.span;
      result.push_back({&module, stmt.span});
    } else if (stmt.kind == StmtKind::If && stmt.body.count == 1 && stmt.orelse.count == 0) {
      const Stmt& only = module.stmt(*module.block(stmt.body).begin());
      if (!is_marking(module, only)) continue;
      explained = module.expr(stmt.a).span;
      if (std::ranges::none_of(left, [&](Span span) { return explained.contains(span); })) continue;
      result.push_back({&module, only.span});
    } else {
      continue;
    }
    std::erase_if(left, [&](Span span) { return explained.contains(span); });
  }
  if (!left.empty()) return std::nullopt;
  return result;
}

void look_for_other_users(std::span<Event> events, std::span<const ir::Module* const> modules) {
  std::unordered_map<std::string, std::vector<const ir::Module*>> mentioning;  // by flag
  for (Event& event : events) {
    if (event.kind != EventKind::RequiresGradFlag || event.statements.empty()) continue;
    auto [known, is_first] = mentioning.try_emplace(event.callee);
    if (is_first) {
      std::ranges::copy_if(modules, std::back_inserter(known->second),
                           [&](const ir::Module* module) { return mentions(*module, event.callee) != 0; });
    }
    const std::string_view cls = std::string_view(event.function).substr(0, event.function.find('.'));
    for (const ir::Module* module : known->second) {
      const bool looked_at =
          std::ranges::any_of(event.statements, [&](const Location& where) { return where.module == module; });
      if (looked_at || mentions(*module, cls) == 0) continue;
      const auto uses = uses_of_flag(*module, Symbol::intern(event.callee));
      if (!uses) {
        event.statements.clear();
        break;
      }
      event.statements.insert(event.statements.end(), uses->begin(), uses->end());
    }
  }
}

void Interpreter::report_requires_grad_flag(Span assignment) {
  const ir::Module& module = *frame_->module;
  const Value self = frame_->self;
  const ClassObject* cls = self && self->kind == Kind::Instance ? as<InstanceObject>(self)->cls : frame_->owner;
  if (!cls) return;
  const auto flags = flags_around(module, assignment);
  if (flags.empty()) return;
  for (const ClassObject* base : cls->mro) {
    if (!base->cls || !base->module) continue;
    for (const auto& [name, place] : set_by_constructor(*base)) {
      auto read = std::ranges::find(flags, name, &std::pair<Symbol, Span>::first);
      if (read == flags.end()) continue;
      Event flag = event(EventKind::RequiresGradFlag, read->second);
      flag.condition.clear();
      flag.callee = name.text();
      flag.subject = "self." + std::string(name.text());
      flag.related.push_back({{base->module, place}, "the flag is set here"});
      flag.related.push_back({{&module, assignment}, "it serves to mark a tensor in every training step"});
      flag.statements = statements_of_flag(*cls, module, name);
      emit(std::move(flag));
    }
  }
}

}  // namespace fullgraph::trace
