// What a project's own C++ gives to its Python: operators that say nothing of what they return, functions that are
// bound with pybind11. Both are seen by name alone.
#include "analyzer/trace/interpreter.h"

namespace fullgraph::trace {

void Interpreter::know_native_operators() {
  for (const auto& [name, where] : options_.native.operators_without_fake)
    operators_[name] = {.module = nullptr, .native = &where, .kernel = true, .faked = false};
}

// Null: none of the project's functions.
Value Interpreter::call_native_function(std::string_view name, const Arguments& arguments) {
  const auto& functions = options_.native.functions;
  if (functions.empty()) return nullptr;
  auto found = functions.find(std::string(name));
  // Where the build does not say in which package the extension lands, its own name is all there is.
  for (std::string_view rest = name; found == functions.end();) {
    const std::size_t dot = rest.find('.');
    if (dot == std::string_view::npos || rest.find('.', dot + 1) == std::string_view::npos) return nullptr;
    rest.remove_prefix(dot + 1);
    found = functions.find(std::string(rest));
  }
  if (!traced()) return heap_.unknown;
  Event call = event(EventKind::SkippedCall, arguments.span);
  call.gb_id = "GB0007";
  call.callee = name;
  call.subject = text(arguments.span);
  call.detail = "bound from C++; register an operator instead";
  call.related.push_back({found->second, "it is bound here"});
  graph_break(std::move(call));
  return heap_.unknown;
}

// Python:  extension = torch.utils.cpp_extension.load(name="extension", sources=[…])
// Null: nothing is known of what it builds.
Value Interpreter::load_native_module(const Arguments& arguments) {
  const Value name = arguments.get(0, "name");
  if (options_.native.functions.empty() || !name || name->kind != Kind::Str || !name->known) return nullptr;
  return module_value(as<StrObject>(name)->value);
}

}  // namespace fullgraph::trace
