// What the source of a class says about its instances before any method but the constructor has run.
#include <algorithm>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"
#include "analyzer/trace/one_of.h"

namespace fullgraph::trace {

using ir::Expr;
using ir::ExprKind;
using ir::Symbol;

namespace {

// `self.x` → x
Symbol attribute_of_self(const ir::Module& module, ir::ExprId id) {
  const Expr& expr = module.expr(id);
  if (expr.kind != ExprKind::Attribute) return {};
  const Expr& object = module.expr(expr.a);
  return object.kind == ExprKind::Name && object.name.text() == "self" ? expr.name : Symbol{};
}

// Where the module's methods put something into a container that an attribute of `self` holds.
std::vector<std::pair<std::uint32_t, Symbol>> fillings_in(const ir::Module& module) {
  std::vector<std::pair<std::uint32_t, Symbol>> result;
  auto add = [&](Symbol attribute, ir::Span where) {
    if (attribute) result.emplace_back(where.begin, attribute);
  };
  for (const ir::Stmt& stmt : module.stmts) {
    if (stmt.kind != ir::StmtKind::Assign && stmt.kind != ir::StmtKind::AugAssign) continue;
    for (ir::ExprId target : module.list(stmt.items)) {
      const Expr& place = module.expr(target);
      if (place.kind == ExprKind::Subscript) add(attribute_of_self(module, place.a), place.span);
    }
  }
  for (const Expr& call : module.exprs) {
    if (call.kind != ExprKind::Call) continue;
    const Expr& callee = module.expr(call.a);
    if (callee.kind == ExprKind::Attribute && one_of(callee.name.text(), {"append", "extend", "insert", "update", "add",
                                                                          "setdefault", "add_module", "appendleft"}))
      add(attribute_of_self(module, callee.a), call.span);
  }
  return result;
}

}  // namespace

// Attributes whose containers methods other than the constructor fill.
const std::vector<Symbol>& Interpreter::filled_later(const ClassObject& cls) {
  auto [place, fresh] = filled_later_.try_emplace(cls.cls);
  if (!fresh) return place->second;
  auto [all, first] = fillings_.try_emplace(cls.module);
  if (first) all->second = fillings_in(*cls.module);
  for (const auto& [where, attribute] : all->second) {
    auto holds = [at = where](ir::Span span) { return at >= span.begin && at < span.end; };
    if (!holds(cls.cls->span)) continue;
    bool in_constructor = std::ranges::any_of(cls.module->functions, [&](const ir::Function& function) {
      return function.name == names::init && function.owner && &cls.module->cls(function.owner) == cls.cls &&
             holds(function.span);
    });
    if (!in_constructor) place->second.push_back(attribute);
  }
  return place->second;
}

// Python:  self.adapters = nn.ModuleDict({})        # in the constructor; add_adapter() fills it
// A library's model is compiled after somebody has filled its empty containers: what is in them is not known.
void Interpreter::open_containers(InstanceObject* instance) {
  if (entry_mode_ || frame_->region) return;
  for (const ClassObject* cls : instance->cls->mro) {
    if (!cls->cls) continue;
    for (Symbol attribute : filled_later(*cls)) {
      Value value = instance->attributes.get(attribute);
      if (!value) continue;
      Value container = value->kind == Kind::Instance ? as<InstanceObject>(value)->payload : value;
      if (!container) continue;
      if (container->kind == Kind::Dict && as<DictObject>(container)->entries.empty()) {
        heap_.change(as<DictObject>(container))->exact = false;
      } else if ((container->kind == Kind::List || container->kind == Kind::Set) &&
                 as<SequenceObject>(container)->items.empty()) {
        heap_.change(as<SequenceObject>(container))->exact = false;
      }
    }
  }
}

}  // namespace fullgraph::trace
