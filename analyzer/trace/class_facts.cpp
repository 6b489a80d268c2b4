// What the source of a class says about its instances before any method but the constructor has run.
#include <algorithm>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"
#include "analyzer/trace/one_of.h"

namespace fullgraph::trace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Symbol;

namespace {

// `self.x` → x
Symbol attribute_of_self(const ir::Module& module, ExprId id) {
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
    for (ExprId target : module.list(stmt.items)) {
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

// parameters.setdefault("kind", given.get("type", "plain"))  →  "plain", in the end
ExprId default_in(const ir::Module& module, ExprId id) {
  const Expr& expr = module.expr(id);
  if (expr.kind != ExprKind::Call || expr.items.count != 2) return id;
  const Expr& callee = module.expr(expr.a);
  return callee.kind == ExprKind::Attribute && callee.name.text() == "get" ? module.list(expr.items)[1] : id;
}

}  // namespace

// An entry of a dictionary that an attribute holds, where nothing is known of the attribute but its class. What it
// usually is, the class says when it fills in what its user has left out.
Value Interpreter::entry_of_attribute(Value mapping, Value key) {
  if (mapping->kind != Kind::Unknown || !mapping->sym || key->kind != Kind::Str || !key->known) return heap_.unknown;
  const auto owner = attribute_owners_.find(mapping->sym);
  if (owner == attribute_owners_.end()) return heap_.unknown;
  const std::string& name = as<StrObject>(key)->value;
  Value usual = default_entry(*owner->second, name);
  if (!usual) return heap_.unknown;
  Value entry = heap_.typed(usual->kind, heap_.sym(mapping->sym->text + "[\"" + name + "\"]"));
  entry->usual = usual;
  return entry;
}

// Python:  parameters.setdefault("rope_type", "default")      in a method of the class: the one default of this key
Value Interpreter::default_entry(const ClassObject& cls, const std::string& key) {
  const auto [place, fresh] = default_entries_.try_emplace({&cls, key}, nullptr);
  if (!fresh) return place->second;
  std::optional<std::string> text;
  for (const ClassObject* base : cls.mro) {
    if (!base->cls) continue;
    const ir::Module& module = *base->module;
    for (const Expr& call : module.exprs) {
      if (call.kind != ExprKind::Call || call.items.count != 2 || !base->cls->span.contains(call.span)) continue;
      const Expr& callee = module.expr(call.a);
      if (callee.kind != ExprKind::Attribute || callee.name.text() != "setdefault") continue;
      const Expr& name = module.expr(module.list(call.items)[0]);
      if (name.kind != ExprKind::String || name.name.text() != key) continue;
      const Expr& value = module.expr(default_in(module, module.list(call.items)[1]));
      if (value.kind != ExprKind::String || (text && *text != value.name.text())) return nullptr;
      text = value.name.text();
    }
  }
  if (!text) return nullptr;
  const Heap::Persistent lasting(heap_);
  return place->second = heap_.string(*text);
}

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
