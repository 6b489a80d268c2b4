// Where tracing starts: an entry function's module, every forward of a model library, compiled functions of a script.
#include <algorithm>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"

namespace fullgraph::trace {

using ir::Symbol;

Interpreter::Interpreter(python::Program& program, const profile::Profile& profile, const Options& options)
    : program_(program), profile_(profile), options_(options) {
  const Sym* training = heap_.sym("training", Sym::What::Training);
  const Sym* grad = heap_.sym("grad mode is on", Sym::What::GradMode);
  Heap::Persistent lasting(heap_);
  switch (options.mode) {
    case Mode::Train:
      training_ = heap_.yes;
      root_grad_mode_ = heap_.yes;
      break;
    case Mode::Eval:
      training_ = heap_.no;
      root_grad_mode_ = heap_.no;
      break;
    case Mode::Any:
      training_ = heap_.typed(Kind::Bool, training);
      root_grad_mode_ = heap_.typed(Kind::Bool, grad);
      break;
  }
  grad_mode_ = heap_.yes;
  know_native_operators();
}

Interpreter::~Interpreter() = default;

void Interpreter::reset() {
  flush_registrations();
  conditions_.clear();
  raised_ = nullptr;
  marks_.clear();
  steps_ = 0;
  step_limit_ = 150'000;
  depth_ = 0;
  disabled_ = 0;
  inexact_loops_ = 0;
  maybe_raised_ = false;
  enter_region_ = false;
  hop_serial_ = 0;
  policy_ = nullptr;
  root_.clear();
  reached_.swap(root_functions_);
  root_functions_.clear();
  fullgraph_.reset();
  grad_mode_ = heap_.yes;
  compiled_modules_called_.clear();
  compiled_.clear();
  entry_functions_.clear();
  global_backward_hooks_.clear();
  heap_.rollback_all();
  since_.clear();
  drawn_.clear();
  readers_run_.clear();
  heap_.clear();
}

void Interpreter::load(const ir::Module& module) {
  module_object(&module);
  reset();
}

// Runs `body` in a frame that stands for the module's own code.
void Interpreter::in_module(const ir::Module& module, const std::function<void(PyModuleObject*)>& body) {
  PyModuleObject* object = module_object(&module);
  Frame frame;
  frame.module = &module;
  frame.env = object->globals;
  frame.name = module.name;
  Frame* outer = std::exchange(frame_, &frame);
  body(object);
  frame_ = outer;
}

Arguments Interpreter::unknown_arguments(FunctionObject* function, std::size_t skip, ClassObject* receiver) {
  Arguments arguments;
  arguments.span = function->function->name_span;
  arguments.module = function->module;
  for (std::size_t i = skip; i < function->function->params.count; ++i) {
    const ir::Param& param = function->module->params[function->function->params.first + i];
    switch (param.kind) {
      case ir::ParamKind::VarArgs:
        arguments.more_positional = true;
        break;
      case ir::ParamKind::KwArgs:
        arguments.more_keywords = true;
        break;
      case ir::ParamKind::KeywordOnly:
        arguments.keywords.emplace_back(param.name, parameter_value(function, param, true, receiver));
        break;
      default:
        arguments.positional.push_back(parameter_value(function, param, true, receiver));
        break;
    }
  }
  if (arguments.more_positional) {
    // Parameters after *args are keywords already; those before it were given by position.
    arguments.more_element = heap_.root_argument;
  }
  arguments.positional_spans.assign(arguments.positional.size(), arguments.span);
  return arguments;
}

// Of a callable that nobody has been seen to call.
Arguments Interpreter::unknown_arguments_of(Value callable) {
  FunctionObject* function = nullptr;
  ClassObject* receiver = nullptr;
  if (callable->kind == Kind::Function) function = as<FunctionObject>(callable);
  if (callable->kind == Kind::Method && as<MethodObject>(callable)->function->kind == Kind::Function) {
    function = as<FunctionObject>(as<MethodObject>(callable)->function);
    receiver = class_of(as<MethodObject>(callable)->self);
  }
  if (callable->kind == Kind::Instance) {
    receiver = as<InstanceObject>(callable)->cls;
    Value forward = class_attribute(receiver, as<InstanceObject>(callable)->module ? names::forward : names::call);
    if (forward && forward->kind == Kind::Function) function = as<FunctionObject>(forward);
  }
  if (function) return unknown_arguments(function, callable->kind == Kind::Function ? 0 : 1, receiver);
  Arguments open;
  open.more_positional = open.more_keywords = true;
  open.more_element = heap_.root_argument;
  return open;
}

void Interpreter::trace_module_root(const ir::Module& module, ir::ClassId id) {
  in_module(module, [&](PyModuleObject*) {
    auto found = class_objects_.find(&module.cls(id));
    if (found == class_objects_.end()) return;
    ClassObject* cls = found->second;
    if (!cls->is_module && !cls->unknown_base) return;
    Value forward = class_attribute(cls, names::forward);
    if (!forward) return;
    InstanceObject* instance = instantiate_root(cls);
    steps_ = 0;
    Value target = heap_.make<CompiledObject>(instance);
    FunctionObject* function = nullptr;
    if (forward->kind == Kind::Function) function = as<FunctionObject>(forward);
    Arguments arguments;
    if (function) {
      arguments = unknown_arguments(function, 1, cls);
    } else {
      arguments.more_positional = arguments.more_keywords = true;
      arguments.more_element = heap_.root_argument;
    }
    arguments.span = function ? function->function->name_span : module.cls(id).name_span;
    arguments.module = &module;
    grad_mode_ = root_grad_mode_;
    call(target, arguments);
  });
  reset();
}

void Interpreter::trace_function_root(const ir::Module& module, ir::FunctionId id) {
  in_module(module, [&](PyModuleObject* object) {
    Value value = module_attribute(object, module.function(id).name);
    if (!value) return;
    Value target = value;
    if (target->kind == Kind::Compiled) target = as<CompiledObject>(target)->target;
    if (target->kind != Kind::Function) return;
    Arguments arguments = unknown_arguments(as<FunctionObject>(target), 0);
    grad_mode_ = root_grad_mode_;
    auto* compiled = value->kind == Kind::Compiled ? as<CompiledObject>(value) : heap_.make<CompiledObject>(target);
    call_compiled(compiled, arguments);
  });
  reset();
}

// Eagerly, with unknown arguments: to see the hooks, checkpoints and compiled functions that it sets up.
void Interpreter::scan_function(const ir::Module& module, ir::FunctionId id) {
  const ir::Function& code = module.function(id);
  step_limit_ = 5'000;
  in_module(module, [&](PyModuleObject* object) {
    Value self = nullptr;
    FunctionObject* function = nullptr;
    if (code.owner) {
      auto found = class_objects_.find(&module.cls(code.owner));
      if (found == class_objects_.end()) return;
      Value value = found->second->attributes.get(code.name);
      if (!value) return;
      if (value->kind == Kind::StaticMethod || value->kind == Kind::ClassMethod)
        value = as<PropertyObject>(value)->getter;
      if (value->kind != Kind::Function) return;
      function = as<FunctionObject>(value);
      if (function->function->params.count > 0) {
        self = found->second->is_module ? instantiate_root(found->second)
                                        : some_instance(found->second, heap_.sym("self"));
        steps_ = 0;
        raised_ = nullptr;
      }
    } else {
      Value value = module_attribute(object, code.name);
      if (!value || value->kind != Kind::Function) return;
      function = as<FunctionObject>(value);
    }
    if (function->function != &code) return;
    Arguments arguments = unknown_arguments(function, self ? 1 : 0, self ? class_of(self) : nullptr);
    call_function(function, self, arguments);
    for (CompiledObject* compiled : std::vector<CompiledObject*>(compiled_)) trace_uncalled(compiled);
  });
  reset();
}

// A compiled object that nobody has been seen to call is a root of its own.
void Interpreter::trace_uncalled(CompiledObject* compiled) {
  if (compiled->disabled != Disabled::No) return;
  raised_ = nullptr;
  Value target = compiled->target;
  FunctionObject* function = nullptr;
  std::size_t skip = 0;
  if (target->kind == Kind::Function) function = as<FunctionObject>(target);
  if (target->kind == Kind::Method && as<MethodObject>(target)->function->kind == Kind::Function) {
    function = as<FunctionObject>(as<MethodObject>(target)->function);
    skip = 1;
  }
  if (target->kind == Kind::Instance && as<InstanceObject>(target)->module) {
    Value forward = class_attribute(as<InstanceObject>(target)->cls, names::forward);
    if (forward && forward->kind == Kind::Function) function = as<FunctionObject>(forward);
    skip = 1;
  }
  if (!function || traced_functions_.contains(function->function)) return;
  Arguments arguments =
      unknown_arguments(function, skip, target->kind == Kind::Instance ? as<InstanceObject>(target)->cls : nullptr);
  grad_mode_ = root_grad_mode_;
  call_compiled(compiled, arguments);
  grad_mode_ = heap_.yes;
}

void Interpreter::run_script(const ir::Module& module) {
  in_module(module, [&](PyModuleObject* object) {
    std::vector<CompiledObject*> found = compiled_;
    for (Value value : object->globals->names.values()) {
      if (value->kind == Kind::Compiled) found.push_back(as<CompiledObject>(value));
    }
    for (CompiledObject* compiled : found) trace_uncalled(compiled);
  });
  reset();
}

// Beside an entry: functions of the checked files that nothing calls, for what they do wrong outside compiled code.
void Interpreter::scan_hazards(const ir::Module& module, std::string_view except) {
  std::vector<Event> kept = std::exchange(events_, {});
  std::unordered_set<Symbol> called;
  for (const ir::Expr& expr : module.exprs) {
    if (expr.kind == ir::ExprKind::Call && module.expr(expr.a).kind == ir::ExprKind::Name)
      called.insert(module.expr(expr.a).name);
  }
  if (span_contains_name(module, {0, UINT32_MAX}, {"compile"})) {
    for (std::size_t i = 0; i < module.functions.size(); ++i) {
      const ir::Function& function = module.functions[i];
      if (function.owner || function.parent || function.lambda_body || function.name.text() == except ||
          called.contains(function.name))
        continue;
      scan_function(module, {static_cast<std::uint32_t>(i)});
    }
  }
  for (Event& found : events_) {
    if (!found.traced && found.gb_id.empty() && (found.kind == EventKind::LateHook || found.kind == EventKind::Hazard))
      kept.push_back(std::move(found));
  }
  events_ = std::move(kept);
}

namespace {

void mark_inputs(Value value, int depth = 0) {
  if (depth > 8) return;
  switch (value->kind) {
    case Kind::Tensor:
      if (!as<TensorObject>(value)->parameter) as<TensorObject>(value)->origin = Origin::Input;
      break;
    case Kind::Tuple:
    case Kind::List:
    case Kind::Set:
      for (Value item : as<SequenceObject>(value)->items) mark_inputs(item, depth + 1);
      break;
    case Kind::Dict:
      for (auto& entry : as<DictObject>(value)->entries) mark_inputs(entry.value, depth + 1);
      break;
    default:
      break;
  }
}

}  // namespace

Result<void> Interpreter::trace_entry(std::string_view entry) {
  auto usage = [&](std::string message) {
    return std::unexpected(Error{ErrorKind::Usage, std::move(message), std::nullopt});
  };
  auto colon = entry.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == entry.size())
    return usage("entry '" + std::string(entry) + "' is not of the form FILE:function or pkg.module:function");
  std::string where(entry.substr(0, colon)), name(entry.substr(colon + 1));
  const ir::Module* module = nullptr;
  if (where.ends_with(".py")) {
    python::ModuleName dotted = python::module_name_of(where);
    for (const auto& file : program_.files()) {
      if (file.module && (file.shown == where || file.path == where)) module = file.module.get();
    }
    for (const auto& file : program_.files()) {
      if (!module && file.module && file.module->name == dotted.name) module = file.module.get();
    }
    if (!module) module = program_.find(dotted.name);
  } else {
    module = program_.find(where);
  }
  if (!module)
    return usage("entry '" + std::string(entry) + "': there is no module '" + where +
                 "' among the checked files or on the search path");
  entry_mode_ = true;
  entry_module_ = module;
  compile_seen_ = false;
  std::optional<Error> error;
  in_module(*module, [&](PyModuleObject* object) {
    Value function = module_attribute(object, Symbol::intern(name));
    if (!function) {
      error = Error{ErrorKind::Usage,
                    "entry '" + std::string(entry) + "': module '" + module->name + "' has no function '" + name + "'",
                    std::nullopt};
      return;
    }
    Arguments none;
    none.module = module;
    Value result = call(function, none);
    raised_ = nullptr;
    if (result->kind != Kind::Tuple || !as<SequenceObject>(result)->exact ||
        as<SequenceObject>(result)->items.empty()) {
      if (result->kind == Kind::Function || result->kind == Kind::Instance || result->kind == Kind::Compiled) {
        result = heap_.sequence(Kind::Tuple, {result});
      } else {
        return;
      }
    }
    auto& items = as<SequenceObject>(result)->items;
    Value callable = items[0];
    if (callable->kind == Kind::Instance && as<InstanceObject>(callable)->module)
      report_archive(as<InstanceObject>(callable));
    Arguments arguments;
    if (items.size() == 1) arguments = unknown_arguments_of(callable);
    arguments.module = module;
    if (items.size() > 1 && (items[1]->kind == Kind::Tuple || items[1]->kind == Kind::List)) {
      arguments.positional = as<SequenceObject>(items[1])->items;
      arguments.more_positional = !as<SequenceObject>(items[1])->exact;
    } else if (items.size() > 1 && items[1]->kind != Kind::None) {
      arguments.more_positional = true;
    }
    if (items.size() > 2 && items[2]->kind == Kind::Dict) {
      for (auto& entry_of : as<DictObject>(items[2])->entries) {
        if (entry_of.key->kind == Kind::Str)
          arguments.keywords.emplace_back(Symbol::intern(as<StrObject>(entry_of.key)->value), entry_of.value);
      }
    }
    for (Value value : arguments.positional) mark_inputs(value);
    for (auto& [key, value] : arguments.keywords) mark_inputs(value);
    if (callable->kind == Kind::Function || callable->kind == Kind::Method) arguments.span = {};
    arguments.positional_spans.resize(arguments.positional.size());
    grad_mode_ = root_grad_mode_;
    steps_ = 0;
    // Code that compiles things itself, or could, decides what is compiled.
    for (auto& [code, source] : entry_functions_)
      compile_seen_ = compile_seen_ || (source == module && compiles_something(*code, *source));
    if (compile_seen_) {
      call(callable, arguments);
    } else {
      call_compiled(heap_.make<CompiledObject>(callable), arguments);
    }
  });
  reset();
  for (const auto& file : program_.files()) {
    if (file.module) scan_hazards(*file.module, name);
  }
  entry_mode_ = false;
  if (error) return std::unexpected(*error);
  return {};
}

}  // namespace fullgraph::trace
