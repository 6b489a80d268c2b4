// Calls: binding arguments, running functions, building instances, iterating.
#include <algorithm>

#include <fmt/format.h>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"

namespace fullgraph::trace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Symbol;

namespace {
constexpr int kDeepest = 80;       // calls on the abstract stack
constexpr int kMostRecursion = 4;  // of one function
}  // namespace

Value Interpreter::call(Value callee, Arguments& arguments) {
  if (raised_) return heap_.unknown;
  switch (callee->kind) {
    case Kind::Function:
      return call_function(as<FunctionObject>(callee), nullptr, arguments);
    case Kind::Method: {
      auto* method = as<MethodObject>(callee);
      if (method->function->kind == Kind::Function)
        return call_function(as<FunctionObject>(method->function), method->self, arguments);
      Arguments with_self = arguments;
      with_self.positional.insert(with_self.positional.begin(), method->self);
      with_self.positional_spans.insert(with_self.positional_spans.begin(), arguments.span);
      return call(method->function, with_self);
    }
    case Kind::Native:
      return call_native(as<NativeObject>(callee), arguments);
    case Kind::Class:
      return call_class(as<ClassObject>(callee), arguments);
    case Kind::Instance:
      return call_instance(as<InstanceObject>(callee), arguments);
    case Kind::External:
      return call_external(as<ExternalObject>(callee), arguments);
    case Kind::Partial: {
      auto* partial = as<PartialObject>(callee);
      Arguments all = arguments;
      all.positional.insert(all.positional.begin(), partial->arguments.begin(), partial->arguments.end());
      all.positional_spans.insert(all.positional_spans.begin(), partial->arguments.size(), arguments.span);
      for (const auto& [name, value] : partial->keywords) {
        if (!all.keyword(name)) all.keywords.emplace_back(name, value);
      }
      return call(partial->function, all);
    }
    case Kind::Compiled:
      return call_compiled(as<CompiledObject>(callee), arguments);
    case Kind::StaticMethod:
      return call(as<PropertyObject>(callee)->getter, arguments);
    case Kind::Union:
      return call_union(as<UnionObject>(callee), arguments);
    case Kind::Context: {  // @torch.no_grad() as a decorator
      Value target = arguments.get(0, {});
      if (!target || target->kind != Kind::Function) return target ? target : heap_.unknown;
      auto* function = heap_.make<FunctionObject>(*as<FunctionObject>(target));
      function->contexts.push_back(as<ContextObject>(callee));
      return function;
    }
    default:
      // What a graph calls and nobody knows, a submodule most of all, makes tensors of tensors.
      return in_recording() && !in_cxx() && traced() ? heap_.tensor(Origin::Intermediate) : heap_.unknown;
  }
}

Value Interpreter::call_union(UnionObject* callees, Arguments& arguments) {
  Value result = nullptr;
  std::vector<Value> callable;
  for (Value alternative : callees->alternatives) {
    if (alternative->kind != Kind::None) callable.push_back(alternative);
  }
  if (callable.size() == 1) return call(callable.front(), arguments);
  for (Value alternative : callable) {
    auto mark = heap_.mark();
    Value one = call(alternative, arguments);
    heap_.weaken(heap_.take(mark));
    if (raised_) {
      raised_ = nullptr;
      continue;
    }
    result = result ? heap_.join(result, one) : one;
  }
  return result ? result : heap_.unknown;
}

Value Interpreter::call_value(Value callee, std::vector<Value> values) {
  Arguments arguments;
  arguments.positional = std::move(values);
  arguments.span = frame_->call;
  arguments.module = frame_->module;
  arguments.positional_spans.resize(arguments.positional.size());
  return call(callee, arguments);
}

Value Interpreter::call_method(Value object, std::string_view name, std::vector<Value> values) {
  Value method = attribute(object, Symbol::intern(name), frame_->call);
  return call_value(method, std::move(values));
}

void Interpreter::raise_exception(std::string_view type, ir::Span) {
  auto* exception = heap_.make<InstanceObject>(external_class(std::string(type)));
  raised_ = exception;
}

// ------------------------------------------------------------------------------------------------ functions

// Does a parameter of this name take it, rather than **kwargs?
static bool takes_keyword(const ir::Module& module, const ir::Function& code, Symbol name) {
  for (std::size_t i = 0; i < code.params.count; ++i) {
    const ir::Param& param = module.params[code.params.first + i];
    if (param.name == name && (param.kind == ir::ParamKind::Positional || param.kind == ir::ParamKind::KeywordOnly))
      return true;
  }
  return false;
}

bool Interpreter::bind(FunctionObject* function, Value self, const Arguments& arguments, EnvObject* env) {
  const ir::Function& code = *function->function;
  env->slots.assign(code.locals.size(), nullptr);
  const std::size_t before = self ? 1 : 0;  // arguments that stand in front of those given
  const std::size_t positional_count = before + arguments.positional.size();
  auto positional = [&](std::size_t at) { return at < before ? self : arguments.positional[at - before]; };
  std::size_t next = 0;
  for (std::size_t i = 0; i < code.params.count; ++i) {
    const ir::Param& param = function->module->params[code.params.first + i];
    Value value = nullptr;
    switch (param.kind) {
      case ir::ParamKind::PositionalOnly:
      case ir::ParamKind::Positional:
      case ir::ParamKind::KeywordOnly: {
        if (param.kind != ir::ParamKind::KeywordOnly && next < positional_count) {
          value = positional(next++);
          break;
        }
        value = arguments.keyword(param.name);
        if (!value && arguments.more_element == heap_.root_argument) {
          value = parameter_value(function, param, true, self ? class_of(self) : nullptr);
        } else if (!value && arguments.more_positional && param.kind != ir::ParamKind::KeywordOnly) {
          value = arguments.more_element ? arguments.more_element : heap_.unknown;
          if (function->defaults[i]) value = heap_.join(value, function->defaults[i]);
        }
        if (!value) {
          value = function->defaults[i];
          if (value && arguments.more_keywords) value = heap_.join(value, heap_.symbolic(heap_.sym(param.name.text())));
        }
        if (!value) {
          if (!arguments.more_keywords && !arguments.more_positional && entry_mode_) {
            raise_exception("builtins.TypeError", arguments.span);
            return false;
          }
          value = parameter_value(function, param, false);
        }
        break;
      }
      case ir::ParamKind::VarArgs: {
        if (arguments.more_positional) {
          Value element = arguments.more_element ? arguments.more_element : heap_.unknown;
          for (; next < positional_count; ++next) element = heap_.join(element, positional(next));
          value = heap_.some(Kind::Tuple, element);
        } else {
          std::vector<Value> rest;
          for (; next < positional_count; ++next) rest.push_back(positional(next));
          value = heap_.sequence(Kind::Tuple, std::move(rest));
        }
        break;
      }
      case ir::ParamKind::KwArgs: {
        auto* dict = heap_.dict();
        for (const auto& [name, given] : arguments.keywords) {
          if (!takes_keyword(*function->module, code, name))
            dict->entries.push_back({heap_.string(name.text()), given, false});
        }
        dict->exact = !arguments.more_keywords;
        value = dict;
        break;
      }
    }
    // An argument of which not even a name is known is what the function takes it for.
    if (value->kind == Kind::Unknown && !value->sym && traced() &&
        is_likely_tensor(function, self ? class_of(self) : nullptr, param)) {
      value = heap_.tensor(Origin::Unknown);
      if (function->defaults[i] && function->defaults[i]->kind == Kind::None) value = heap_.join(value, heap_.none);
    }
    env->slots[param.slot] = value;
  }
  return true;
}

Value Interpreter::call_function(FunctionObject* function, Value self, Arguments& arguments) {
  return self ? call_method_of(self, function, arguments) : call_constant_function(function, arguments);
}

Value Interpreter::run_function(FunctionObject* function, Value self, Arguments& arguments) {
  const ir::Function& code = *function->function;
  if (function->allowed) {
    if (auto op = operators_.find(function->operator_name); op != operators_.end())
      report_missing_fake(op->second, op->first, arguments.span);
    if (!function->operator_name.empty() &&
        (!code.returns || function->module->text(code.returns).find("Tensor") == std::string_view::npos))
      return heap_.unknown;
    auto* result = heap_.tensor(Origin::Intermediate);
    return result;
  }
  if (Value result = einops_result(function->module->name, code.name.text())) return result;
  if (function->disabled != Disabled::No) {
    // Dynamo finds a method on its class and means to inline it; anything else it means to call.
    bool inlined = self || function->disabled == Disabled::NotRecursive;
    graph_break(EventKind::DisabledCall, arguments.span, inlined ? "GB0099" : "GB0098", code.name.text());
  }
  if (depth_ >= kDeepest || ++steps_ > step_limit_) return heap_.unknown;
  int recursion = 0;
  for (const Frame* frame = frame_; frame; frame = frame->caller) recursion += frame->function == &code;
  if (recursion >= kMostRecursion) return heap_.unknown;
  if (code.is_async) return make_coroutine();
  if (function->context_manager && !code.is_generator) {
    graph_break(EventKind::Unsupported, arguments.span, "GB0221", code.name.text(), text(arguments.span));
    return heap_.unknown;
  }

  auto* env = heap_.make<EnvObject>();
  env->module = function->module;
  env->function = &code;
  env->parent = function->closure;
  env->globals = module_object(function->module)->globals;
  if (!bind(function, self, arguments, env)) return heap_.unknown;

  bool hidden = function->disabled == Disabled::Recursive || function->constant_result;
  if (hidden) ++disabled_;
  Frame frame;
  frame.call = arguments.span;
  bool region_root = std::exchange(enter_region_, false);
  frame.region = region_root || (frame_ && frame_->region);
  if (frame.region && function->disabled == Disabled::No) frame.traced = heap_.flag(true);
  frame.boundary = region_root || (frame_ && frame_->region && !frame_->is_traced());
  frame.module = function->module;
  frame.function = &code;
  frame.object = function;
  frame.env = env;
  frame.caller = frame_;
  frame.name = code.qualified;
  frame.owner = function->owner;
  frame.conditions = conditions_.size();
  if (function->owner && code.params.count > 0)
    frame.self = env->slots[function->module->params[code.params.first].slot];
  if (self) frame.self = self;

  Value saved_grad = grad_mode_;
  for (ContextObject* context : function->contexts) {
    if (context->name == "no_grad") grad_mode_ = heap_.no;
    if (context->name == "enable_grad") grad_mode_ = heap_.yes;
  }
  Frame* outer = std::exchange(frame_, &frame);
  ++depth_;
  if (traced() && root_functions_.insert(&code).second) traced_functions_.insert(&code);
  if (region_root && traced() && code.is_generator && !function->context_manager) {
    auto decorators = function->module->list(code.decorators);
    graph_break(EventKind::Unsupported, decorators.size() ? function->module->expr(decorators[0]).span : code.name_span,
                "GB0003", code.name.text());
    frame.traced = nullptr;
  }
  if (entry_mode_ && !frame.region) entry_functions_.emplace_back(&code, function->module);
  Value result = nullptr;
  if (code.lambda_body) {
    result = eval(code.lambda_body);
  } else {
    Flows flows = run_block(code.body);
    if ((flows & kNormal) && !(flows & kRaise))
      frame.result = frame.result ? heap_.join(frame.result, heap_.none) : heap_.none;
    result = frame.result;
    // Where a return is possible, what raises at the end does so under conditions.
    if (raised_ && result && !entry_mode_) {
      raised_ = nullptr;
      maybe_raised_ = true;
    }
  }
  for (const Heap::Changes& changes : frame.returned) heap_.weaken(changes);
  if (region_root) leave_region(result);
  if (region_root && raised_ && uncaught_ && traced()) emit(*uncaught_);
  --depth_;
  frame_ = outer;
  grad_mode_ = saved_grad;
  // What the function found out on its way (an early return not taken) holds in the caller only if it always raises.
  conditions_.resize(frame.conditions);
  if (hidden) --disabled_;
  if (raised_ || steps_ > step_limit_) return heap_.unknown;
  if (code.is_generator) {
    SequenceObject* items = nullptr;
    if (frame.yields_exact) {
      items = heap_.sequence(Kind::Tuple, std::move(frame.yields));
    } else {
      Value element = nullptr;
      for (Value item : frame.yields) element = element ? heap_.join(element, item) : item;
      items = heap_.some(Kind::Tuple, element);
    }
    if (function->context_manager) {
      auto* context = heap_.make<ContextObject>("generator");
      context->argument = items->items.empty() ? items->element : items->items.front();
      return context;
    }
    auto* iterator = heap_.make<IteratorObject>();
    iterator->sequence = items;
    iterator->generator = true;
    return iterator;
  }
  return result ? result : heap_.unknown;
}

// At the end of a compiled region: a leaf made by requires_grad_() that reaches an output breaks after all.
void Interpreter::leave_region(Value result) {
  std::vector<Value> todo = {result ? result : heap_.none};
  std::size_t looked_at = 0;
  while (!todo.empty() && ++looked_at < 1000) {
    Value value = todo.back();
    todo.pop_back();
    switch (value->kind) {
      case Kind::Tensor:
        for (std::uint32_t mark : as<TensorObject>(value)->marks) {
          if (marks_[mark]->reported) continue;
          marks_[mark]->reported = true;
          events_.push_back(marks_[mark]->event);
        }
        break;
      case Kind::Tuple:
      case Kind::List:
      case Kind::Set:
        todo.insert(todo.end(), as<SequenceObject>(value)->items.begin(), as<SequenceObject>(value)->items.end());
        break;
      case Kind::Dict:
        for (const auto& entry : as<DictObject>(value)->entries) todo.push_back(entry.value);
        break;
      case Kind::Union:
        todo.insert(todo.end(), as<UnionObject>(value)->alternatives.begin(),
                    as<UnionObject>(value)->alternatives.end());
        break;
      case Kind::Instance:
        if (as<InstanceObject>(value)->payload) todo.push_back(as<InstanceObject>(value)->payload);
        if (!as<InstanceObject>(value)->module)
          todo.insert(todo.end(), as<InstanceObject>(value)->attributes.values().begin(),
                      as<InstanceObject>(value)->attributes.values().end());
        break;
      default:
        break;
    }
  }
}

// ------------------------------------------------------------------------------------------------ classes

Value Interpreter::construct(ClassObject* cls, Arguments& arguments) {
  if (cls->is_enum && cls->cls) return heap_.unknown;
  if (!cls->cls) {
    auto* function = heap_.make<ExternalObject>(cls->name);
    return call_external(function, arguments);
  }
  if (cls->validated)
    graph_break(EventKind::Unsupported, arguments.span, "GB3383", cls->cls->name.text(), text(arguments.span));
  auto* instance = heap_.make<InstanceObject>(cls);
  if (cls->is_module) instance->module.emplace();
  for (ClassObject* base : cls->mro) {
    if (base->cls) continue;
    if (base->name == "builtins.dict" || base->name.ends_with("OrderedDict") || base->name.ends_with("UserDict"))
      instance->payload = heap_.dict();
    if (base->name == "builtins.list" || base->name == "torch.nn.ModuleList" || base->name == "torch.nn.Sequential" ||
        base->name == "torch.nn.ParameterList")
      instance->payload = heap_.sequence(Kind::List, {});
    if (base->name == "torch.nn.ModuleDict" || base->name == "torch.nn.ParameterDict") instance->payload = heap_.dict();
  }
  if (is_subclass(cls, "torch.Tensor")) return construct_tensor(arguments, "torch.Tensor");
  Value init = class_attribute(cls, names::init);
  if (init && init->kind == Kind::Function) {
    call_function(as<FunctionObject>(init), instance, arguments);
    if (entry_mode_ || !raised_) {
      if (raised_) return heap_.unknown;
    } else {
      // Under unknown arguments a constructor that seems to fail was misunderstood.
      raised_ = nullptr;
      instance->opaque = true;
    }
    if (instance->module) open_containers(instance);
    return instance;
  }
  if (cls->dataclass || cls->is_namedtuple) {
    // Fields in the order of the classes, bases first.
    std::vector<Symbol> fields;
    std::vector<Value> defaults;
    for (auto base = cls->mro.rbegin(); base != cls->mro.rend(); ++base) {
      if (!(*base)->cls) continue;
      const ir::Module& module = *(*base)->module;
      for (ir::StmtId id : module.block((*base)->cls->body)) {
        const ir::Stmt& stmt = module.stmt(id);
        if (stmt.kind != ir::StmtKind::AnnAssign) continue;
        const Expr& target = module.expr(module.list(stmt.items)[0]);
        if (target.kind != ExprKind::Name || module.text(stmt.b).find("ClassVar") != std::string_view::npos) continue;
        Value value = (*base)->attributes.get(target.name);
        auto found = std::find(fields.begin(), fields.end(), target.name);
        if (found != fields.end()) {
          defaults[static_cast<std::size_t>(found - fields.begin())] = value;
        } else {
          fields.push_back(target.name);
          defaults.push_back(value);
        }
      }
    }
    std::vector<Value> values;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      Value value = i < arguments.positional.size() ? arguments.positional[i] : arguments.keyword(fields[i]);
      if (!value && defaults[i]) {
        value = defaults[i];
        // field(default_factory=list), field(default=None)
        if (value->kind == Kind::Partial) value = call_value(as<PartialObject>(value)->function, {});
      }
      if (!value) value = heap_.unknown;
      if (arguments.more_keywords && !arguments.keyword(fields[i])) value = heap_.join(value, heap_.unknown);
      values.push_back(value);
      instance->attributes.set(fields[i], value);
      if (instance->payload && instance->payload->kind == Kind::Dict && value->kind != Kind::None)
        as<DictObject>(instance->payload)
            ->entries.push_back(
                {heap_.string(fields[i].text()), value, value->kind == Kind::Unknown || value->kind == Kind::Union});
    }
    if (cls->is_namedtuple) {
      auto* tuple = heap_.sequence(Kind::Tuple, values);
      tuple->field_names = fields;
      tuple->type_name = cls->cls->name;
      return tuple;
    }
    if (Value post = class_attribute(cls, names::post_init); post && post->kind == Kind::Function) {
      auto payload = instance->payload;
      call_value(heap_.make<MethodObject>(instance, post), {});
      instance->payload = payload;
      raised_ = nullptr;
    }
    return instance;
  }
  if (instance->payload) {
    bool known = false;
    Arguments same = arguments;
    if (cls->is_module)
      module_method(instance, "__init__", same, known);
    else if (instance->payload->kind == Kind::Dict)
      dict_method(as<DictObject>(instance->payload), "update", same);
    else
      sequence_method(as<SequenceObject>(instance->payload), "extend", same);
    return instance;
  }
  if (cls->is_module) {
    // Subclasses of built-in layers that keep their constructor
    instance->module->arguments = arguments.positional;
    instance->module->keywords = arguments.keywords;
    return instance;
  }
  if (cls->unknown_base) instance->opaque = true;
  if (cls->is_exception) instance->attributes.set(names::args, heap_.sequence(Kind::Tuple, arguments.positional));
  return instance;
}

InstanceObject* Interpreter::some_instance(ClassObject* cls, const Sym* name) {
  bool shared = !entry_mode_ && name && !cls->closure && !cls->is_module;
  if (shared) {
    auto found = some_instances_.find({cls, name});
    if (found != some_instances_.end()) return found->second;
  }
  std::optional<Heap::Persistent> lasting;
  if (shared) lasting.emplace(heap_);
  auto* instance = heap_.make<InstanceObject>(cls);
  instance->opaque = true;
  instance->sym = name;
  if (cls->is_module) instance->module.emplace();
  for (ClassObject* base : cls->mro) {
    if (base->name == "builtins.dict" || base->name.ends_with("OrderedDict")) {
      auto* dict = heap_.dict();
      dict->exact = false;
      instance->payload = dict;
    }
  }
  if (shared) some_instances_.emplace(std::pair(cls, name), instance);
  return instance;
}

Value Interpreter::call_instance(InstanceObject* instance, Arguments& arguments) {
  Value own_call = class_attribute(instance->cls, names::call);
  if (!instance->module) {
    if (own_call) return call(bind_attribute(own_call, instance, instance->cls, arguments.span), arguments);
    return heap_.unknown;
  }
  if (own_call && own_call->kind == Kind::Function) {
    return call(heap_.make<MethodObject>(instance, own_call), arguments);
  }
  if (instance->module->compiled && !frame_->region && !enter_region_) {
    auto* compiled = heap_.make<CompiledObject>(instance);
    return call_compiled(compiled, arguments);
  }
  bool root = enter_region_;
  if (!root && traced()) {
    for (Registration* hook : instance->module->backward_hooks) {
      if (hook->removed) continue;
      hook->broke = true;
      Event result = event(EventKind::ModuleBackwardHook, arguments.span);
      result.gb_id = instance->module->legacy_backward_hook ? "GB0104" : "GB0083";
      result.subject = text(arguments.span);
      result.related.push_back({hook->where, "the hook is registered here"});
      graph_break(std::move(result));
      break;
    }
  }
  for (Registration* hook : global_backward_hooks_) {
    if (hook->removed || root || !traced()) continue;
    hook->broke = true;
    Event result = event(EventKind::ModuleBackwardHook, arguments.span);
    result.gb_id = "GB0083";
    result.subject = text(arguments.span);
    result.related.push_back({hook->where, "the global hook is registered here"});
    graph_break(std::move(result));
    break;
  }
  Arguments passed = arguments;
  for (Value hook : instance->module->forward_pre_hooks) {
    bool outer_root = std::exchange(enter_region_, false);
    enter_region_ = outer_root && hook->kind == Kind::Function;
    Value changed = call_value(hook, {instance, heap_.sequence(Kind::Tuple, passed.positional)});
    enter_region_ = outer_root;
    if (raised_) return heap_.unknown;
    if (changed->kind == Kind::Tuple && as<SequenceObject>(changed)->exact)
      passed.positional = as<SequenceObject>(changed)->items;
    else if (changed->kind == Kind::Tensor)
      passed.positional = {changed};
    passed.positional_spans.resize(passed.positional.size(), arguments.span);
  }
  Value forward = instance->attributes.get(names::forward);
  if (!forward) {
    Value in_class = class_attribute(instance->cls, names::forward);
    if (in_class) forward = bind_attribute(in_class, instance, instance->cls, arguments.span);
  }
  Value result = nullptr;
  if (forward && forward->kind == Kind::Compiled && frame_->region &&
      as<CompiledObject>(forward)->disabled == Disabled::No)
    forward = as<CompiledObject>(forward)->target;
  if (forward) {
    result = call(forward, passed);
  } else if (instance->payload && is_subclass(instance->cls, "torch.nn.Sequential")) {
    result = call_builtin_layer(instance, "torch.nn.Sequential", passed);
  } else {
    std::string layer;
    for (ClassObject* base : instance->cls->mro) {
      if (!base->cls && base->name != "torch.nn.Module" && layer.empty()) layer = base->name;
    }
    result = layer.empty() ? heap_.unknown : call_builtin_layer(instance, layer, passed);
  }
  if (raised_) return heap_.unknown;
  for (Value hook : instance->module->forward_hooks) {
    bool enters = root && !frame_->region;
    if (enters) enter_region_ = true;
    Value changed = call_value(hook, {instance, heap_.sequence(Kind::Tuple, passed.positional), result});
    enter_region_ = false;
    if (raised_) return heap_.unknown;
    if (changed->kind != Kind::None && changed->kind != Kind::Unknown) result = changed;
  }
  return result;
}

Value Interpreter::call_compiled(CompiledObject* compiled, Arguments& arguments) {
  if (compiled->disabled != Disabled::No) return call_disabled(compiled, arguments);
  if (policy_ && !force_eager_) {
    Event bypassed = *policy_;
    bypassed.kind = EventKind::CompiledUnderPolicy;
    if (std::string name = callable_name(compiled->target); !name.empty()) bypassed.subject = std::move(name);
    if (compiled->where.module) bypassed.related.push_back({compiled->where, "compiled here"});
    emit(std::move(bypassed));
    policy_ = nullptr;
  }
  if (!compiled->kernel_of.empty()) return call_kernel(compiled, arguments);
  return call_region(compiled, arguments);
}

// As the root of a compiled region, unless it is called from one.
Value Interpreter::call_region(CompiledObject* compiled, Arguments& arguments) {
  if (frame_->region || force_eager_ || disabled_) return call(compiled->target, arguments);
  auto saved_root = root_;
  auto saved_fullgraph = fullgraph_;
  auto saved_grad = grad_mode_;
  auto conditions = std::exchange(conditions_, {});
  if (compiled->fullgraph) fullgraph_ = compiled->fullgraph;
  Value target = compiled->target;
  if (target->kind == Kind::Instance) {
    root_ = as<InstanceObject>(target)->cls->name + ".forward";
    if (std::find(compiled_modules_called_.begin(), compiled_modules_called_.end(), target) ==
        compiled_modules_called_.end())
      compiled_modules_called_.push_back(as<InstanceObject>(target));
  } else if (target->kind == Kind::Function) {
    root_ = as<FunctionObject>(target)->module->name + "." + as<FunctionObject>(target)->function->qualified;
  } else if (target->kind == Kind::Method && as<MethodObject>(target)->function->kind == Kind::Function) {
    auto* function = as<FunctionObject>(as<MethodObject>(target)->function);
    root_ = function->module->name + "." + function->function->qualified;
  }
  enter_region_ = true;
  region_serial_ = heap_.serial();
  Value result = call(target, arguments);
  enter_region_ = false;
  conditions_ = std::move(conditions);
  root_ = saved_root;
  fullgraph_ = saved_fullgraph;
  grad_mode_ = saved_grad;
  return result;
}

// ------------------------------------------------------------------------------------------------ unknown arguments

// FX text:  x: "f32[3, s0]"      one letter or two for the kind of number, then its bits
static std::optional<Dtype> dtype_of_annotation(std::string_view written) {
  const std::size_t digits = written.find_first_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos || written.find('[') == std::string_view::npos)
    return std::nullopt;
  const std::string_view letters = written.substr(0, digits);
  if (letters == "f" || letters == "bf") return Dtype::Float;
  if (letters == "i" || letters == "u") return Dtype::Int;
  if (letters == "b") return Dtype::Bool;
  if (letters == "c") return Dtype::Complex;
  return std::nullopt;
}

Value Interpreter::value_from_annotation(const ir::Module& module, ExprId annotation, const Sym* name) {
  if (!annotation) return heap_.symbolic(name);
  const Expr& expr = module.expr(annotation);
  auto tensor = [&](Dtype dtype) {
    auto* value = heap_.tensor(Origin::Input);
    value->dtype = dtype;
    return value;
  };
  auto by_type = [&](Value type) -> Value {
    if (type->kind == Kind::Class) return some_instance(as<ClassObject>(type), name ? heap_.sym(name->text) : nullptr);
    if (type->kind != Kind::External) return heap_.symbolic(name);
    std::string_view full = as<ExternalObject>(type)->name;
    if (full == "torch.Tensor" || full == "torch.nn.Parameter") return tensor(Dtype::Unknown);
    if (full == "torch.FloatTensor" || full == "torch.HalfTensor" || full == "torch.DoubleTensor")
      return tensor(Dtype::Float);
    if (full == "torch.LongTensor" || full == "torch.IntTensor") return tensor(Dtype::Int);
    if (full == "torch.BoolTensor") return tensor(Dtype::Bool);
    if (full == "builtins.int") return heap_.typed(Kind::Int, name);
    if (full == "builtins.float") return heap_.typed(Kind::Float, name);
    if (full == "builtins.bool") return heap_.typed(Kind::Bool, name);
    if (full == "builtins.str") return heap_.typed(Kind::Str, name);
    if (full == "builtins.list" || full == "typing.List") return heap_.some(Kind::List, nullptr);
    if (full == "builtins.tuple" || full == "typing.Tuple") return heap_.some(Kind::Tuple, nullptr);
    if (full == "builtins.dict" || full == "typing.Dict") {
      auto* dict = heap_.dict();
      dict->exact = false;
      return dict;
    }
    if (profile_.is_module_class(full)) return some_instance(external_class(std::string(full)), name);
    return heap_.symbolic(name);
  };
  // Names in annotations mean what they mean at module level.
  Frame frame;
  frame.module = &module;
  frame.env = module_object(&module)->globals;
  frame.caller = frame_;
  frame.conditions = conditions_.size();
  Frame* outer = std::exchange(frame_, &frame);
  Value result = nullptr;
  switch (expr.kind) {
    case ExprKind::None:
      result = heap_.none;
      break;
    case ExprKind::String: {
      std::string_view written = expr.name.text();
      if (const auto dtype = dtype_of_annotation(written)) {
        result = tensor(*dtype);
      } else if (written.starts_with("Sym(")) {
        result = heap_.typed(Kind::Int, name);
      } else if (written.find("Tensor") != std::string_view::npos && written.find('[') == std::string_view::npos) {
        result = tensor(Dtype::Unknown);
        if (written.find("None") != std::string_view::npos) result = heap_.join(result, heap_.none);
      } else if (written.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
                 std::string_view::npos) {
        result = by_type(lookup_global(frame.env, Symbol::intern(written)));
      }
      break;
    }
    case ExprKind::Name:
    case ExprKind::Attribute:
      result = by_type(eval(annotation));
      break;
    case ExprKind::Binary: {
      Value left = value_from_annotation(module, expr.a, name);
      Value right = value_from_annotation(module, expr.b, name);
      result = heap_.join(left, right);
      break;
    }
    case ExprKind::Subscript: {
      Value base = eval(expr.a);
      std::string full = base->kind == Kind::External ? as<ExternalObject>(base)->name : std::string();
      const Expr& index = module.expr(expr.b);
      auto element = [&]() -> Value {
        ExprId one = index.kind == ExprKind::Tuple && index.items.count ? module.list(index.items)[0] : expr.b;
        return value_from_annotation(module, one, nullptr);
      };
      if (full == "typing.Optional") {
        result = heap_.join(value_from_annotation(module, expr.b, name), heap_.none);
      } else if (full == "typing.Union") {
        if (index.kind == ExprKind::Tuple) {
          for (ExprId one : module.list(index.items)) {
            Value value = value_from_annotation(module, one, name);
            result = result ? heap_.join(result, value) : value;
          }
        } else {
          result = value_from_annotation(module, expr.b, name);
        }
      } else if (full == "typing.Annotated") {
        result = element();
      } else if (full == "builtins.list" || full == "typing.List" || full == "typing.Sequence" ||
                 full == "collections.abc.Sequence" || full == "typing.Iterable") {
        result = heap_.some(Kind::List, element());
      } else if (full == "builtins.tuple" || full == "typing.Tuple") {
        bool open = index.kind != ExprKind::Tuple || index.items.count < 1 ||
                    module.expr(module.list(index.items)[index.items.count - 1]).kind == ExprKind::Ellipsis;
        if (open) {
          result = heap_.some(Kind::Tuple, element());
        } else {
          std::vector<Value> items;
          for (ExprId one : module.list(index.items)) items.push_back(value_from_annotation(module, one, nullptr));
          result = heap_.sequence(Kind::Tuple, std::move(items));
        }
      } else if (full == "builtins.dict" || full == "typing.Dict") {
        auto* dict = heap_.dict();
        dict->exact = false;
        if (index.kind == ExprKind::Tuple && index.items.count == 2)
          dict->element = value_from_annotation(module, module.list(index.items)[1], nullptr);
        result = dict;
      } else if (base->kind == Kind::Class) {
        result = by_type(base);
      }
      break;
    }
    default:
      break;
  }
  frame_ = outer;
  raised_ = nullptr;
  return result ? result : heap_.symbolic(name);
}

// Python:  def __init__(self, depth, layer_dropout=0.0)     what is off unless somebody asks for it
static bool is_default_number(Value standard) {
  return standard && standard->lasting && standard->known &&
         (standard->kind == Kind::Bool || standard->kind == Kind::Int || standard->kind == Kind::Float);
}

// The value of a parameter that no caller gives: what its annotation, its default and its uses say.
Value Interpreter::parameter_value(FunctionObject* function, const ir::Param& param, bool root, ClassObject* receiver) {
  const Sym*& sym = parameter_syms_[&param];
  if (!sym) sym = heap_.sym_of(function->function->qualified + ":" + std::string(param.name.text()), param.name.text());
  if (param.kind == ir::ParamKind::VarArgs) return heap_.some(Kind::Tuple, nullptr);
  if (param.kind == ir::ParamKind::KwArgs) {
    auto* dict = heap_.dict();
    dict->exact = false;
    return dict;
  }
  Value value = param.annotation ? value_from_annotation(*function->module, param.annotation, sym) : nullptr;
  if (value && value->kind == Kind::Instance && !value->sym) value->sym = sym;
  Value standard = nullptr;
  for (std::size_t i = 0; i < function->function->params.count; ++i) {
    if (&function->module->params[function->function->params.first + i] == &param) standard = function->defaults[i];
  }
  // Nobody asks for a loss where no gradients are wanted.
  bool for_loss = param.name.text().ends_with("labels") || param.name.text().ends_with("targets");
  if (root && for_loss && standard && standard->kind == Kind::None && options_.mode == Mode::Eval) return standard;
  if (value && value->kind != Kind::Unknown) {
    if (root && standard && standard->kind == Kind::None && value->kind != Kind::Union)
      value = heap_.join(value, standard);
    if (root && is_default_number(standard) && value->kind == standard->kind && !value->known &&
        function->function->name == names::init)
      value->usual = standard;
    return value;
  }
  if (standard) {
    switch (standard->kind) {
      case Kind::Bool:
      case Kind::Int:
      case Kind::Float:
      case Kind::Str: {
        Value typed = heap_.typed(standard->kind, sym);
        if (root && is_default_number(standard) && function->function->name == names::init) typed->usual = standard;
        return typed;
      }
      case Kind::Class:
      case Kind::Function:
      case Kind::External:
        return standard;
      default:
        break;
    }
  }
  if (function->module->recording == ir::Recording::Graph && param.name.text() != "self")
    return heap_.tensor(Origin::Input);
  if (root && (!standard || standard->kind == Kind::None) && is_likely_tensor(function, receiver, param)) {
    Value tensor = heap_.tensor(Origin::Input);
    return standard ? heap_.join(tensor, standard) : tensor;
  }
  return heap_.symbolic(sym);
}

InstanceObject* Interpreter::instantiate_root(ClassObject* cls) {
  auto* instance = heap_.make<InstanceObject>(cls);
  instance->module.emplace();
  for (ClassObject* base : cls->mro) {
    if (!base->cls && (base->name == "torch.nn.Sequential" || base->name == "torch.nn.ModuleList"))
      instance->payload = heap_.some(Kind::List, nullptr);
    if (!base->cls && base->name == "torch.nn.ModuleDict") {
      auto* dict = heap_.dict();
      dict->exact = false;
      instance->payload = dict;
    }
  }
  Value init = class_attribute(cls, names::init);
  instance->opaque = true;
  if (!init || init->kind != Kind::Function) return instance;
  auto* function = as<FunctionObject>(init);
  Arguments arguments = unknown_arguments(function, 1);
  call_function(function, instance, arguments);
  // What the constructor did not set, a module that was just built does not have.
  bool complete = !raised_ && steps_ <= step_limit_ && attributes_known(cls);
  if (complete && !instance->payload) instance->opaque = false;
  open_containers(instance);
  raised_ = nullptr;
  return instance;
}

// ------------------------------------------------------------------------------------------------ iteration

// Any iterable as a Tuple: exact where its items are known.
Value Interpreter::iterate(Value iterable, ir::Span span) {
  iterable = without_none(iterable);
  switch (iterable->kind) {
    case Kind::Tuple:
      return iterable;
    case Kind::List:
    case Kind::Set: {
      auto* sequence = as<SequenceObject>(iterable);
      auto* result = heap_.sequence(Kind::Tuple, sequence->items);
      result->exact = sequence->exact;
      result->element = sequence->element;
      return result;
    }
    case Kind::Dict: {
      auto* dict = as<DictObject>(iterable);
      bool sure = dict->exact &&
                  std::none_of(dict->entries.begin(), dict->entries.end(), [](const auto& e) { return e.maybe; });
      std::vector<Value> keys;
      for (const auto& entry : dict->entries) keys.push_back(entry.key);
      if (sure) return heap_.sequence(Kind::Tuple, std::move(keys));
      Value element = dict->exact ? nullptr : heap_.typed(Kind::Str);
      for (Value key : keys) element = element ? heap_.join(element, key) : key;
      return heap_.some(Kind::Tuple, element);
    }
    case Kind::Iterator: {
      auto* iterator = as<IteratorObject>(iterable);
      auto* sequence = iterator->sequence;
      if (!sequence->exact) return heap_.some(Kind::Tuple, sequence->element);
      auto first =
          sequence->items.begin() + static_cast<std::ptrdiff_t>(std::min(iterator->position, sequence->items.size()));
      auto* rest = heap_.sequence(Kind::Tuple, {first, sequence->items.end()});
      heap_.change(iterator)->position = sequence->items.size();
      return rest;
    }
    case Kind::Str: {
      if (!iterable->known) return heap_.some(Kind::Tuple, heap_.typed(Kind::Str));
      std::vector<Value> letters;
      for (char c : as<StrObject>(iterable)->value) letters.push_back(heap_.string(std::string_view(&c, 1)));
      return heap_.sequence(Kind::Tuple, std::move(letters));
    }
    case Kind::Tensor: {
      auto* tensor = as<TensorObject>(iterable);
      Value element = tensor_index(tensor, heap_.integer(0), span);
      if (tensor->shape && !tensor->shape->empty() && tensor->shape->front() >= 0 && tensor->shape->front() <= 64) {
        std::vector<Value> rows;
        for (std::int64_t i = 0; i < tensor->shape->front(); ++i)
          rows.push_back(tensor_index(tensor, heap_.integer(i), span));
        return heap_.sequence(Kind::Tuple, std::move(rows));
      }
      return heap_.some(Kind::Tuple, element);
    }
    case Kind::Instance: {
      auto* instance = as<InstanceObject>(iterable);
      if (Value method = class_attribute(instance->cls, names::iter); method && method->kind == Kind::Function) {
        Value iterator = call_method(iterable, "__iter__", {});
        if (raised_) return heap_.unknown;
        if (iterator->kind != Kind::Instance) return iterate(iterator, span);
        iterable = iterator;
        instance = as<InstanceObject>(iterator);
      }
      if (class_attribute(instance->cls, names::next)) {
        std::vector<Value> items;
        for (int round = 0; round < 64; ++round) {
          Value item = call_method(iterable, "__next__", {});
          if (raised_) {
            if (class_of(raised_) && is_subclass(class_of(raised_), "builtins.StopIteration")) {
              raised_ = nullptr;
              return heap_.sequence(Kind::Tuple, std::move(items));
            }
            return heap_.unknown;
          }
          items.push_back(item);
        }
        Value element = nullptr;
        for (Value item : items) element = element ? heap_.join(element, item) : item;
        return heap_.some(Kind::Tuple, element);
      }
      if (instance->payload) return iterate(instance->payload, span);
      if (class_attribute(instance->cls, names::getitem)) {
        return heap_.some(Kind::Tuple, call_method(iterable, "__getitem__", {heap_.integer(0)}));
      }
      return heap_.some(Kind::Tuple, nullptr);
    }
    case Kind::Union: {
      Value result = nullptr;
      for (Value alternative : as<UnionObject>(iterable)->alternatives) {
        Value one = iterate(alternative, span);
        if (one->kind != Kind::Tuple) return heap_.some(Kind::Tuple, nullptr);
        if (!result) {
          result = one;
          continue;
        }
        Value element = nullptr;
        for (Value side : {result, one}) {
          auto* sequence = as<SequenceObject>(side);
          for (Value item : sequence->items) element = element ? heap_.join(element, item) : item;
          if (sequence->element) element = element ? heap_.join(element, sequence->element) : sequence->element;
        }
        result = heap_.some(Kind::Tuple, element);
      }
      return result;
    }
    default:
      return heap_.some(Kind::Tuple, nullptr);
  }
}

}  // namespace fullgraph::trace
