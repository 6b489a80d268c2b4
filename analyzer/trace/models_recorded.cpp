// What recorded graphs are written in: operators by the names of their schemas, higher-order operators that run other
// graphs, TorchScript's own functions, and names that stand for something without an import.
//
// A recorded graph is what one run of export, scripting or Dynamo has made of a model. Some of what the model did left
// only a trace in it ("fingerprints"); these are told here, as events like any others.
#include <algorithm>
#include <array>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"

namespace fullgraph::trace {

using ir::Span;
using ir::Symbol;

namespace {

constexpr std::string_view operators = "torch.ops.", aten = "torch.ops.aten.", higher_order = "torch.ops.higher_order.",
                           prim = "torch.ops.prim.";

// Names that code without imports uses: of FX text, and of TorchScript (torch/csrc/jit/frontend/builtin_functions.cpp,
// torch/csrc/jit/serialization/import_source.cpp).
struct GlobalName {
  std::string_view name, stands_for;
};
constexpr std::array<GlobalName, 20> global_names = {{{"torch", "torch"},
                                                      {"operator", "operator"},
                                                      {"math", "math"},
                                                      {"collections", "collections"},
                                                      {"device", "torch.device"},
                                                      {"ops", "torch.ops"},
                                                      {"__torch__", "__torch__"},
                                                      {"Tensor", "torch.Tensor"},
                                                      {"Module", "torch.nn.Module"},
                                                      {"List", "typing.List"},
                                                      {"Dict", "typing.Dict"},
                                                      {"Tuple", "typing.Tuple"},
                                                      {"Optional", "typing.Optional"},
                                                      {"Union", "typing.Union"},
                                                      {"Final", "typing.Annotated"},
                                                      {"Any", "typing.Any"},
                                                      {"annotate", "torch.jit.annotate"},
                                                      {"unchecked_cast", "torch.jit.annotate"},
                                                      {"uninitialized", "torch.jit.uninitialized"},
                                                      {"CONSTANTS", "CONSTANTS"}}};

bool is_flag(Value value, bool wanted) {
  return value && value->kind == Kind::Bool && value->known && as<BoolObject>(value)->value == wanted;
}

// None, or a rate of zero.
bool is_nothing(Value value) {
  if (!value || value->kind == Kind::None) return true;
  if (!value->known) return false;
  return (value->kind == Kind::Float && as<FloatObject>(value)->value == 0) ||
         (value->kind == Kind::Int && as<IntObject>(value)->value == 0);
}

bool is_body(Value value) {
  return value->kind == Kind::Class || (value->kind == Kind::Instance && as<InstanceObject>(value)->module);
}

Arguments without_first(const Arguments& arguments) {
  Arguments rest = arguments;
  if (!rest.positional.empty()) rest.positional.erase(rest.positional.begin());
  if (!rest.positional_spans.empty()) rest.positional_spans.erase(rest.positional_spans.begin());
  return rest;
}

// In-place operators end in one underscore; `__and__` does not count.
bool is_in_place(std::string_view op) {
  return op.ends_with('_') && !op.ends_with("__");
}

// "cuda:0": a device by its number is one of the machine that recorded it.
bool is_numbered_device(Value value) {
  return value && value->kind == Kind::Str && value->known &&
         as<StrObject>(value)->value.find(':') != std::string::npos;
}

}  // namespace

const ir::Origin* Interpreter::origin_at(Span span) const {
  return frame_->module->map ? frame_->module->map->at(span.begin) : nullptr;
}

Value Interpreter::recorded_global(Symbol name) {
  if (in_cxx()) return nullptr;
  for (const GlobalName& known : global_names) {
    if (name.text() == known.name) return module_value(std::string(known.stands_for));
  }
  if (name.text() == "inf" || name.text() == "nan") return heap_.typed(Kind::Float);
  return nullptr;
}

Value Interpreter::call_recorded(const std::string& name, Arguments& arguments) {
  if (name.starts_with(higher_order))
    return call_higher_order(std::string_view(name).substr(higher_order.size()), arguments);
  if (name.starts_with(aten)) {
    const std::string_view op = std::string_view(name).substr(aten.size());
    return call_operator(op.substr(0, op.find('.')), arguments);
  }
  if (name.starts_with(prim)) return call_script_function(std::string_view(name).substr(prim.size()), arguments);
  if (name == "torch.ops.cuda.synchronize" || name == "torch.cuda.synchronize") {
    report_recorded(EventKind::HostCopy, name, arguments, "waits");
    return heap_.none;
  }
  if (name.starts_with(operators)) return heap_.tensor(Origin::Intermediate);
  if (name == "builtins.object.__new__") {
    Value cls = arguments.get(0, {});
    if (!cls) return heap_.unknown;
    if (cls->kind == Kind::External) cls = external_class(as<ExternalObject>(cls)->name);
    if (cls->kind != Kind::Class) return heap_.unknown;
    InstanceObject* made = some_instance(as<ClassObject>(cls), nullptr);
    if (!made->module && !as<ClassObject>(cls)->cls) made->module.emplace();  // of a class that is not here
    return made;
  }
  // TorchScript branches on `bool(x)` where its author branched on x.
  if (name == "builtins.bool" && frame_->module->recording == ir::Recording::TorchScript) {
    Value value = arguments.get(0, {});
    return value && value->kind == Kind::Tensor ? value : nullptr;
  }
  if (name == "torch.jit.annotate") {
    Value value = arguments.get(1, {});
    return value ? value : heap_.unknown;
  }
  if (name == "torch.jit.uninitialized") return heap_.unknown;
  if (name == "torch.device") return arguments.get(0, {});
  // TorchScript calls every operator as a function: torch.item(x), torch.requires_grad_(h).
  constexpr std::string_view torch = "torch.";
  const bool plain = name.starts_with(torch) && name.find('.', torch.size()) == std::string::npos;
  if (!plain || frame_->module->recording != ir::Recording::TorchScript || !arguments.get(0, {})) return nullptr;
  return call_script_operator(std::string_view(name).substr(torch.size()), arguments);
}

// Python's own operators and the methods of its containers are calls in TorchScript: torch.eq(n, 3), torch.len(xs),
// torch.append(xs, x). What they do depends on what they are given.
Value Interpreter::call_script_operator(std::string_view op, Arguments& arguments) {
  struct Comparison {
    std::string_view op;
    ir::CompareOp means;
  };
  using ir::CompareOp, ir::BinaryOp;
  constexpr std::array<Comparison, 6> comparisons = {{{"eq", CompareOp::Eq},
                                                      {"ne", CompareOp::NotEq},
                                                      {"lt", CompareOp::Less},
                                                      {"le", CompareOp::LessEq},
                                                      {"gt", CompareOp::Greater},
                                                      {"ge", CompareOp::GreaterEq}}};
  struct Arithmetic {
    std::string_view op;
    BinaryOp means;
  };
  constexpr std::array<Arithmetic, 10> arithmetic = {{{"add", BinaryOp::Add},
                                                      {"sub", BinaryOp::Sub},
                                                      {"mul", BinaryOp::Mul},
                                                      {"div", BinaryOp::Div},
                                                      {"floordiv", BinaryOp::FloorDiv},
                                                      {"remainder", BinaryOp::Mod},
                                                      {"pow", BinaryOp::Pow},
                                                      {"__and__", BinaryOp::And},
                                                      {"__or__", BinaryOp::Or},
                                                      {"__xor__", BinaryOp::Xor}}};
  constexpr std::array<std::string_view, 15> methods = {"append",  "extend", "insert", "pop",    "remove",
                                                        "reverse", "clear",  "copy",   "count",  "keys",
                                                        "values",  "items",  "get",    "format", "split"};
  const Value first = arguments.get(0, {}), second = arguments.get(1, {});
  if (second && (op == "__is__" || op == "__isnot__"))
    return compare(op == "__is__" ? CompareOp::Is : CompareOp::IsNot, first, second, arguments.span);
  if (second && op == "__contains__") return compare(CompareOp::In, second, first, arguments.span);
  if (op == "len") return length(first);
  const bool is_tensor = first->kind == Kind::Tensor;
  if (op == "__not__") {
    const auto known = is_tensor ? std::nullopt : truth(first);
    return is_tensor ? first : known ? heap_.boolean(!*known) : heap_.typed(Kind::Bool);
  }
  if (is_tensor) return call_operator(op, arguments);
  if (second && second->kind != Kind::Tensor) {
    for (const Comparison& one : comparisons)
      if (op == one.op) return compare(one.means, first, second, arguments.span);
    for (const Arithmetic& one : arithmetic)
      if (op == one.op) return binary(one.means, first, second, arguments.span);
  }
  const bool has_methods = first->kind == Kind::List || first->kind == Kind::Dict || first->kind == Kind::Str;
  if (has_methods && std::ranges::find(methods, op) != methods.end())
    return call_method(first, op, without_first(arguments).positional);
  // Tracing calculates sizes by operators on tensors (see NumToTensor).
  const bool is_number = first->kind == Kind::Int || first->kind == Kind::Float;
  if (is_number && profile_.callable("torch.Tensor." + std::string(op))) return heap_.typed(first->kind);
  return nullptr;
}

// `op`: the name of the schema without namespace and overload.
Value Interpreter::call_operator(std::string_view op, Arguments& arguments) {
  if (op == "_unique2" || op == "unique_dim") op = "unique";  // what torch.unique calls
  Value first = arguments.get(0, {});
  const ir::Origin* const origin = origin_at(arguments.span);
  // What is checked while the graph runs was a condition of recording it.
  if (op.starts_with("_assert") || op.starts_with("sym_constrain_range")) return heap_.none;
  if (op.starts_with("sym_")) return heap_.typed(Kind::Int);
  report_frozen_state(op, arguments);
  if (!first || first->kind != Kind::Tensor) {
    const std::string name = "torch." + std::string(op);
    const profile::Callable* callable = profile_.callable(name);
    return callable ? call_torch(name, arguments) : heap_.tensor(Origin::Intermediate);
  }
  auto* tensor = as<TensorObject>(first);
  if (op == "item" || op == "_local_scalar_dense") {
    if (origin && origin->through.ends_with("__bool__")) {
      report_recorded(EventKind::SpecialisedBranch, "torch.Tensor.__bool__", arguments);
      return heap_.typed(Kind::Bool);
    }
    Arguments none;
    none.span = arguments.span;
    none.module = arguments.module;
    return tensor_method(tensor, "item", none);
  }
  // Since 2.0 a module's full backward hook is put between the module and its surroundings by a view of its tensors.
  if (op == "view_as" && arguments.get(1, "other") == first) {
    Event hook = event(EventKind::ModuleBackwardHook, arguments.span);
    hook.gb_id = "GB0083";
    hook.subject = origin && !origin->module.empty() ? origin->module : text(arguments.span);
    hook.detail = "the export recorded the hook as a view of a tensor as itself, and lost what it does";
    emit(std::move(hook));
    return first;
  }
  if (op == "index") return index_by_tensors(arguments);
  if (is_in_place(op) && op != "requires_grad_" && op != "detach_" && tensor->origin == Origin::Input &&
      !tensor->parameter)
    report_recorded(EventKind::InputMutated, op, arguments);
  const std::string as_method = "torch.Tensor." + std::string(op), as_function = "torch." + std::string(op);
  if (op == "cpu" || op == "to" || op == "_to_copy") {
    const Value device = op == "_to_copy" ? arguments.keyword("device") : arguments.get(1, "device");
    const bool to_host =
        op == "cpu" || (device && device->kind == Kind::Str && device->known && as<StrObject>(device)->value == "cpu");
    // A model that was recorded on a CPU has its inputs' device everywhere; what counts is what the author asked for.
    const bool asked_for = origin == nullptr || origin->code.find("cpu") != std::string::npos;
    if (to_host && asked_for) report_recorded(EventKind::HostCopy, op, arguments);
  }
  if (profile_.callable(as_method) || op == "requires_grad_") {
    Arguments rest = without_first(arguments);
    return tensor_method(tensor, op, rest);
  }
  const profile::Callable* callable = profile_.callable(as_function);
  if (callable) return call_torch(as_function, arguments);
  return heap_.tensor(Origin::Intermediate);
}

// aten.index(x, [mask, None, rows]): x[mask, :, rows]
Value Interpreter::index_by_tensors(Arguments& arguments) {
  Value indices = arguments.get(1, "indices");
  if (!indices || (indices->kind != Kind::List && indices->kind != Kind::Tuple))
    return heap_.tensor(Origin::Intermediate);
  std::vector<Value> parts = as<SequenceObject>(indices)->items;
  return tensor_index(as<TensorObject>(arguments.positional.front()), heap_.sequence(Kind::Tuple, std::move(parts)),
                      arguments.span);
}

// Recorded while training: the operator goes on as if it were, whatever `eval()` says of the model later.
void Interpreter::report_frozen_state(std::string_view op, const Arguments& arguments) {
  struct Flag {
    std::string_view op;
    std::size_t index;
    std::string_view name;
    std::size_t acts = SIZE_MAX;  // the argument without which training changes nothing: no rate, no running statistics
  };
  // aten/src/ATen/native/native_functions.yaml; the second rows of recurrent layers are those of packed sequences
  constexpr std::array<Flag, 20> flags = {{{"dropout", 2, "train", 1},
                                           {"dropout_", 2, "train", 1},
                                           {"feature_dropout", 2, "train", 1},
                                           {"alpha_dropout", 2, "train", 1},
                                           {"feature_alpha_dropout", 2, "train", 1},
                                           {"native_dropout", 2, "train", 1},
                                           {"rrelu", 3, "training"},
                                           {"rrelu_with_noise", 4, "training"},
                                           {"batch_norm", 5, "training", 3},
                                           {"native_batch_norm", 5, "training", 3},
                                           {"_native_batch_norm_legit", 5, "training", 3},
                                           {"_native_batch_norm_legit_functional", 5, "training", 3},
                                           {"lstm", 6, "train", 5},
                                           {"lstm", 7, "train", 6},
                                           {"gru", 6, "train", 5},
                                           {"gru", 7, "train", 6},
                                           {"rnn_tanh", 6, "train", 5},
                                           {"rnn_tanh", 7, "train", 6},
                                           {"rnn_relu", 6, "train", 5},
                                           {"rnn_relu", 7, "train", 6}}};
  for (const Flag& flag : flags) {
    if (op != flag.op || !is_flag(arguments.get(flag.index, flag.name), true)) continue;
    if (flag.acts != SIZE_MAX && is_nothing(arguments.get(flag.acts, {}))) continue;
    report_recorded(EventKind::BakedConstant, op, arguments, "training");
    break;
  }
  for (const Value value : {arguments.keyword("device"), arguments.get(1, {})}) {
    if (!is_numbered_device(value)) continue;
    report_recorded(EventKind::BakedConstant, op, arguments, as<StrObject>(value)->value);
    return;
  }
}

void Interpreter::report_recorded(EventKind kind, std::string_view callee, const Arguments& arguments,
                                  std::string detail) {
  if (!traced()) return;
  Event result = event(kind, arguments.span);
  result.callee = callee;
  result.subject = text(arguments.span);
  result.detail = std::move(detail);
  emit(std::move(result));
}

Value Interpreter::call_body(Value body, const std::vector<Value>& operands, Span span) {
  if (body->kind == Kind::Class) body = some_instance(as<ClassObject>(body), nullptr);
  Arguments arguments;
  arguments.positional = operands;
  arguments.positional_spans.assign(operands.size(), span);
  arguments.span = span;
  arguments.module = frame_->module;
  return call(body, arguments);
}

Value Interpreter::call_higher_order(std::string_view name, Arguments& arguments) {
  // What stands in front of the bodies says how they run, and so do words: cond(x > 0, …), wrap_with_autocast("cpu",
  // …), invoke_subgraph(body, "name", …).
  std::vector<Value> options, bodies, operands;
  const auto collect = [&](Value value) {
    if (is_body(value))
      bodies.push_back(value);
    else if (bodies.empty() || value->kind == Kind::Str)
      options.push_back(value);
    else
      operands.push_back(value);
  };
  for (Value value : arguments.positional) {
    if ((value->kind == Kind::List || value->kind == Kind::Tuple) && as<SequenceObject>(value)->exact) {
      for (Value item : as<SequenceObject>(value)->items) collect(item);
    } else {
      collect(value);
    }
  }
  if (name == "tag_activation_checkpoint" && !bodies.empty()) {
    if (bodies.front()->kind == Kind::Class)
      arguments.positional.front() = some_instance(as<ClassObject>(bodies.front()), nullptr);
    return checkpoint(arguments, "torch.utils.checkpoint.checkpoint");
  }
  if (name == "register_hook") return options.empty() ? heap_.unknown : options.front();
  if (name.starts_with("flex_attention")) return heap_.unknown;  // its bodies see single scores
  const Value outer_grad = grad_mode_;
  if (name == "wrap_with_set_grad_enabled" && !options.empty()) {
    const ir::Origin* const origin = origin_at(arguments.span);
    const bool no_gradients = is_flag(options.front(), false);
    if (no_gradients && origin && origin->through.find("checkpoint") != std::string::npos)
      report_recorded(EventKind::ExportedCheckpoint, "torch.utils.checkpoint.checkpoint", arguments);
    grad_mode_ = options.front();
  }
  Value result = nullptr;
  for (Value body : bodies) {
    Value one = call_body(body, operands, arguments.span);
    result = result && name != "while_loop" ? heap_.join(result, one) : one;  // a loop's first body is its condition
  }
  grad_mode_ = outer_grad;
  return result ? result : heap_.unknown;
}

// ops.prim.…: what Python's own syntax and attributes became.
Value Interpreter::call_script_function(std::string_view name, Arguments& arguments) {
  if (name == "RaiseException") {
    raise_exception("Exception", arguments.span);
    return heap_.unknown;
  }
  if (name == "requires_grad" || name.starts_with("is_")) return heap_.typed(Kind::Bool);
  if (name == "device") return heap_.typed(Kind::Str);
  if (name == "NumToTensor") {  // a size, on its way through tracing: known without looking at any values
    Value number = arguments.get(0, {});
    return number ? number : heap_.unknown;
  }
  return heap_.unknown;
}

// What an archive as a whole tells: which of its modules carry hooks, and carried some before they were scripted.
void Interpreter::report_archive(InstanceObject* root) {
  if (frame_->module->recording != ir::Recording::Pickle) return;
  for (Registration* hook : root->module->backward_hooks) hook->removed = true;  // nothing compiled calls the root
  each_module(root, [this](InstanceObject* child, const std::string& path) {
    for (auto& [where, pending] : pending_registrations_) {
      if (std::ranges::find(child->module->backward_hooks, where) != child->module->backward_hooks.end())
        pending.subject = path;
    }
  });
  const ir::Module* const module = root->cls->module;
  if (module == nullptr || module->recording != ir::Recording::TorchScript) return;
  Value forward = class_attribute(root->cls, names::forward);
  const bool has_code = forward && forward->kind == Kind::Function;
  const Span place = has_code ? as<FunctionObject>(forward)->function->name_span : root->cls->cls->name_span;
  const auto about = [&](EventKind kind, std::string subject) {
    Event result = event(kind, place);
    result.where.module = module;
    result.subject = std::move(subject);
    result.traced = false;
    return result;
  };
  Event script = about(EventKind::TorchScriptModule, root->cls->name);
  script.gb_id = "GB4695";
  emit(std::move(script));
  static const Symbol flag = Symbol::intern("_is_full_backward_hook");
  each_module(root, [&](InstanceObject* child, const std::string& path) {
    Value full = child->attributes.get(flag);
    if (full && full->kind == Kind::Bool) emit(about(EventKind::DroppedHook, path));
  });
}

}  // namespace fullgraph::trace
