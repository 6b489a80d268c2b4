// Objects whose class is not in source and has no model of its own: a lock, a thread, a buffer, an optimizer, a
// storage. What Dynamo does with their methods are records of the profile, so all that is followed here is which object
// is which. Beside them the tensor facts that Dynamo keeps as objects: a tensor's address and an autograd.Function's
// two passes.
#include <algorithm>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"
#include "analyzer/trace/one_of.h"
#include "analyzer/trace/returns.h"

namespace fullgraph::trace {

using ir::Symbol;

namespace {

constexpr std::string_view kAddress = "torch.Tensor.data_ptr";
constexpr std::string_view kCoroutine = "types.CoroutineType";

bool is_address(Value value) {
  return value->kind == Kind::Instance && as<InstanceObject>(value)->cls->name == kAddress;
}

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

Value Interpreter::call_profiled_method(const InstanceObject* instance, std::string_view name,
                                        const Arguments& arguments) {
  if (instance->cls->name == "contextlib.ExitStack" && name == "enter_context" && !arguments.positional.empty())
    return enter_on_stack(arguments.positional.front(), arguments.span);
  if (instance->cls->name == "torch.library.Library" && instance->payload) {
    library_method(instance, name, arguments);
    return heap_.unknown;
  }
  const profile::Callable* method = profiled_method(instance->cls, name);
  if (!method) return nullptr;
  report_profiled(std::string(method->name), arguments);
  // The profiler that the region made is wanted by what goes on after the break, which Dynamo cannot hand it to.
  if (instance->cls->name == "torch.profiler.profile" && instance->serial > region_serial_)
    graph_break(EventKind::Unsupported, arguments.span, "GB0212", method->name, text(arguments.span));
  if (Value scalar = scalar_of(heap_, method->returns)) return scalar;
  return method->returns == profile::Returns::None ? heap_.none : heap_.unknown;
}

// A class's own __getattribute__ is traced at each attribute that is read; what it finds is taken to be what is there.
// One attribute shows what it does: the others of a root are not followed.
void Interpreter::run_getattribute(InstanceObject* instance, Symbol name) {
  Value reader = class_attribute(instance->cls, names::getattribute);
  if (!reader || reader->kind != Kind::Function || !readers_run_.insert(reader).second) return;
  for (const Frame* frame = frame_; frame; frame = frame->caller) {
    if (frame->object == reader) return;
  }
  call_value(heap_.make<MethodObject>(instance, reader), {heap_.string(name.text())});
  raised_ = nullptr;
}

// Python:  stack.enter_context(torch.no_grad())
// ExitStack's own Python is traced, and calls the manager's __enter__ through its type. A generator or a class in
// source takes that; of the managers that Dynamo has a model for, it has no such function.
Value Interpreter::enter_on_stack(Value manager, ir::Span span) {
  if (manager->kind == Kind::Instance && class_attribute(as<InstanceObject>(manager)->cls, names::enter))
    return call_method(manager, "__enter__", {});
  if (manager->kind != Kind::Context) return heap_.unknown;
  const std::string& name = as<ContextObject>(manager)->name;
  std::string_view id;
  if (one_of(name, {"no_grad", "enable_grad", "set_grad_enabled"})) id = "GB0007";
  if (name == "nullcontext") id = "GB0147";
  if (name == "autocast") id = "GB0467";
  if (!id.empty())
    graph_break(id == "GB0007" ? EventKind::SkippedCall : EventKind::Unsupported, span, id,
                "contextlib.ExitStack.enter_context", text(span));
  Value value = as<ContextObject>(manager)->argument;
  return value ? value : heap_.unknown;
}

// ------------------------------------------------------------------------------------------------ coroutines

// Dynamo runs the body of `async def` where it is called and hands its result on in place of a coroutine.
Value Interpreter::make_coroutine() {
  return opaque_instance(kCoroutine);
}

bool Interpreter::drive_coroutine(const InstanceObject* instance, std::string_view name, const Arguments& arguments) {
  if (instance->cls->name != kCoroutine || !one_of(name, {"send", "throw", "close"})) return false;
  graph_break(EventKind::Unsupported, arguments.span, "GB6270", name, text(arguments.span),
              "Dynamo has run the coroutine already");
  return true;
}

// ------------------------------------------------------------------------------------------------ addresses

// Python:  a.data_ptr() == b.data_ptr()
// Dynamo knows an address only as "that of this tensor": it can tell that one is itself, and nothing else.
Value Interpreter::address_of(TensorObject* tensor) {
  auto* address = opaque_instance(kAddress);
  address->payload = tensor->alias_of ? tensor->alias_of : tensor;
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

// ------------------------------------------------------------------------------------------------ operators

// Python:  torch.add(a, b, out=buffer)
// Dynamo follows no change of the buffer's shape. Shapes are compared where both are certain: between tensors of one
// shape, and of products of matrices.
void Interpreter::report_out_shape(const std::string& name, const Arguments& arguments) {
  Value out = arguments.keyword("out");
  if (!traced() || out->kind != Kind::Tensor || arguments.positional.empty()) return;
  std::string_view plain = std::string_view(name).substr(name.rfind('.') + 1);
  auto is_certain = [](const Shape& shape) {
    return shape && std::ranges::all_of(*shape, [](auto size) { return size >= 0; });
  };
  Shape result;
  for (Value value : arguments.positional) {
    if (value->kind != Kind::Tensor || !is_certain(as<TensorObject>(value)->shape)) return;
    if (one_of(plain, {"matmul", "mm", "bmm"})) continue;
    if (result && *result != *as<TensorObject>(value)->shape) return;
    result = as<TensorObject>(value)->shape;
  }
  if (one_of(plain, {"matmul", "mm", "bmm"})) {
    Value product = operator_result(profile_.callable(name), plain, arguments, nullptr);
    if (product->kind == Kind::Tensor) result = as<TensorObject>(product)->shape;
  } else if (!one_of(plain, {"add", "sub", "mul", "div", "pow", "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid",
                             "abs", "neg", "clamp", "maximum", "minimum"})) {
    return;
  }
  const Shape& given = as<TensorObject>(out)->shape;
  if (is_certain(result) && is_certain(given) && *result != *given)
    graph_break(EventKind::Unsupported, arguments.span, "GB0247", name, text(arguments.span));
}

// Python:  LIB.define("twice(Tensor x) -> Tensor");  LIB.impl("twice", twice, "CPU")
//          @torch.library.custom_op("mine::twice", mutates_args=())
// An operator of one's own that has kernels for devices only: what it returns Dynamo cannot tell without running it.
// Who registers a fake kernel does so beside the operator, so only its own module is looked at.
Value Interpreter::library_call(const std::string& name, const Arguments& arguments) {
  std::string_view plain = std::string_view(name).substr(name.rfind('.') + 1);
  Value first = arguments.get(0, {});
  const bool named = first && first->kind == Kind::Str && first->known;
  if (plain == "Library" && named) {
    auto* library = opaque_instance(name);
    library->payload = first;
    return library;
  }
  if (plain == "custom_op" && named) {
    auto* decorator = heap_.make<PartialObject>(external("fullgraph.custom_op"));
    decorator->arguments = {first};
    return arguments.positional.size() > 1 ? call_value(decorator, {arguments.positional[1]}) : decorator;
  }
  if (plain == "register_fake" || plain == "impl_abstract") {
    if (named) operators_[as<StrObject>(first)->value].faked = true;
    if (first && first->kind == Kind::Function) operators_[as<FunctionObject>(first)->operator_name].faked = true;
    return external("fullgraph.identity");
  }
  return nullptr;
}

void Interpreter::library_method(const InstanceObject* library, std::string_view name, const Arguments& arguments) {
  Value first = arguments.get(0, {});
  if (!first || first->kind != Kind::Str || !first->known) return;
  std::string full = as<StrObject>(library->payload)->value + "::" + as<StrObject>(first)->value;
  Operator& op = operators_[full.substr(0, full.find('('))];
  if (name == "define") op.module = frame_->module;
  if (name != "impl") return;
  Value key = arguments.get(2, "dispatch_key");
  const bool device = key && key->kind == Kind::Str && key->known &&
                      one_of(as<StrObject>(key)->value, {"CPU", "CUDA", "XPU", "MPS", "HPU", "PrivateUse1"});
  if (device)
    op.kernel = true;
  else
    op.faked = true;
}

// The function behind a custom_op: called like the function it decorates, but its body is not traced.
Value Interpreter::make_operator(const Arguments& arguments) {
  Value function = arguments.get(1, {});
  if (!function || function->kind != Kind::Function) return function ? function : heap_.unknown;
  auto* result = heap_.make<FunctionObject>(*as<FunctionObject>(function));
  result->allowed = true;
  result->operator_name = as<StrObject>(arguments.positional.front())->value;
  Operator& op = operators_[result->operator_name];
  op.module = result->module;
  op.kernel = true;
  const ir::ExprId returns = result->function->returns;
  op.faked = op.faked || !returns || result->module->expr(returns).kind == ir::ExprKind::None;
  return result;
}

void Interpreter::report_missing_fake(const Operator& op, std::string_view name, ir::Span span) {
  if (!op.kernel || op.faked || !traced()) return;
  Event call = event(EventKind::Unsupported, span);
  call.gb_id = "GB0090";
  call.callee = name;
  call.subject = text(span);
  call.detail = "it has no fake kernel";
  if (op.native) call.related.push_back({*op.native, "the operator is defined here"});
  graph_break(std::move(call));
}

// ------------------------------------------------------------------------------------------------ autograd.Function

// Runs what happens only while gradients are recorded, under that condition where it is not known.
void Interpreter::with_gradients(const std::function<void()>& body) {
  auto on = truth(grad_mode_);
  if (on == std::optional(true)) body();
  if (on || !grad_mode_->sym) return;
  Condition recording;
  recording.kind = Condition::Kind::Atom;
  recording.sym = grad_mode_->sym;
  branch(
      recording,
      [&]() -> Flows {
        body();
        return kNormal;
      },
      []() -> Flows { return kNormal; });
}

// An autograd.Function: where a gradient is wanted Dynamo traces both of its passes as the bodies of one operator, else
// its forward alone.
Value Interpreter::apply_function(ClassObject* cls, Arguments& arguments) {
  Value forward = class_attribute(cls, names::forward);
  if (!forward) return heap_.tensor(Origin::Intermediate);
  if (forward->kind == Kind::StaticMethod) forward = as<PropertyObject>(forward)->getter;
  if (in_cxx()) note_cxx_function(cls, arguments);
  const Truth needs = requires_grad_of(arguments);
  bool refused = false;
  const bool both = traced() && needs == Truth::Yes;
  if (both) with_gradients([&] { refused = report_unsupported_function(cls, arguments); });
  if (refused) {
    auto* result = heap_.tensor(Origin::Intermediate);
    result->requires_grad = needs;
    return result;
  }
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
  grad_mode_ = saved;
  if (both && !raised_)
    with_gradients([&] { run_backward(cls, separate_context ? nullptr : context, result, arguments); });
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
    graph_break(EventKind::Unsupported, arguments.span, id, cls->name + ".apply", text(arguments.span),
                std::string("it defines `") + name + "`");
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
  passed.positional.push_back(context ? context : opaque_instance("torch.autograd.function.FunctionCtx"));
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
  Value saved = std::exchange(grad_mode_, heap_.no);
  call(backward, passed);
  grad_mode_ = saved;
  raised_ = nullptr;
  heap_.weaken(heap_.take(mark));
}

}  // namespace fullgraph::trace
