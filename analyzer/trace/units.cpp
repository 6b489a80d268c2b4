#include "analyzer/trace/units.h"

#include <algorithm>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"

namespace fullgraph::trace {

ModuleFacts facts_of(const ir::Module& module) {
  static const std::unordered_set<ir::Symbol> interesting = [] {
    std::unordered_set<ir::Symbol> names;
    for (const char* name : {"register_full_backward_hook", "register_backward_hook", "register_full_backward_pre_hook",
                             "register_module_full_backward_hook", "checkpoint", "checkpoint_sequential",
                             "gradient_checkpointing_enable", "register_post_accumulate_grad_hook"})
      names.insert(ir::Symbol::intern(name));
    return names;
  }();
  // In C++: a block that a CUDA graph captures, a function that is the kernel of an operator.
  static const ir::Symbol capture = ir::Symbol::intern("capture");
  const bool cxx = module.recording == ir::Recording::Cxx;
  static const ir::Symbol torch = ir::Symbol::intern("torch"), compile = ir::Symbol::intern("compile");
  ModuleFacts result;
  std::vector<ir::Span> places;
  for (const ir::Expr& expr : module.exprs) {
    if (expr.kind == ir::ExprKind::Call) {
      const ir::Expr& callee = module.expr(expr.a);
      if (callee.kind == ir::ExprKind::Name || callee.kind == ir::ExprKind::Attribute)
        result.called.insert(callee.name);
    }
    if (expr.kind == ir::ExprKind::Attribute && expr.name == compile) {
      const ir::Expr& object = module.expr(expr.a);
      if (object.kind == ir::ExprKind::Name && object.name == torch) {
        result.compiles = true;
        places.push_back(expr.span);
      }
    }
    if ((expr.kind == ir::ExprKind::Attribute || expr.kind == ir::ExprKind::Name) && interesting.contains(expr.name))
      places.push_back(expr.span);
    if (cxx && expr.kind == ir::ExprKind::Attribute && expr.name == capture) places.push_back(expr.span);
  }
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[i];
    if (function.parent || function.lambda_body) continue;
    bool within = std::any_of(places.begin(), places.end(), [&](ir::Span place) {
      return place.begin >= function.span.begin && place.end <= function.span.end;
    });
    if (within) result.sets_up.push_back({static_cast<std::uint32_t>(i)});
  }
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[i];
    if (function.name == names::forward && function.owner && !function.parent)
      result.roots.push_back({&module, function.owner, &function});
    if (function.name == names::forward && !function.owner && module.recording == ir::Recording::Graph)
      result.graphs.push_back({static_cast<std::uint32_t>(i)});
    if (cxx && !function.owner && !function.parent && function.decorators.count > 0)
      result.graphs.push_back({static_cast<std::uint32_t>(i)});
  }
  auto has_forward = [&](ir::ClassId cls) {
    return std::ranges::any_of(result.roots, [&](const ModuleRoot& root) { return root.cls == cls; });
  };
  for (const ir::Function& function : module.functions) {
    if (!function.owner || function.parent || function.name.text().starts_with("__")) continue;
    const ir::Class& cls = module.cls(function.owner);
    if (cls.arguments.count > 0 && !cls.parent && !cls.owner && !has_forward(function.owner))
      result.heirs.emplace_back(function.owner, &function);
  }
  return result;
}

// A project that compiles things itself decides what is a root; a model library, where that is the exception, does not.
bool roots_are_modules(std::size_t compiling, std::size_t defining, Roots choice) {
  if (choice != Roots::Auto) return choice == Roots::Modules;
  constexpr std::size_t library = 20;
  return compiling == 0 || defining > library * compiling;
}

Trail run_unit(Interpreter& interpreter, const Unit& unit) {
  Trail out;
  switch (unit.kind) {
    case Unit::Kind::Class:
      interpreter.trace_module_root(*unit.module, {unit.id});
      break;
    case Unit::Kind::Graph:
      interpreter.trace_function_root(*unit.module, {unit.id});
      break;
    case Unit::Kind::Scan:
      if (unit.script) interpreter.run_script(*unit.module);
      for (const ir::FunctionId function : unit.scanned) interpreter.scan_function(*unit.module, function);
      break;
  }
  out.events = std::exchange(interpreter.events(), {});
  if (unit.kind != Unit::Kind::Scan)
    out.reached.assign(interpreter.functions_of_root().begin(), interpreter.functions_of_root().end());
  return out;
}

}  // namespace fullgraph::trace
