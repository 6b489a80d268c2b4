// torch.compile and torch.utils.checkpoint: where compiled regions begin, and what is recomputed.
#include <algorithm>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"

namespace fullgraph::trace {

using ir::Symbol;

Value Interpreter::compile(Arguments& arguments) {
  note_compile();
  Value target = arguments.get(0, "model");
  if (!target || target->kind == Kind::None) {  // @torch.compile(fullgraph=True)
    auto* decorator = heap_.make<PartialObject>(external("torch.compile"));
    decorator->keywords = arguments.keywords;
    return decorator;
  }
  switch (target->kind) {
    case Kind::Function:
    case Kind::Method:
    case Kind::Instance:
    case Kind::Partial:
      break;
    default:
      return target;
  }
  auto* compiled = heap_.make<CompiledObject>(target);
  compiled->where = {frame_->module, arguments.span};
  if (Value fullgraph = arguments.keyword("fullgraph")) compiled->fullgraph = truth(fullgraph);
  if (Value off = arguments.keyword("disable"); off && truth(off) == std::optional(true)) return target;
  compiled_.push_back(compiled);
  return compiled;
}

// torch.compiler.disable(target), @torch.compiler.disable(recursive=False)
Value Interpreter::disable(Arguments& arguments, const std::string& name) {
  Value target = arguments.get(0, "fn");
  if (!target || target->kind == Kind::None || target->kind == Kind::Bool) {
    auto* decorator = heap_.make<PartialObject>(external(name));
    decorator->keywords = arguments.keywords;
    return decorator;
  }
  Value recursive = arguments.get(1, "recursive");
  Disabled how = recursive && truth(recursive) == std::optional(false) ? Disabled::NotRecursive : Disabled::Recursive;
  switch (target->kind) {
    case Kind::Function: {  // stays a function, which a class can bind
      auto* function = heap_.make<FunctionObject>(*as<FunctionObject>(target));
      function->disabled = how;
      return function;
    }
    case Kind::Method:
    case Kind::Native:
    case Kind::External:
    case Kind::Partial:
    case Kind::Instance: {
      auto* wrapper = heap_.make<CompiledObject>(target);
      wrapper->disabled = how;
      return wrapper;
    }
    default:
      return target;
  }
}

// What messages call a function, a method, or a module's class; empty for what has no name.
std::string callable_name(Value value) {
  switch (value->kind) {
    case Kind::Function:
      return std::string(as<FunctionObject>(value)->function->name.text());
    case Kind::Method:
      return callable_name(as<MethodObject>(value)->function);
    case Kind::Native:
      return std::string(as<NativeObject>(value)->name.text());
    case Kind::External:
      return as<ExternalObject>(value)->name;
    case Kind::Instance: {
      const ClassObject* cls = as<InstanceObject>(value)->cls;
      return cls->cls ? std::string(cls->cls->name.text()) : cls->name;
    }
    default:
      return {};
  }
}

Value Interpreter::call_disabled(CompiledObject* disabled, Arguments& arguments) {
  Value target = disabled->target;
  bool module = target->kind == Kind::Instance && as<InstanceObject>(target)->module;
  std::string_view id = disabled->disabled == Disabled::NotRecursive ? "GB0099" : module ? "GB0148" : "GB0098";
  graph_break(EventKind::DisabledCall, arguments.span, id, callable_name(target), text(arguments.span));
  bool hides = disabled->disabled == Disabled::Recursive;
  disabled_ += hides;
  Value result = call(target, arguments);
  disabled_ -= hides;
  return result;
}

// An entry whose own file compiles things decides itself what is compiled; else the entry's result is.
void Interpreter::note_compile() {
  for (const Frame* frame = frame_; frame; frame = frame->caller) {
    if (frame->module == entry_module_) compile_seen_ = compile_seen_ || frame == frame_;
  }
}

namespace {

CheckpointFacts::Reentrant reentrant_of(std::optional<bool> known, Value given) {
  using R = CheckpointFacts::Reentrant;
  if (!given || given->kind == Kind::None) return R::Absent;
  return !known ? R::Unknown : *known ? R::Yes : R::No;
}

// The literal True or False behind this key of a dictionary that is written at a call; an empty span when there is
// none.
ir::Span value_in_dict(const ir::Module& module, ir::Span call, std::string_view key) {
  for (const ir::Expr& item : module.exprs) {
    if (item.kind != ir::ExprKind::DictItem || item.span.begin < call.begin || item.span.end > call.end) continue;
    const ir::Expr& name = module.expr(item.a);
    const ir::Expr& value = module.expr(item.b);
    const bool literal = value.kind == ir::ExprKind::True || value.kind == ir::ExprKind::False;
    if (name.kind == ir::ExprKind::String && name.name.text() == key && literal) return value.span;
  }
  return {};
}

}  // namespace

void Interpreter::report_checkpoint_settings(std::string_view name, Arguments& arguments) {
  if (frame_->function && frame_->function->name == names::gradient_checkpointing_enable)
    return;  // a method that passes on what it was given
  Value settings = arguments.get(0, "gradient_checkpointing_kwargs");
  Event result = event(EventKind::Checkpoint, arguments.span);
  result.callee = name;
  result.subject = text(arguments.span);
  result.traced = false;
  result.checkpoint.through_settings = true;
  Value given = nullptr;
  if (settings && settings->kind == Kind::Dict) {
    for (const auto& entry : as<DictObject>(settings)->entries) {
      if (entry.key->kind == Kind::Str && entry.key->known && as<StrObject>(entry.key)->value == "use_reentrant")
        given = entry.value;
    }
    if (!given && !as<DictObject>(settings)->exact) return;
  } else if (settings && settings->kind != Kind::None) {
    return;
  }
  result.checkpoint.reentrant = reentrant_of(given ? truth(given) : std::nullopt, given);
  if (frame_->module == arguments.module) {
    result.checkpoint.argument = value_in_dict(*arguments.module, arguments.span, "use_reentrant");
    result.checkpoint.argument_module = arguments.module;
  }
  if (!given || result.checkpoint.reentrant == CheckpointFacts::Reentrant::Absent)
    return;  // what the library's default is, the call does not say
  emit(std::move(result));
}

// checkpoint(function, *args, use_reentrant=…, context_fn=…)
Value Interpreter::checkpoint(Arguments& arguments, const std::string& name) {
  bool sequential = name.ends_with("sequential");
  Value function = arguments.get(0, sequential ? "functions" : "function");
  if (!function) return heap_.unknown;
  Arguments passed;
  passed.span = arguments.span;
  passed.module = arguments.module;
  std::size_t skip = sequential ? 2 : 1;
  if (arguments.positional.size() > skip)
    passed.positional.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(skip),
                             arguments.positional.end());
  passed.positional_spans.assign(passed.positional.size(), arguments.span);
  passed.more_positional = arguments.more_positional;
  passed.more_element = arguments.more_element;
  passed.more_keywords = arguments.more_keywords;
  for (const auto& [key, value] : arguments.keywords) {
    std::string_view word = key.text();
    if (word != "use_reentrant" && word != "context_fn" && word != "preserve_rng_state" &&
        word != "determinism_check" && word != "debug" && word != "early_stop" && word != "input")
      passed.keywords.emplace_back(key, value);
    if (sequential && word == "input") passed.positional.push_back(value);
  }
  Value reentrant = sequential ? arguments.get(3, "use_reentrant") : arguments.keyword("use_reentrant");
  Value context = arguments.keyword("context_fn");
  Event found = event(EventKind::Checkpoint, arguments.span);
  found.callee = name;
  found.subject = text(arguments.span);
  found.checkpoint.reentrant = reentrant_of(reentrant ? truth(reentrant) : std::nullopt, reentrant);
  if (!reentrant && arguments.more_keywords) found.checkpoint.reentrant = CheckpointFacts::Reentrant::Unknown;
  found.checkpoint.traced = traced();
  found.checkpoint.has_context_fn = context && context->kind != Kind::None;
  found.checkpoint.inputs_require_grad = requires_grad_of(passed);
  // Without parameters that train there is nothing to lose.
  if (function->kind == Kind::Instance && found.checkpoint.inputs_require_grad == Truth::No) {
    auto parameters = named_parameters(function);
    bool trains = std::any_of(parameters.begin(), parameters.end(),
                              [](const auto& p) { return as<TensorObject>(p.second)->requires_grad != Truth::No; });
    if (!trains && entry_mode_) found.checkpoint.inputs_require_grad = Truth::Unknown;
  }
  for (const auto& [key, place] : arguments.keyword_spans) {
    if (key.text() == "use_reentrant" && place.end > place.begin && frame_->module == arguments.module) {
      found.checkpoint.argument = place;
      found.checkpoint.argument_module = arguments.module;
    }
  }
  bool grad = truth(grad_mode_) != std::optional(false);
  if (grad) emit(found);

  if (sequential) {
    if (traced()) graph_break(EventKind::SkippedCall, arguments.span, "GB0007", name, text(arguments.span));
    Value items = iterate(function, arguments.span);
    Value result = passed.positional.empty() ? heap_.unknown : passed.positional.front();
    if (items->kind == Kind::Tuple) {
      for (Value step : std::vector<Value>(as<SequenceObject>(items)->items)) {
        passed.positional = {result};
        passed.positional_spans.assign(1, arguments.span);
        result = call(step, passed);
        if (raised_) break;
      }
    }
    return result;
  }
  if (traced() && context && context->kind == Kind::Function && context->serial > region_serial_) {
    // A function made in the region cannot be rebuilt as a constant of the checkpoint operator.
    Event error = event(EventKind::Hazard, arguments.span);
    error.callee = "context-fn-in-region";
    error.subject = text(arguments.span);
    emit(std::move(error));
  }
  if (traced() && context && context->kind == Kind::External) {
    // Dynamo takes functions that it may trace and partials of them; one that it skips, such as noop_context_fn, is an
    // error inside Dynamo and not a break.
    Event error = event(EventKind::Unsupported, arguments.span);
    error.callee = as<ExternalObject>(context)->name;
    error.subject = text(arguments.span);
    error.detail = "a `context_fn` that Dynamo skips raises an error inside it; leave it out where it does nothing";
    const profile::Callable* callable = profile_.callable(error.callee);
    if (error.callee.starts_with("torch.utils.checkpoint.") ||
        (callable && callable->treatment == profile::Treatment::Skipped))
      emit(std::move(error));
  }
  const Event* outer_policy = policy_;
  std::uint32_t outer_serial = hop_serial_;
  // Without an entry nobody knows whether the caller is compiled as well; the bypass is there when it is not.
  if (!frame_->region || !entry_mode_) {
    policy_ = found.checkpoint.has_context_fn ? &found : nullptr;
  }
  if (traced()) hop_serial_ = heap_.serial();
  bool outer_counted = std::exchange(hop_counted_, false);
  Value result = call(function, passed);
  if (hop_counted_) graph_break(EventKind::Unsupported, arguments.span, "GB4413", name, text(arguments.span));
  hop_counted_ = outer_counted;
  policy_ = outer_policy;
  hop_serial_ = outer_serial;
  return result;
}

// Is torch.compile mentioned in the function, whether or not it was reached?
bool Interpreter::compiles_something(const ir::Function& function, const ir::Module& module) const {
  for (const ir::Expr& expr : module.exprs) {
    if (expr.kind != ir::ExprKind::Attribute || expr.span.begin < function.span.begin ||
        expr.span.end > function.span.end)
      continue;
    if (expr.name.text() != "compile") continue;
    const ir::Expr& object = module.expr(expr.a);
    if (object.kind == ir::ExprKind::Name && object.name.text() == "torch") return true;
  }
  return false;
}

// In the body of a higher-order operator a change of something outside breaks.
void Interpreter::report_side_effect(const Object* object, Value value, ir::Span span) {
  if (hop_serial_ == 0 || !traced() || object->serial > hop_serial_) return;
  if (value && value->kind >= Kind::None && value->kind <= Kind::Bytes) {  // found when the body is left
    hop_counted_ = true;
    return;
  }
  if (hooked_) {
    graph_break(EventKind::TensorHookBreak, span, "GB0067", "side effect", *hooked_);
  } else {
    graph_break(EventKind::Unsupported, span, "GB0067", "side effect", text(span));
  }
}

}  // namespace fullgraph::trace
