// Which variable a name means: Python's scoping rules.
//
// A name may be bound after its first use, and an inner function may use a name that the outer one binds later, so
// bindings and uses are only recorded while a module is lowered and resolved when all of it has been seen.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/ir/ir.h"

namespace fullgraph::python {

enum class ScopeKind : std::uint8_t {
  Module,
  Class,
  Function,
  Comprehension,
  TypeParameters,  // the names of `def f[T]`, `class C[T]`, `type A[T]`
};

using ScopeId = std::uint32_t;

class Scopes {
 public:
  static constexpr ScopeId module_scope = 0;

  Scopes();

  // `function` is the function that a scope of kind Function belongs to.
  ScopeId open(ScopeKind kind, ScopeId parent, ir::FunctionId function = {});
  void bind(ScopeId scope, ir::Symbol name) { entry(scope, name).flags |= bound; }
  // `:=` binds outside of comprehensions.
  void bind_named_expression(ScopeId scope, ir::Symbol name);
  void declare_global(ScopeId scope, ir::Symbol name) { entry(scope, name).flags |= global; }
  void declare_nonlocal(ScopeId scope, ir::Symbol name) { entry(scope, name).flags |= nonlocal; }
  void use(ScopeId scope, ir::ExprId name) { uses_.push_back({name, scope}); }

  // Fills Function::locals, Param::slot, and Expr::op and Expr::slot of all names.
  void resolve(ir::Module& module);

 private:
  static constexpr std::uint8_t bound = 1;
  static constexpr std::uint8_t global = 2;
  static constexpr std::uint8_t nonlocal = 4;
  static constexpr std::uint32_t no_slot = UINT32_MAX;

  struct Info {
    ScopeKind kind;
    ScopeId parent;
    ir::FunctionId function;
  };
  struct Entry {
    std::uint64_t key = 0;  // scope and symbol; 0 is free
    std::uint32_t slot = no_slot;
    std::uint32_t order = 0;  // when the name was first seen
    std::uint8_t flags = 0;
  };
  struct Use {
    ir::ExprId name;
    ScopeId scope;
  };
  struct Meaning {
    ir::Scope scope = ir::Scope::Global;
    std::uint32_t slot = 0;
  };

  static std::uint64_t key_of(ScopeId scope, ir::Symbol name) { return (std::uint64_t{scope} + 1) << 32 | name.id; }
  Entry& entry(ScopeId scope, ir::Symbol name);
  const Entry* find(ScopeId scope, ir::Symbol name) const;
  void grow();
  void assign_slots(ir::Module& module);
  ScopeId holder_of_comprehension(ScopeId scope) const;
  Meaning meaning(ScopeId scope, ir::Symbol name) const;

  std::vector<Info> scopes_;
  std::vector<Entry> entries_;  // open addressing; a power of two
  std::uint32_t used_ = 0;
  std::vector<Use> uses_;
};

}  // namespace fullgraph::python
