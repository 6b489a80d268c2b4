// Objects whose class is not in source and has no model of its own: a lock, a thread, a buffer, an optimizer, a storage.
// What Dynamo does with their methods are records of the profile, so all that is followed here is which object is which.
// Beside them the tensor facts that Dynamo keeps as objects: a tensor's address and an autograd.Function's two passes.
#include <algorithm>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"
#include "analyzer/trace/one_of.h"

namespace fullgraph::trace {

using ir::Symbol;

namespace {

constexpr std::string_view kAddress = "torch.Tensor.data_ptr";
constexpr std::string_view kCoroutine = "types.CoroutineType";

bool is_address(Value value) { return value->kind == Kind::Instance && as<InstanceObject>(value)->cls->name == kAddress; }

}  // namespace

InstanceObject* Interpreter::opaque_instance(std::string_view cls) {
  auto* instance = heap_.make<InstanceObject>(external_class(std::string(cls)));
  instance->opaque = true;
  return instance;
}

// What a call of this callable makes, where the profile says so; else null.
Value Interpreter::external_instance(std::string_view callable) {
  std::string_view cls = profile_.instance_class(callable);
  return cls.empty() ? nullptr : opaque_instance(cls);
}

// The record of a method that a class outside the program gives to its instances.
const profile::Callable* Interpreter::profiled_method(const ClassObject* cls, std::string_view name) const {
  for (const ClassObject* base : cls->mro) {
    if (base->cls || base->is_module || base->name.starts_with("builtins.")) continue;
    if (const profile::Callable* found = profile_.callable(base->name + "." + std::string(name))) return found;
  }
  return nullptr;
}

Value Interpreter::call_profiled_method(const InstanceObject* instance, std::string_view name, const Arguments& arguments) {
  if (instance->cls->name == "contextlib.ExitStack" && name == "enter_context" && !arguments.positional.empty()) return enter_on_stack(arguments.positional.front(), arguments.span);
  const profile::Callable* method = profiled_method(instance->cls, name);
  if (!method) return nullptr;
  report_profiled(std::string(method->name), arguments);
  switch (method->returns) {
    case profile::Returns::Bool: return heap_.typed(Kind::Bool);
    case profile::Returns::Int: return heap_.typed(Kind::Int);
    case profile::Returns::Float: return heap_.typed(Kind::Float);
    case profile::Returns::String: return heap_.typed(Kind::Str);
    case profile::Returns::None: return heap_.none;
    default: return heap_.unknown;
  }
}

// Python:  stack.enter_context(torch.no_grad())
// ExitStack's own Python is traced, and calls the manager's __enter__ through its type. A generator or a class in source
// takes that; of the managers that Dynamo has a model for, it has no such function.
Value Interpreter::enter_on_stack(Value manager, ir::Span span) {
  if (manager->kind == Kind::Instance && class_attribute(as<InstanceObject>(manager)->cls, names::enter)) return call_method(manager, "__enter__", {});
  if (manager->kind != Kind::Context) return heap_.unknown;
  const std::string& name = as<ContextObject>(manager)->name;
  std::string_view id;
  if (one_of(name, {"no_grad", "enable_grad", "set_grad_enabled"})) id = "GB0007";
  if (name == "nullcontext") id = "GB0147";
  if (name == "autocast") id = "GB0467";
  if (!id.empty()) graph_break(id == "GB0007" ? EventKind::SkippedCall : EventKind::Unsupported, span, id, "contextlib.ExitStack.enter_context", text(span));
  Value value = as<ContextObject>(manager)->argument;
  return value ? value : heap_.unknown;
}

// ------------------------------------------------------------------------------------------------ coroutines

// Dynamo runs the body of `async def` where it is called and hands its result on in place of a coroutine.
Value Interpreter::make_coroutine() { return opaque_instance(kCoroutine); }

bool Interpreter::drive_coroutine(const InstanceObject* instance, std::string_view name, const Arguments& arguments) {
  if (instance->cls->name != kCoroutine || !one_of(name, {"send", "throw", "close"})) return false;
  graph_break(EventKind::Unsupported, arguments.span, "GB6270", name, text(arguments.span), "Dynamo has run the coroutine already");
  return true;
}

// ------------------------------------------------------------------------------------------------ addresses

// Python:  a.data_ptr() == b.data_ptr()
// Dynamo knows an address only as "that of this tensor": it can tell that one is itself, and nothing else.
Value Interpreter::address_of(TensorObject* tensor) {
  auto* address = opaque_instance(kAddress);
  address->payload = tensor;
  return address;
}

Value Interpreter::compare_addresses(ir::CompareOp op, Value left, Value right, ir::Span span) {
  if (!is_address(left) && !is_address(right)) return nullptr;
  if (op != ir::CompareOp::Eq && op != ir::CompareOp::NotEq) return calculate_address(left, right, span);
  if (is_address(left) && is_address(right) && as<InstanceObject>(left)->payload == as<InstanceObject>(right)->payload)
    return heap_.boolean(op == ir::CompareOp::Eq);
  graph_break(EventKind::Unsupported, span, "GB5976", kAddress, text(span));
  return heap_.typed(Kind::Bool);
}

Value Interpreter::calculate_address(Value left, Value right, ir::Span span) {
  if (!is_address(left) && !is_address(right)) return nullptr;
  graph_break(EventKind::Unsupported, span, "GB0088", kAddress, text(span));
  return heap_.typed(Kind::Int);
}

// ------------------------------------------------------------------------------------------------ autograd.Function

// An autograd.Function: where a gradient is wanted Dynamo traces both of its passes as the bodies of one operator, else
// its forward alone.
Value Interpreter::apply_function(ClassObject* cls, Arguments& arguments) {
  Value forward = class_attribute(cls, names::forward);
  if (!forward) return heap_.tensor(Origin::Intermediate);
  if (forward->kind == Kind::StaticMethod) forward = as<PropertyObject>(forward)->getter;
  const Truth needs = requires_grad_of(arguments);
  const bool both = traced() && needs == Truth::Yes && truth(grad_mode_) == std::optional(true);
  if (both && report_unsupported_function(cls, arguments)) return heap_.tensor(Origin::Intermediate);
  InstanceObject* context = opaque_instance("torch.autograd.function.FunctionCtx");
  Arguments passed = arguments;
  bool separate_context = class_attribute(cls, Symbol::intern("setup_context")) != nullptr;
  if (!separate_context) {
    passed.positional.insert(passed.positional.begin(), context);
    passed.positional_spans.insert(passed.positional_spans.begin(), arguments.span);
  }
  Value saved = grad_mode_;
  grad_mode_ = heap_.no;
  Value result = call(forward, passed);
  if (both && !raised_ && traced() && !separate_context) run_backward(cls, context, result, arguments);
  grad_mode_ = saved;
  if (result->kind == Kind::Tensor) {
    auto* tensor = heap_.make<TensorObject>(*as<TensorObject>(result));
    tensor->requires_grad = needs;
    return tensor;
  }
  return result;
}

// What Dynamo refuses before it looks at either pass.
bool Interpreter::report_unsupported_function(ClassObject* cls, const Arguments& arguments) {
  for (const auto& [name, id] : {std::pair{"vjp", "GB0145"}, std::pair{"jvp", "GB0144"}}) {
    if (!class_attribute(cls, Symbol::intern(name))) continue;
    graph_break(EventKind::Unsupported, arguments.span, id, cls->name + ".apply", text(arguments.span), std::string("it defines `") + name + "`");
    return true;
  }
  std::vector<Value> seen;
  for (Value value : arguments.positional) {
    if (value->kind != Kind::Tensor) continue;
    if (std::find(seen.begin(), seen.end(), value) != seen.end()) {
      graph_break(EventKind::Unsupported, arguments.span, "GB6297", cls->name + ".apply", text(arguments.span));
      return true;
    }
    seen.push_back(value);
  }
  return false;
}

void Interpreter::run_backward(ClassObject* cls, Value context, Value result, const Arguments& arguments) {
  Value backward = class_attribute(cls, names::backward);
  if (backward && backward->kind == Kind::StaticMethod) backward = as<PropertyObject>(backward)->getter;
  if (!backward || backward->kind != Kind::Function) return;
  Arguments passed;
  passed.span = arguments.span;
  passed.module = arguments.module;
  passed.positional.push_back(context);
  auto gradient_of = [&](Value output) -> Value {
    if (output->kind != Kind::Tensor) return heap_.unknown;
    auto* gradient = heap_.tensor(Origin::Intermediate);
    gradient->dtype = as<TensorObject>(output)->dtype;
    gradient->dtype_name = as<TensorObject>(output)->dtype_name;
    gradient->shape = as<TensorObject>(output)->shape;
    gradient->requires_grad = Truth::No;
    return gradient;
  };
  if (result->kind == Kind::Tuple && as<SequenceObject>(result)->exact) {
    for (Value output : as<SequenceObject>(result)->items) passed.positional.push_back(gradient_of(output));
  } else if (result->kind == Kind::Tensor) {
    passed.positional.push_back(gradient_of(result));
  } else {
    return;  // how many gradients there are is not known
  }
  passed.positional_spans.assign(passed.positional.size(), arguments.span);
  auto mark = heap_.mark();
  call(backward, passed);
  raised_ = nullptr;
  heap_.weaken(heap_.take(mark));
}

}  // namespace fullgraph::trace
