// Python's scoping rules over one hash table of (scope, name).
#include "analyzer/python/scopes.h"

#include <algorithm>

namespace fullgraph::python {

using ir::FunctionId;
using ir::Scope;
using ir::Symbol;

Scopes::Scopes() : scopes_{{ScopeKind::Module, module_scope, {}}}, entries_(256) {
  uses_.reserve(1024);
}

ScopeId Scopes::open(ScopeKind kind, ScopeId parent, FunctionId function) {
  scopes_.push_back({kind, parent, function});
  return static_cast<ScopeId>(scopes_.size() - 1);
}

void Scopes::bind_named_expression(ScopeId scope, Symbol name) {
  bind(holder_of_comprehension(scope), name);
}

Scopes::Entry& Scopes::entry(ScopeId scope, Symbol name) {
  if ((used_ + 1) * 2 > entries_.size()) grow();
  const std::uint64_t key = key_of(scope, name);
  const std::size_t mask = entries_.size() - 1;
  std::size_t at = key * 0x9E3779B97F4A7C15ull >> 32 & mask;
  while (entries_[at].key != 0 && entries_[at].key != key) at = (at + 1) & mask;
  if (entries_[at].key == 0) entries_[at] = {key, no_slot, used_++, 0};
  return entries_[at];
}

const Scopes::Entry* Scopes::find(ScopeId scope, Symbol name) const {
  const std::uint64_t key = key_of(scope, name);
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t at = key * 0x9E3779B97F4A7C15ull >> 32 & mask; entries_[at].key != 0; at = (at + 1) & mask) {
    if (entries_[at].key == key) return &entries_[at];
  }
  return nullptr;
}

void Scopes::grow() {
  std::vector<Entry> old(entries_.size() * 2);
  old.swap(entries_);
  const std::size_t mask = entries_.size() - 1;
  for (const Entry& moved : old) {
    if (moved.key == 0) continue;
    std::size_t at = moved.key * 0x9E3779B97F4A7C15ull >> 32 & mask;
    while (entries_[at].key != 0) at = (at + 1) & mask;
    entries_[at] = moved;
  }
}

// The scope around a comprehension and those around it: where its targets get a slot, if that is a function.
ScopeId Scopes::holder_of_comprehension(ScopeId scope) const {
  while (scopes_[scope].kind == ScopeKind::Comprehension) scope = scopes_[scope].parent;
  return scope;
}

void Scopes::assign_slots(ir::Module& module) {
  std::vector<Entry*> in_order;
  in_order.reserve(used_);
  for (Entry& entry : entries_) {
    if (entry.key != 0 && entry.flags == bound) in_order.push_back(&entry);
  }
  std::ranges::sort(in_order, {}, &Entry::order);
  // Comprehension targets come after all other names of the function, hence two rounds.
  for (const ScopeKind round : {ScopeKind::Function, ScopeKind::Comprehension}) {
    for (Entry* const entry : in_order) {
      const auto scope = static_cast<ScopeId>(entry->key >> 32) - 1;
      if (scopes_[scope].kind != round) continue;
      const FunctionId function = scopes_[holder_of_comprehension(scope)].function;
      if (!function) continue;
      std::vector<Symbol>& locals = module.functions[function.index].locals;
      if (locals.size() > UINT16_MAX) continue;
      entry->slot = static_cast<std::uint32_t>(locals.size());
      locals.push_back({static_cast<std::uint32_t>(entry->key)});
    }
  }
  for (ir::Function& function : module.functions) function.locals.shrink_to_fit();
}

Scopes::Meaning Scopes::meaning(ScopeId scope, Symbol name) const {
  bool left_function = false;
  bool class_visible = true;  // a class body's names are seen by the class body alone
  for (;; scope = scopes_[scope].parent) {
    const ScopeKind kind = scopes_[scope].kind;
    if (kind == ScopeKind::Module) return {};
    const Entry* const found = kind == ScopeKind::Class && !class_visible ? nullptr : find(scope, name);
    if (found != nullptr && (found->flags & global) != 0) return {};
    if (found != nullptr && (found->flags & nonlocal) == 0) {
      if (kind == ScopeKind::TypeParameters) return {};
      if (kind == ScopeKind::Class) return {Scope::ClassBody, 0};
      if (found->slot != no_slot) return {left_function ? Scope::Enclosing : Scope::Local, found->slot};
      const bool in_class = scopes_[holder_of_comprehension(scope)].kind == ScopeKind::Class;
      return {in_class && !left_function ? Scope::ClassBody : Scope::Global, 0};
    }
    if (kind == ScopeKind::Function) left_function = true;
    if (kind == ScopeKind::Function || kind == ScopeKind::Comprehension) class_visible = false;
  }
}

void Scopes::resolve(ir::Module& module) {
  assign_slots(module);
  for (const Use& use : uses_) {
    ir::Expr& name = module.exprs[use.name.index];
    const Meaning found = meaning(use.scope, name.name);
    name.op = static_cast<std::uint8_t>(found.scope);
    name.slot = static_cast<std::uint16_t>(found.slot);
  }
  for (const Info& info : scopes_) {
    if (info.kind != ScopeKind::Function) continue;
    const auto scope = static_cast<ScopeId>(&info - scopes_.data());
    const ir::Function& function = module.function(info.function);
    for (std::uint32_t index = 0; index < function.params.count; ++index) {
      ir::Param& param = module.params[function.params.first + index];
      const Entry* const found = find(scope, param.name);
      if (found != nullptr && found->slot != no_slot) param.slot = static_cast<std::uint16_t>(found->slot);
    }
  }
}

}  // namespace fullgraph::python
