// Attributes, classes, modules and imports.
#include <algorithm>
#include <unordered_set>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"
#include "analyzer/trace/one_of.h"

namespace fullgraph::trace {

using ir::Symbol;

namespace {

const std::unordered_set<std::string_view>& builtin_names() {
  static const std::unordered_set<std::string_view> names = {"abs",
                                                             "aiter",
                                                             "all",
                                                             "anext",
                                                             "any",
                                                             "ascii",
                                                             "bin",
                                                             "bool",
                                                             "breakpoint",
                                                             "bytearray",
                                                             "bytes",
                                                             "callable",
                                                             "chr",
                                                             "classmethod",
                                                             "compile",
                                                             "complex",
                                                             "delattr",
                                                             "dict",
                                                             "dir",
                                                             "divmod",
                                                             "enumerate",
                                                             "eval",
                                                             "exec",
                                                             "filter",
                                                             "float",
                                                             "format",
                                                             "frozenset",
                                                             "getattr",
                                                             "globals",
                                                             "hasattr",
                                                             "hash",
                                                             "help",
                                                             "hex",
                                                             "id",
                                                             "input",
                                                             "int",
                                                             "isinstance",
                                                             "issubclass",
                                                             "iter",
                                                             "len",
                                                             "list",
                                                             "locals",
                                                             "map",
                                                             "max",
                                                             "memoryview",
                                                             "min",
                                                             "next",
                                                             "object",
                                                             "oct",
                                                             "open",
                                                             "ord",
                                                             "pow",
                                                             "print",
                                                             "property",
                                                             "range",
                                                             "repr",
                                                             "reversed",
                                                             "round",
                                                             "set",
                                                             "setattr",
                                                             "slice",
                                                             "sorted",
                                                             "staticmethod",
                                                             "str",
                                                             "sum",
                                                             "super",
                                                             "tuple",
                                                             "type",
                                                             "vars",
                                                             "zip",
                                                             "__import__",
                                                             "NotImplemented",
                                                             "BaseException",
                                                             "Exception",
                                                             "ArithmeticError",
                                                             "AssertionError",
                                                             "AttributeError",
                                                             "BufferError",
                                                             "EOFError",
                                                             "FileNotFoundError",
                                                             "FloatingPointError",
                                                             "GeneratorExit",
                                                             "ImportError",
                                                             "IndexError",
                                                             "IOError",
                                                             "KeyError",
                                                             "KeyboardInterrupt",
                                                             "LookupError",
                                                             "MemoryError",
                                                             "ModuleNotFoundError",
                                                             "NameError",
                                                             "NotImplementedError",
                                                             "OSError",
                                                             "OverflowError",
                                                             "PermissionError",
                                                             "RecursionError",
                                                             "RuntimeError",
                                                             "StopIteration",
                                                             "StopAsyncIteration",
                                                             "SyntaxError",
                                                             "SystemError",
                                                             "SystemExit",
                                                             "TimeoutError",
                                                             "TypeError",
                                                             "UnboundLocalError",
                                                             "UnicodeDecodeError",
                                                             "UnicodeError",
                                                             "ValueError",
                                                             "ZeroDivisionError",
                                                             "Warning",
                                                             "DeprecationWarning",
                                                             "FutureWarning",
                                                             "UserWarning",
                                                             "RuntimeWarning"};
  return names;
}

bool is_exception_name(std::string_view name) {
  return name.starts_with("builtins.") &&
         (name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Exit") ||
          name.ends_with("Interrupt") || name.ends_with("Iteration") || name.ends_with("Warning"));
}

// Base classes of built-in exceptions, as far as `except` clauses need them.
std::string_view exception_base(std::string_view name) {
  if (name == "builtins.BaseException") return "builtins.object";
  if (name == "builtins.Exception" || name == "builtins.KeyboardInterrupt" || name == "builtins.SystemExit" ||
      name == "builtins.GeneratorExit")
    return "builtins.BaseException";
  if (name == "builtins.KeyError" || name == "builtins.IndexError") return "builtins.LookupError";
  if (name == "builtins.ModuleNotFoundError") return "builtins.ImportError";
  if (name == "builtins.ZeroDivisionError" || name == "builtins.OverflowError" || name == "builtins.FloatingPointError")
    return "builtins.ArithmeticError";
  if (name == "builtins.NotImplementedError" || name == "builtins.RecursionError") return "builtins.RuntimeError";
  if (name == "builtins.FileNotFoundError" || name == "builtins.PermissionError" || name == "builtins.TimeoutError" ||
      name == "builtins.IOError")
    return "builtins.OSError";
  if (name == "builtins.UnicodeError") return "builtins.ValueError";
  if (name == "builtins.UnicodeDecodeError") return "builtins.UnicodeError";
  if (name == "builtins.UserWarning" || name == "builtins.FutureWarning" || name == "builtins.DeprecationWarning" ||
      name == "builtins.RuntimeWarning")
    return "builtins.Warning";
  return "builtins.Exception";
}

}  // namespace

Value Interpreter::lookup_builtin(Symbol name) {
  static const Symbol not_implemented = Symbol::intern("NotImplemented"), debug = Symbol::intern("__debug__");
  if (name == not_implemented) return heap_.not_implemented;
  if (name == debug) return heap_.yes;
  auto [found, is_first] = builtins_.try_emplace(name, nullptr);
  if (is_first && builtin_names().contains(name.text()))
    found->second = external("builtins." + std::string(name.text()));
  return found->second;
}

// ------------------------------------------------------------------------------------------------ names outside

// TorchScript keeps torch's own classes below its root, and second copies of a class apart:
// "__torch__.torch.nn.modules.linear.___torch_mangle_1.Linear"
static std::string without_script_root(std::string_view name) {
  constexpr std::string_view root = "__torch__.", mangled = "___torch_mangle_";
  name.remove_prefix(root.size());
  std::string out;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('.'), name.size());
    if (!name.starts_with(mangled)) out += (out.empty() ? "" : ".") + std::string(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return out;
}

Value Interpreter::external(const std::string& full) {
  if (full.starts_with("__torch__.torch.") && !program_.holds_below(full)) return external(without_script_root(full));
  std::string name(profile_.canonical(full));
  auto found = externals_.find(name);
  if (found != externals_.end()) return found->second;
  Heap::Persistent lasting(heap_);
  Value value = nullptr;
  if (name == "typing.TYPE_CHECKING")
    value = heap_.no;
  else if (name == "math.pi")
    value = heap_.real(3.141592653589793);
  else if (name == "math.e")
    value = heap_.real(2.718281828459045);
  else if (name == "math.inf" || name == "torch.inf")
    value = heap_.real(__builtin_inf());
  else if (name == "math.nan" || name == "torch.nan")
    value = heap_.typed(Kind::Float);
  else if (name == "sys.platform")
    value = heap_.string("linux");
  else if (name == "sys.version_info")
    value = heap_.sequence(Kind::Tuple, {heap_.integer(3), heap_.integer(11), heap_.integer(0)});
  else if (name == "torch.__version__")
    value = heap_.string(profile_.version());
  else
    value = heap_.make<ExternalObject>(name);
  externals_.emplace(name, value);
  return value;
}

// A class that is not in source, with the bases that are known of it.
ClassObject* Interpreter::external_class(const std::string& full) {
  std::string name(profile_.canonical(full));
  auto found = external_classes_.find(name);
  if (found != external_classes_.end()) return found->second;
  Heap::Persistent lasting(heap_);
  auto* cls = heap_.make<ClassObject>();
  cls->name = name;
  external_classes_.emplace(name, cls);
  if (is_exception_name(name)) {
    cls->is_exception = true;
    cls->bases.push_back(external_class(std::string(exception_base(name))));
  } else if (name == "torch.nn.Module") {
    cls->is_module = true;
  } else if (profile_.is_module_class(name)) {
    cls->bases.push_back(external_class("torch.nn.Module"));
  } else if (name == "torch.autograd.Function") {
    cls->is_function = true;
  } else if (name == "enum.Enum" || name == "enum.IntEnum" || name == "enum.StrEnum" || name == "enum.Flag") {
    cls->is_enum = true;
  } else if (name == "typing.NamedTuple") {
    cls->is_namedtuple = true;
  } else if (name != "builtins.object" && !name.starts_with("builtins.") && !name.starts_with("abc.") &&
             !name.starts_with("typing.") && !name.starts_with("collections.") && name != "torch.Tensor") {
    cls->unknown_base = true;
  }
  compute_mro(cls);
  return cls;
}

// Python's C3 linearisation; where it has no answer, depth first without repetition.
void Interpreter::compute_mro(ClassObject* cls) {
  std::vector<std::vector<ClassObject*>> lists;
  std::vector<ClassObject*> direct;
  for (Value base : cls->bases) {
    lists.push_back(as<ClassObject>(base)->mro);
    direct.push_back(as<ClassObject>(base));
  }
  lists.push_back(direct);
  cls->mro = {cls};
  for (;;) {
    std::erase_if(lists, [](const auto& list) { return list.empty(); });
    if (lists.empty()) break;
    ClassObject* next = nullptr;
    for (const auto& list : lists) {
      ClassObject* candidate = list.front();
      bool blocked = std::any_of(lists.begin(), lists.end(), [&](const auto& other) {
        return std::find(other.begin() + 1, other.end(), candidate) != other.end();
      });
      if (!blocked) {
        next = candidate;
        break;
      }
    }
    if (!next) next = lists.front().front();
    cls->mro.push_back(next);
    for (auto& list : lists) std::erase(list, next);
  }
  for (ClassObject* base : cls->mro) {
    if (base == cls) continue;
    cls->unknown_base = cls->unknown_base || base->unknown_base;
    cls->is_module = cls->is_module || base->is_module;
    cls->is_function = cls->is_function || base->is_function;
    cls->is_enum = cls->is_enum || base->is_enum;
    cls->is_exception = cls->is_exception || base->is_exception;
    cls->dataclass = cls->dataclass || base->dataclass;
    cls->is_namedtuple = cls->is_namedtuple || base->is_namedtuple;
  }
}

bool Interpreter::is_subclass(const ClassObject* cls, std::string_view name) const {
  return std::any_of(cls->mro.begin(), cls->mro.end(), [&](const ClassObject* base) { return base->name == name; });
}

ClassObject* Interpreter::class_of(Value value) {
  if (value->kind == Kind::Instance) return as<InstanceObject>(value)->cls;
  return nullptr;
}

// ------------------------------------------------------------------------------------------------ modules

// Whoever looks for a module depends on it from then on, on its own code and on what that depends on.
const ir::Module* Interpreter::find_module(std::string_view dotted, const ir::Module* user) {
  const ir::Module* found = program_.find(dotted);
  if (user == nullptr && frame_ != nullptr) user = frame_->module;
  if (found != nullptr && user != nullptr) note_use(user, found);
  return found;
}

PyModuleObject* Interpreter::module_object(const ir::Module* module) {
  auto found = modules_.find(module);
  if (found != modules_.end()) return found->second;
  Heap::Persistent lasting(heap_);
  auto mark = heap_.mark();
  auto* env = heap_.make<EnvObject>();
  env->module = module;
  env->globals = env;
  auto* object = heap_.make<PyModuleObject>(module, env);
  modules_.emplace(module, object);

  // The body runs on its own: eagerly, in no root, under no condition.
  Frame body;
  body.module = module;
  body.env = env;
  body.name = module->name;
  Frame* outer = std::exchange(frame_, &body);
  auto conditions = std::exchange(conditions_, {});
  Value raised = std::exchange(raised_, nullptr);
  auto steps = std::exchange(steps_, std::size_t{0});
  auto limit = step_limit_;
  auto loops = std::exchange(inexact_loops_, 0);
  auto grad = std::exchange(grad_mode_, heap_.yes);
  auto maybe = std::exchange(maybe_raised_, false);
  auto region = std::exchange(enter_region_, false);
  for (ir::StmtId id : module->block(module->body)) {
    // Importing runs little code of its own; what does more (documentation, registries) is cut short.
    step_limit_ = steps_ + kImportSteps;
    run_statement(id);
    raised_ = nullptr;
  }
  frame_ = outer;
  conditions_ = std::move(conditions);
  raised_ = raised;
  steps_ = steps;
  step_limit_ = limit;
  inexact_loops_ = loops;
  grad_mode_ = grad;
  maybe_raised_ = maybe;
  enter_region_ = region;
  heap_.commit(mark);
  return object;
}

Value Interpreter::module_value(const std::string& dotted) {
  if (const ir::Module* module = find_module(dotted)) return module_object(module);
  return external(dotted);
}

Value Interpreter::module_attribute(PyModuleObject* module, Symbol name) {
  if (Value value = module->globals->names.get(name)) {
    if (value->kind != Kind::Deferred) return value;
    Value resolved = resolve(value);
    module->globals->names.set(name, resolved);
    return resolved;
  }
  // Before star imports, which may be hundreds: a submodule of that name.
  if (module->module->is_package && !(module->globals->offered && module->globals->offered->names.get(name))) {
    if (const ir::Module* sub = find_module(module->module->name + "." + std::string(name.text()), module->module))
      return module_object(sub);
  }
  for (EnvObject* env : {module->globals, module->globals->offered}) {
    if (!env) continue;
    if (env != module->globals) {
      if (Value value = env->names.get(name)) return resolve(value);
    }
    for (const ir::Module* source : env->star_imports) {
      if (source == module->module) continue;
      PyModuleObject* other = module_object(source);
      if (Value value = other->globals->names.get(name)) {
        note_use(module->module, source);
        return resolve(value);
      }
    }
  }
  if (name == names::name) return heap_.string(module->module->name);
  return nullptr;
}

Value Interpreter::import_name(const std::string& module, Symbol name) {
  if (const ir::Module* source = find_module(module)) {
    PyModuleObject* object = module_object(source);
    if (Value value = module_attribute(object, name)) return value;
    // A package that makes its names on the way (__getattr__): look in its star imports' packages, else unknown.
    return heap_.unknown;
  }
  std::string full = module + "." + std::string(name.text());
  if (const ir::Module* sub = find_module(full)) return module_object(sub);
  return external(full);
}

Value Interpreter::resolve(Value value) {
  int hops = 0;
  while (value && value->kind == Kind::Deferred && ++hops < 32) {
    auto* deferred = as<DeferredObject>(value);
    // Two modules that import the name from each other: on the way round it is not known.
    deferred->kind = Kind::Unknown;
    Value found = import_name(deferred->module, deferred->name);
    deferred->kind = Kind::Deferred;
    if (found == deferred) return heap_.unknown;
    value = found;
  }
  return value && value->kind != Kind::Deferred ? value : heap_.unknown;
}

// ------------------------------------------------------------------------------------------------ attributes

Value Interpreter::class_attribute(ClassObject* cls, Symbol name, ClassObject** where) {
  for (ClassObject* base : cls->mro) {
    if (Value value = base->attributes.get(name)) {
      if (where) *where = base;
      return resolve(value);
    }
  }
  return nullptr;
}

Value Interpreter::bind_attribute(Value value, Value self, ClassObject* owner, ir::Span span) {
  switch (value->kind) {
    case Kind::Function:
      return heap_.make<MethodObject>(self, value);
    case Kind::Property: {
      auto* property = as<PropertyObject>(value);
      Arguments arguments;
      arguments.positional = {self};
      arguments.span = span;
      arguments.module = frame_->module;
      return call(property->getter, arguments);
    }
    case Kind::StaticMethod:
      return as<PropertyObject>(value)->getter;
    case Kind::ClassMethod:
      return heap_.make<MethodObject>(self->kind == Kind::Instance ? as<InstanceObject>(self)->cls : owner,
                                      as<PropertyObject>(value)->getter);
    case Kind::Compiled: {  // @torch.compile on a method
      auto* compiled = as<CompiledObject>(value);
      if (compiled->target->kind != Kind::Function) return value;
      auto* bound = heap_.make<CompiledObject>(*compiled);
      bound->target = heap_.make<MethodObject>(self, compiled->target);
      return bound;
    }
    case Kind::Instance:
    case Kind::Partial:
    default:
      return value;
  }
}

// Something may be known of an attribute of an object that was not built here: its class's default gives the type.
Value Interpreter::some_attribute(InstanceObject* instance, Symbol name, ir::Span) {
  std::string prefix = instance->sym ? instance->sym->text : "self";
  const Sym* sym = heap_.sym(prefix + "." + std::string(name.text()));
  auto typed_like = [&](Value value) -> Value {
    switch (value->kind) {
      case Kind::Bool:
      case Kind::Int:
      case Kind::Float:
      case Kind::Str:
        return heap_.typed(value->kind, sym);
      case Kind::List:
      case Kind::Tuple:
        return heap_.some(value->kind, nullptr);
      default:
        return nullptr;
    }
  };
  if (Value value = class_attribute(instance->cls, name)) {
    if (Value typed = typed_like(value)) return typed;
  } else if (Value init = class_attribute(instance->cls, names::init); init && init->kind == Kind::Function) {
    auto* function = as<FunctionObject>(init);
    for (std::size_t i = 0; i < function->function->params.count; ++i) {
      if (function->module->params[function->function->params.first + i].name == name && function->defaults[i]) {
        if (Value typed = typed_like(function->defaults[i])) return typed;
      }
    }
  }
  attribute_owners_[sym] = instance->cls;
  return heap_.symbolic(sym);
}

Value Interpreter::instance_attribute(InstanceObject* instance, Symbol name, ir::Span span) {
  if (instance->module && name == names::training) {
    if (options_.mode == Mode::Eval && entry_mode_) return heap_.no;
    if (instance->module->training && (entry_mode_ || !*instance->module->training))
      return heap_.boolean(*instance->module->training);
    return training_;
  }
  if (instance->cls->name == "logging.Logger") return heap_.make<NativeObject>(instance, name);
  if (!instance->module && traced()) run_getattribute(instance, name);
  ClassObject* owner = nullptr;
  Value in_class = class_attribute(instance->cls, name, &owner);
  if (in_class && in_class->kind == Kind::Property && !instance->attributes.get(name)) {
    // functools.cached_property takes a lock on Python 3.11
    bool breaks = as<PropertyObject>(in_class)->cached && traced();
    Value value = bind_attribute(in_class, instance, owner, span);
    if (breaks) graph_break(EventKind::Unsupported, span, "GB0142", "functools.cached_property", text(span));
    if (as<PropertyObject>(in_class)->cached) heap_.set_attribute(instance, instance->attributes, name, value);
    return value;
  }
  if (Value value = instance->attributes.get(name)) {
    // A flag that the constructor sets to a literal is there to be changed: under roots that nobody built it is open.
    if (!entry_mode_ && instance->module && value->kind == Kind::Bool && value->known && frame_->region) {
      return heap_.typed(Kind::Bool, heap_.sym_of(instance->cls->name + "." + std::string(name.text()),
                                                  "self." + std::string(name.text())));
    }
    return value;
  }
  if (in_class) {
    if (instance->opaque && !instance->module && in_class->kind != Kind::Function &&
        in_class->kind != Kind::StaticMethod && in_class->kind != Kind::ClassMethod) {
      return some_attribute(instance, name, span);
    }
    return bind_attribute(in_class, instance, owner, span);
  }
  if (name == names::class_) return instance->cls;
  if (name == names::dict) {
    auto* dict = heap_.dict();
    for (std::size_t i = 0; i < instance->attributes.keys().size(); ++i) {
      dict->entries.push_back(
          {heap_.string(instance->attributes.keys()[i].text()), instance->attributes.values()[i], false});
    }
    return dict;
  }
  if (instance->module) {
    if (Value value = builtin_layer_attribute(instance, name)) return value;
    static const std::unordered_set<std::string_view> methods = {"parameters",
                                                                 "named_parameters",
                                                                 "buffers",
                                                                 "named_buffers",
                                                                 "modules",
                                                                 "named_modules",
                                                                 "children",
                                                                 "named_children",
                                                                 "register_buffer",
                                                                 "register_parameter",
                                                                 "add_module",
                                                                 "register_module",
                                                                 "register_forward_hook",
                                                                 "register_forward_pre_hook",
                                                                 "register_full_backward_hook",
                                                                 "register_full_backward_pre_hook",
                                                                 "register_backward_hook",
                                                                 "requires_grad_",
                                                                 "train",
                                                                 "eval",
                                                                 "to",
                                                                 "cuda",
                                                                 "cpu",
                                                                 "half",
                                                                 "float",
                                                                 "double",
                                                                 "bfloat16",
                                                                 "apply",
                                                                 "compile",
                                                                 "state_dict",
                                                                 "load_state_dict",
                                                                 "zero_grad",
                                                                 "get_parameter",
                                                                 "get_submodule",
                                                                 "get_buffer",
                                                                 "append",
                                                                 "extend",
                                                                 "insert",
                                                                 "keys",
                                                                 "values",
                                                                 "items",
                                                                 "__len__",
                                                                 "type",
                                                                 "named_modules",
                                                                 "share_memory",
                                                                 "extra_repr",
                                                                 "_get_name",
                                                                 "register_load_state_dict_post_hook",
                                                                 "register_state_dict_pre_hook",
                                                                 "_register_state_dict_hook",
                                                                 "_register_load_state_dict_pre_hook",
                                                                 "register_load_state_dict_pre_hook",
                                                                 "pop",
                                                                 "update",
                                                                 "_call_impl",
                                                                 "__init__",
                                                                 "__call__",
                                                                 "forward",
                                                                 "flatten_parameters",
                                                                 "to_empty",
                                                                 "set_submodule",
                                                                 "clear"};
    if (methods.contains(name.text())) return heap_.make<NativeObject>(instance, name);
  }
  if (instance->payload && instance->payload->kind != Kind::Unknown) {
    if (instance->payload->kind == Kind::Dict || instance->payload->kind == Kind::List ||
        instance->payload->kind == Kind::Tuple) {
      return heap_.make<NativeObject>(instance->payload, name);
    }
  }
  if (instance->cls->is_exception && name == names::args) return heap_.sequence(Kind::Tuple, {heap_.typed(Kind::Str)});
  if (Value hook = class_attribute(instance->cls, names::getattr);
      hook && hook->kind == Kind::Function && !name.text().starts_with("__")) {
    return call_value(heap_.make<MethodObject>(instance, hook), {heap_.string(name.text())});
  }
  if (!instance->module && profiled_method(instance->cls, name.text())) return heap_.make<NativeObject>(instance, name);
  if (instance->cls->name == "types.CoroutineType" || instance->cls->name == "torch.library.Library")
    return heap_.make<NativeObject>(instance, name);
  if (instance->opaque || instance->cls->unknown_base) return some_attribute(instance, name, span);
  if (name.text().starts_with("__")) return heap_.make<NativeObject>(instance, name);
  return nullptr;
}

Value Interpreter::attribute(Value object, Symbol name, ir::Span span) {
  Value result = attribute_or_null(object, name, span);
  if (!result && object->kind == Kind::Instance) {
    if (entry_mode_ && !as<InstanceObject>(object)->module && attributes_known(as<InstanceObject>(object)->cls))
      raise_exception("builtins.AttributeError", span);
  }
  return result ? result : heap_.unknown;
}

// function.__code__, as far as decorators look at it: names and numbers of parameters and variables.
Value Interpreter::code_object(const FunctionObject& function) {
  const ir::Function& code = *function.function;
  std::vector<Value> variables;
  for (Symbol name : code.locals) variables.push_back(heap_.string(name.text()));
  std::int64_t positional = 0;
  for (std::size_t i = 0; i < code.params.count; ++i) {
    auto kind = function.module->params[code.params.first + i].kind;
    positional += kind == ir::ParamKind::PositionalOnly || kind == ir::ParamKind::Positional;
  }
  auto* object = heap_.make<InstanceObject>(external_class("types.CodeType"));
  object->opaque = true;
  object->attributes.set(Symbol::intern("co_varnames"), heap_.sequence(Kind::Tuple, std::move(variables)));
  object->attributes.set(Symbol::intern("co_argcount"), heap_.integer(positional));
  object->attributes.set(Symbol::intern("co_name"), heap_.string(code.name.text()));
  return object;
}

// Are all classes that instances take their attributes from written in source?
bool Interpreter::attributes_known(const ClassObject* cls) const {
  return !cls->unknown_base && std::ranges::all_of(cls->mro, [](const ClassObject* base) {
    return base->cls ||
           one_of(base->name, {"builtins.object", "typing.Generic", "typing.Protocol", "abc.ABC", "torch.nn.Module"});
  });
}

// Null: the object certainly has no such attribute.
Value Interpreter::attribute_or_null(Value object, Symbol name, ir::Span span) {
  if ((object->kind == Kind::Unknown || object->kind == Kind::Native) && name == names::tb_lasti)
    graph_break(EventKind::Unsupported, span, "GB9625", "traceback.tb_lasti", text(span));
  switch (object->kind) {
    case Kind::Unknown:
      if (name == names::training && !entry_mode_) return training_;  // a module, in the mode of all
      if (name == names::dtype) return heap_.symbolic(heap_.sym("dtype", Sym::What::FloatDtype));
      if (object->sym) return heap_.symbolic(heap_.member_sym(object->sym, name));
      return heap_.unknown;
    case Kind::Union: {
      Value result = nullptr;
      for (Value alternative : as<UnionObject>(object)->alternatives) {
        if (alternative->kind == Kind::None) continue;
        // What reads a dtype or a shape does not hold a container.
        bool container = alternative->kind >= Kind::Tuple && alternative->kind <= Kind::Dict;
        if (container && (name == names::dtype || name == names::shape)) continue;
        // Tensor or array: a test that was not understood decides which; what only the array breaks on is not sure.
        bool array = alternative->kind == Kind::Tensor && as<TensorObject>(alternative)->numpy;
        if (array && result && result->kind != Kind::Unknown) continue;
        Value one = attribute_or_null(alternative, name, span);
        if (!one) continue;
        result = result ? heap_.join(result, one) : one;
      }
      return result ? result : heap_.unknown;
    }
    case Kind::Tensor:
      return tensor_attribute(as<TensorObject>(object), name, span);
    case Kind::Instance:
      return instance_attribute(as<InstanceObject>(object), name, span);
    case Kind::Class: {
      auto* cls = as<ClassObject>(object);
      ClassObject* owner = nullptr;
      if (Value value = class_attribute(cls, name, &owner)) {
        if (value->kind == Kind::StaticMethod) return as<PropertyObject>(value)->getter;
        if (value->kind == Kind::ClassMethod) return heap_.make<MethodObject>(cls, as<PropertyObject>(value)->getter);
        return value;
      }
      if (name == names::name || name == names::qualname) {
        std::string_view full = cls->name;
        return heap_.string(full.substr(full.rfind('.') + 1));
      }
      if (name == names::module)
        return heap_.string(cls->module ? cls->module->name : std::string(cls->name).substr(0, cls->name.rfind('.')));
      if (name == names::doc) return heap_.typed(Kind::Str);
      if (cls->is_function && name.text() == "apply") return heap_.make<NativeObject>(cls, name);
      if (cls->is_module || !cls->cls) return heap_.make<NativeObject>(cls, name);
      if (cls->unknown_base || cls->is_enum) return heap_.unknown;
      return name.text().starts_with("__") ? heap_.unknown : nullptr;
    }
    case Kind::PyModule: {
      Value value = module_attribute(as<PyModuleObject>(object), name);
      return value ? value : heap_.unknown;
    }
    case Kind::External: {
      auto& members = as<ExternalObject>(object)->members;
      if (auto known = members.find(name); known != members.end()) return known->second;
      const std::string& base = as<ExternalObject>(object)->name;
      if (name == names::name && base.starts_with("torch")) return heap_.string(base.substr(base.rfind('.') + 1));
      if (name == names::module || name == names::qualname) return heap_.typed(Kind::Str);
      std::string full = base + "." + std::string(name.text());
      if (!base.starts_with("torch")) {
        if (const ir::Module* sub = find_module(full)) return module_object(sub);
      }
      return members[name] = external(full);
    }
    case Kind::Function: {
      auto* function = as<FunctionObject>(object);
      if (Value value = function->attributes.get(name)) return value;
      if (!function->operator_name.empty() && (name.text() == "register_fake" || name.text() == "register_kernel")) {
        if (name.text() == "register_fake") operators_[function->operator_name].faked = true;
        return external("fullgraph.identity");
      }
      if (name == names::name || name == names::qualname) return heap_.string(function->function->name.text());
      if (name == names::module) return heap_.string(function->module->name);
      if (name == names::code) return code_object(*function);
      if (name == names::doc || name == names::dict) return heap_.unknown;
      return name.text().starts_with("__") ? heap_.unknown : nullptr;
    }
    case Kind::Method: {
      auto* method = as<MethodObject>(object);
      if (name == names::self_) return method->self;
      if (name == names::func) return method->function;
      return attribute_or_null(method->function, name, span);
    }
    case Kind::Super: {
      auto* super = as<SuperObject>(object);
      ClassObject* cls = super->self->kind == Kind::Instance ? as<InstanceObject>(super->self)->cls
                         : super->self->kind == Kind::Class  ? as<ClassObject>(super->self)
                                                             : super->after;
      auto after = std::find(cls->mro.begin(), cls->mro.end(), super->after);
      if (after != cls->mro.end()) {
        for (auto base = after + 1; base != cls->mro.end(); ++base) {
          if (Value value = (*base)->attributes.get(name))
            return bind_attribute(resolve(value), super->self, *base, span);
          if (!(*base)->cls && (*base)->is_module) {
            if (super->self->kind == Kind::Instance && as<InstanceObject>(super->self)->module) {
              if (name == names::setattr || name == names::getattr || name.text() == "__getattribute__" ||
                  name.text() == "__delattr__")
                return heap_.make<NativeObject>(super->self, name);
              return heap_.make<NativeObject>(super->self, name);
            }
          }
        }
      }
      if (super->self->kind == Kind::Instance) {
        auto* instance = as<InstanceObject>(super->self);
        if (instance->payload && instance->payload->kind != Kind::Unknown && name != names::init)
          return heap_.make<NativeObject>(instance->payload, name);
      }
      return heap_.make<NativeObject>(super->self, name);
    }
    case Kind::Compiled: {
      auto* compiled = as<CompiledObject>(object);
      if (compiled->disabled != Disabled::No) return attribute_or_null(compiled->target, name, span);
      if (name.text() == "register_full_backward_hook" || name.text() == "register_full_backward_pre_hook" ||
          name.text() == "register_backward_hook")
        return heap_.make<NativeObject>(object, name);
      if (name.text() == "_orig_mod") return compiled->target;
      return attribute_or_null(compiled->target, name, span);
    }
    case Kind::Partial: {
      auto* partial = as<PartialObject>(object);
      if (name.text() == "func") return partial->function;
      if (name.text() == "keywords") {
        auto* dict = heap_.dict();
        for (const auto& [key, value] : partial->keywords)
          dict->entries.push_back({heap_.string(key.text()), value, false});
        return dict;
      }
      return heap_.unknown;
    }
    case Kind::Tuple: {
      auto* tuple = as<SequenceObject>(object);
      for (std::size_t i = 0; i < tuple->field_names.size(); ++i) {
        if (tuple->field_names[i] == name)
          return tuple->exact && i < tuple->items.size() ? tuple->items[i]
                 : tuple->element                        ? tuple->element
                                                         : heap_.unknown;
      }
      return heap_.make<NativeObject>(object, name);
    }
    case Kind::Int:
      if (name.text() == "real" || name.text() == "numerator") return object;
      return heap_.make<NativeObject>(object, name);
    case Kind::None:
      return nullptr;
    case Kind::Property:
    case Kind::List:
    case Kind::Set:
    case Kind::Dict:
    case Kind::Str:
    case Kind::Bytes:
    case Kind::Bool:
    case Kind::Float:
    case Kind::Iterator:
    case Kind::Handle:
    case Kind::Context:
      return heap_.make<NativeObject>(object, name);
    default:
      return heap_.unknown;
  }
}

void Interpreter::report_requires_grad_assigned(Origin origin, Truth before, std::optional<bool> flag, ir::Span span,
                                                ir::Span object_span) {
  if (!traced()) return;
  Event result = event(EventKind::RequiresGradAssigned, span);
  result.gb_id = "GB0206";
  result.subject = text(object_span);
  result.origin = origin;
  result.before = before;
  result.value = flag ? (*flag ? Truth::Yes : Truth::No) : Truth::Unknown;
  graph_break(std::move(result));
  if (flag == std::optional(true)) report_requires_grad_flag(span);
}

// Python:  self.weight.register_post_accumulate_grad_hook(hook)
//          self.weight = nn.Parameter(loaded)      (or register_parameter("weight", …))
void Interpreter::report_replaced_parameter(Value old, Value value, ir::Span span, std::string subject) {
  if (!old || old == value || old->kind != Kind::Tensor) return;
  const Registration* hook = as<TensorObject>(old)->hook;
  if (!hook || hook->removed) return;
  Event lost = event(EventKind::ParameterReplaced, hook->where.span);
  lost.where = hook->where;
  lost.traced = false;
  lost.subject = subject.empty() ? text(span) : std::move(subject);
  lost.related.push_back({{frame_->module, span}, "the parameter is replaced here, without its hook"});
  emit(std::move(lost));
}

void Interpreter::set_attribute(Value object, Symbol name, Value value, ir::Span span, ir::Span object_span) {
  object = without_none(object);
  switch (object->kind) {
    case Kind::Instance: {
      auto* instance = as<InstanceObject>(object);
      if (name == names::class_) {
        graph_break(EventKind::Unsupported, span, "GB4271", text(span), text(object_span));
        return;
      }
      if (instance->module && name == names::training) {
        auto known = truth(value);
        heap_.change_module(instance)->module->training = known;
        return;
      }
      if (Value property = class_attribute(instance->cls, name);
          property && property->kind == Kind::Property && as<PropertyObject>(property)->setter) {
        call_value(heap_.make<MethodObject>(object, as<PropertyObject>(property)->setter), {value});
        return;
      }
      if (Value hook = class_attribute(instance->cls, names::setattr);
          hook && hook->kind == Kind::Function && frame_->object != hook) {
        call_value(heap_.make<MethodObject>(object, hook), {heap_.string(name.text()), value});
        return;
      }
      if (instance->payload && instance->payload->kind == Kind::Dict && instance->cls->dataclass)
        set_subscript(instance->payload, heap_.string(name.text()), value, span);
      report_side_effect(instance, value, span);
      report_replaced_parameter(instance->attributes.get(name), value, span);
      heap_.set_attribute(instance, instance->attributes, name, value);
      return;
    }
    case Kind::External: {
      auto* cls = external_class(as<ExternalObject>(object)->name);
      heap_.set_attribute(cls, cls->attributes, name, value);
      return;
    }
    case Kind::Class:
      // A method that a library replaces by something unknown: what its class says is the best that is known.
      if (!entry_mode_ && value->kind == Kind::Unknown && as<ClassObject>(object)->attributes.get(name)) return;
      heap_.set_attribute(object, as<ClassObject>(object)->attributes, name, value);
      return;
    case Kind::Function:
      if (traced()) graph_break(EventKind::Unsupported, span, "GB0467", text(span), text(object_span));
      heap_.set_attribute(object, as<FunctionObject>(object)->attributes, name, value);
      return;
    case Kind::PyModule:
      heap_.set_name(as<PyModuleObject>(object)->globals, name, value);
      return;
    case Kind::Tensor: {
      auto* tensor = as<TensorObject>(object);
      if (name == names::requires_grad) {
        auto known = truth(value);
        report_requires_grad_assigned(tensor->parameter ? Origin::Parameter : tensor->origin, tensor->requires_grad,
                                      known, span, object_span);
        heap_.change(tensor)->requires_grad = known ? (*known ? Truth::Yes : Truth::No) : Truth::Unknown;
      } else if (name == names::data && traced() && tensor->origin == Origin::Intermediate) {
        graph_break(EventKind::Unsupported, span, "GB0056", text(span), text(object_span));
      }
      return;
    }
    case Kind::Compiled:
      set_attribute(as<CompiledObject>(object)->target, name, value, span, object_span);
      return;
    case Kind::Unknown:
      // hidden_states of which nothing is known: the name of the attribute tells that it is a tensor
      if (name == names::requires_grad)
        report_requires_grad_assigned(Origin::Unknown, Truth::Unknown, truth(value), span, object_span);
      return;
    default:
      return;
  }
}

}  // namespace fullgraph::trace
