// The standard library, as far as model code uses it, and the dispatch of calls that leave the program.
#include <algorithm>
#include <cmath>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"
#include "analyzer/trace/one_of.h"
#include "analyzer/trace/returns.h"

namespace fullgraph::trace {

using ir::Symbol;

namespace {

EventKind kind_of(std::string_view gb_id, std::string_view name) {
  if (name.starts_with("logging.") || name.starts_with("warnings.") || name == "builtins.print")
    return EventKind::Output;
  if (gb_id == "GB0036" || gb_id == "GB0246") return EventKind::DynamicShape;
  if (gb_id == "GB0033") return EventKind::DataDependentOperator;
  if (gb_id == "GB0124" || gb_id == "GB0109") return EventKind::ScalarRead;
  if (gb_id == "GB0170") return EventKind::TensorBranch;
  if (gb_id == "GB0007" || gb_id == "GB0008") return EventKind::SkippedCall;
  return EventKind::Unsupported;
}

}  // namespace

// What the profile says of a plain call: a break with this id, whatever the arguments.
void Interpreter::report_profiled(const std::string& name, const Arguments& arguments) {
  if (!traced()) return;
  const profile::Callable* callable = profile_.callable(name);
  if (!callable || callable->gb_id.empty()) return;
  EventKind kind = kind_of(callable->gb_id, name);
  if (is_fullgraph() && one_of(callable->gb_id, {"GB0036", "GB0033", "GB0124"})) return;
  graph_break(kind, arguments.span, callable->gb_id, name, text(arguments.span));
}

// The functions that Dynamo itself names as part of the graph, whatever their Python does (torch/_dynamo/decorators.py,
// _allow_in_graph_einops); null for all others. Their own code is about strings and registries of backends.
Value Interpreter::einops_result(std::string_view module, std::string_view function) {
  if (!module.starts_with("einops")) return nullptr;
  if (module.starts_with("einops.layers") ? function == "forward"
                                          : one_of(function, {"rearrange", "reduce", "repeat", "einsum"}))
    return heap_.tensor(Origin::Intermediate);
  if (function == "pack")
    return heap_.sequence(Kind::Tuple, {heap_.tensor(Origin::Intermediate), heap_.some(Kind::List, nullptr)});
  if (function == "unpack") return heap_.some(Kind::List, heap_.tensor(Origin::Intermediate));
  return nullptr;
}

Value Interpreter::call_external(ExternalObject* function, Arguments& arguments) {
  const std::string& name = function->name;
  if (in_cxx()) {
    if (Value result = call_cxx(name, arguments)) return result;
  } else if (in_recording()) {
    if (Value result = call_recorded(name, arguments)) return result;
  }
  if (name.starts_with("builtins.")) {
    std::string_view plain = std::string_view(name).substr(9);
    if (plain == "super" && arguments.positional.size() == 1)
      graph_break(EventKind::Unsupported, arguments.span, "GB0193", "super", text(arguments.span));
    if (!arguments.keywords.empty() && external_class(name)->is_exception)
      graph_break(EventKind::Unsupported, arguments.span, "GB0273", plain, text(arguments.span));
    if (plain == "object.__getattribute__") {
      graph_break(EventKind::Unsupported, arguments.span, "GB0156", plain, text(arguments.span));
      return heap_.unknown;
    }
    if (one_of(plain, {"open", "input", "id", "eval", "exec", "breakpoint"})) report_profiled(name, arguments);
    return call_builtin(plain, arguments);
  }
  if (name.starts_with("torch.") || name == "torch") return call_torch(name, arguments);
  if (std::size_t dot = name.rfind('.'); dot != std::string::npos) {
    if (Value result = einops_result(std::string_view(name).substr(0, dot), std::string_view(name).substr(dot + 1)))
      return result;
  }
  bool known = true;
  Value result = call_stdlib(name, arguments, known);
  if (known) return result;
  if (Value native = call_native_function(name, arguments)) return native;
  report_profiled(name, arguments);
  if (name.starts_with("numpy.")) {
    return call_numpy(name, arguments);
  }
  if (Value made = external_instance(name)) return made;
  const profile::Callable* callable = profile_.callable(name);
  Value scalar = callable ? scalar_of(heap_, callable->returns) : nullptr;
  return scalar ? scalar : heap_.unknown;
}

// NumPy's functions return arrays. Its random functions without a size draw a number, which Dynamo reads out of the
// tensor that it traces in its place. And what is computed from plain numbers only is a constant to the fake tensors
// that Dynamo traces with: reading it breaks nothing.
Value Interpreter::call_numpy(const std::string& name, const Arguments& arguments) {
  auto* array = heap_.tensor(Origin::Intermediate);
  array->numpy = true;
  array->requires_grad = Truth::No;
  constexpr std::string_view random = "numpy.random.";
  if (!name.starts_with(random)) {
    auto is_number = [](Value value) {
      bool single = (value->kind == Kind::List || value->kind == Kind::Tuple) && as<SequenceObject>(value)->exact &&
                    as<SequenceObject>(value)->items.size() == 1;
      if (single) value = as<SequenceObject>(value)->items.front();
      return (value->kind == Kind::Int || value->kind == Kind::Float || value->kind == Kind::Bool) &&
             !value->from_tensor;
    };
    bool makes_array =
        one_of(name.substr(name.rfind('.') + 1), {"zeros", "ones", "empty", "full", "eye", "identity", "arange",
                                                  "linspace", "logspace", "geomspace", "tri", "indices"});
    bool constant = !makes_array && !arguments.positional.empty() && arguments.keywords.empty() &&
                    !arguments.more_positional && !arguments.more_keywords &&
                    std::all_of(arguments.positional.begin(), arguments.positional.end(), is_number);
    if (constant) return heap_.typed(Kind::Float);
    auto may_be_number = [&](Value value) { return value->kind == Kind::Unknown || is_number(value); };
    bool open = !makes_array && arguments.keywords.empty() && !arguments.positional.empty() &&
                std::all_of(arguments.positional.begin(), arguments.positional.end(), may_be_number);
    return open ? heap_.unknown : array;
  }
  std::string_view plain = std::string_view(name).substr(random.size());
  bool by_shape = one_of(plain, {"rand", "randn"});                  // sizes are all they take
  bool by_size = one_of(plain, {"random", "random_sample"});         // a size is the first that they take
  bool by_limits = one_of(plain, {"uniform", "normal", "randint"});  // a size comes after two limits
  if (!by_shape && !by_size && !by_limits) return heap_.unknown;
  array->dtype = plain == "randint" ? Dtype::Int : Dtype::Float;
  Value size = arguments.keyword("size");
  if (!size && arguments.positional.size() > (by_limits ? 2u : 0u)) size = arguments.positional.back();
  if (size && size->kind != Kind::None) return array;
  if (arguments.more_positional || arguments.more_keywords) return heap_.unknown;
  if (!is_fullgraph())
    graph_break(EventKind::DataDependentOperator, arguments.span, "GB0033", name, text(arguments.span));
  Value drawn = heap_.typed(plain == "randint" ? Kind::Int : Kind::Float);
  drawn->from_tensor = true;
  return drawn;
}

Value Interpreter::call_stdlib(const std::string& name, Arguments& arguments, bool& known) {
  Value first = arguments.get(0, {});
  // ---- functools
  if (name == "functools.partial" && first) {
    auto* partial = heap_.make<PartialObject>(first);
    partial->arguments.assign(arguments.positional.begin() + 1, arguments.positional.end());
    partial->keywords = arguments.keywords;
    return partial;
  }
  if (name == "functools.wraps" || name == "functools.update_wrapper") {
    // wraps(original)(wrapper) is wrapper, under the original's name
    return name == "functools.wraps" ? external("fullgraph.identity") : (first ? first : heap_.unknown);
  }
  if (name == "fullgraph.custom_op") return make_operator(arguments);
  if (name == "fullgraph.identity") return first ? first : heap_.unknown;
  if (name == "functools.lru_cache" || name == "functools.cache") {
    if (first && (first->kind == Kind::Function || first->kind == Kind::Method)) return first;
    return external("fullgraph.identity");
  }
  if (name == "functools.cached_property" && first) {
    auto* property = heap_.make<PropertyObject>(Kind::Property, first);
    property->cached = true;
    return property;
  }
  if (name == "functools.reduce" && arguments.positional.size() >= 2) {
    Value rounds = iterate(arguments.positional[1], arguments.span);
    auto* items = rounds->kind == Kind::Tuple ? as<SequenceObject>(rounds) : nullptr;
    if (!items || !items->exact) {
      if (items && items->element) return call_value(first, {items->element, items->element});
      return heap_.unknown;
    }
    Value result = arguments.get(2, {});
    for (Value item : items->items) result = result ? call_value(first, {result, item}) : item;
    return result ? result : heap_.unknown;
  }
  if (name == "functools.partialmethod") return heap_.unknown;
  if (traced() && one_of(name, {"random.uniform", "random.randint", "random.randrange"})) {
    Value number = heap_.typed(name == "random.uniform" ? Kind::Float : Kind::Int);
    drawn_[number] = breaks_;
    return number;
  }
  if (name == "inspect.signature" && first) {
    Value of = first->kind == Kind::Method ? as<MethodObject>(first)->function : first;
    if (of->kind != Kind::Function) return heap_.unknown;
    auto* function = as<FunctionObject>(of);
    auto* parameters = heap_.dict();
    for (std::size_t i = first->kind == Kind::Method ? 1 : 0; i < function->function->params.count; ++i) {
      const ir::Param& param = function->module->params[function->function->params.first + i];
      parameters->entries.push_back({heap_.string(param.name.text()), heap_.unknown, false});
    }
    auto* signature = heap_.make<InstanceObject>(external_class("inspect.Signature"));
    signature->opaque = true;
    signature->attributes.set(Symbol::intern("parameters"), parameters);
    return signature;
  }
  if (name.starts_with("re.")) return call_regex(std::string_view(name).substr(3), arguments);
  // ---- contextlib
  if (name == "contextlib.contextmanager" && first) {
    if (first->kind == Kind::Function) {
      auto* function = heap_.make<FunctionObject>(*as<FunctionObject>(first));
      function->context_manager = true;
      return function;
    }
    return first;
  }
  if (name == "contextlib.nullcontext") {
    auto* context = heap_.make<ContextObject>("nullcontext");
    context->argument = first ? first : heap_.none;
    return context;
  }
  if (name == "contextlib.suppress") return heap_.unknown;
  // ---- dataclasses, collections, types, enum
  if (name == "dataclasses.field") {
    if (Value factory = arguments.keyword("default_factory")) return heap_.make<PartialObject>(factory);
    Value standard = arguments.keyword("default");
    return standard ? standard : heap_.unknown;
  }
  if (name == "dataclasses.dataclass" || name == "pydantic.dataclasses.dataclass")
    return first && first->kind == Kind::Class ? decorate_class(as<ClassObject>(first), external(name))
                                               : external(name);
  if (name == "dataclasses.is_dataclass")
    return first && class_of(first) ? heap_.boolean(class_of(first)->dataclass) : heap_.typed(Kind::Bool);
  if (name == "collections.OrderedDict" || name == "collections.Counter") {
    auto* dict = heap_.dict();
    dict_method(dict, "update", arguments);
    return dict;
  }
  if (name == "collections.defaultdict") {
    auto* dict = heap_.dict();
    dict->exact = false;
    return dict;
  }
  if (name == "collections.deque") {
    if (!first) return heap_.sequence(Kind::List, {});
    return call_builtin("list", arguments);
  }
  if (name == "collections.namedtuple" || name == "typing.NamedTuple") return heap_.unknown;
  if (name == "types.MethodType" && arguments.positional.size() == 2)
    return heap_.make<MethodObject>(arguments.positional[1], first);
  if (name == "types.SimpleNamespace") {
    auto* instance = heap_.make<InstanceObject>(external_class("builtins.object"));
    for (const auto& [key, value] : arguments.keywords) instance->attributes.set(key, value);
    return instance;
  }
  if (name == "typing.cast" && arguments.positional.size() == 2) return arguments.positional[1];
  if (one_of(name,
             {"typing.overload", "typing.final", "typing.runtime_checkable", "abc.abstractmethod",
              "typing.no_type_check", "typing_extensions.override", "typing.override", "functools.total_ordering"}))
    return first ? first : heap_.unknown;
  if (name == "typing.TypeVar" || name == "typing.NewType") return heap_.unknown;
  if (name == "enum.auto") return heap_.typed(Kind::Int);
  // ---- itertools
  if (name == "itertools.chain" || name == "itertools.chain.from_iterable") {
    std::vector<Value> sources = arguments.positional;
    if (name.ends_with("from_iterable") && first) {
      Value outer = iterate(first, arguments.span);
      if (outer->kind != Kind::Tuple || !as<SequenceObject>(outer)->exact) return heap_.some(Kind::Tuple, nullptr);
      sources = as<SequenceObject>(outer)->items;
    }
    auto* list = heap_.sequence(Kind::List, {});
    for (Value source : sources) {
      Arguments one;
      one.positional = {source};
      one.span = arguments.span;
      sequence_method(list, "extend", one);
    }
    return iterate(list, arguments.span);
  }
  if (name == "itertools.count") return heap_.some(Kind::Tuple, heap_.typed(Kind::Int));
  if (name.starts_with("itertools.")) {
    return heap_.some(Kind::Tuple, nullptr);
  }
  // ---- math and operator
  if (name.starts_with("math.")) {
    std::string_view function = std::string_view(name).substr(5);
    std::vector<double> values;
    bool all = true;
    for (Value value : arguments.positional) {
      Value plain = without_none(value);
      if (plain->kind == Kind::Tensor && !as<TensorObject>(plain)->numpy && traced()) {
        graph_break(EventKind::ScalarRead, arguments.span, "GB0124", name, text(arguments.span));
        return heap_.typed(Kind::Float);
      }
      if (plain->known && plain->kind == Kind::Int)
        values.push_back(static_cast<double>(as<IntObject>(plain)->value));
      else if (plain->known && plain->kind == Kind::Float)
        values.push_back(as<FloatObject>(plain)->value);
      else
        all = false;
    }
    bool whole = one_of(function, {"ceil", "floor", "trunc", "gcd", "factorial", "comb", "lcm", "isqrt"});
    if (all && values.size() == 1) {
      double x = values[0];
      if (function == "sqrt" && x >= 0) return heap_.real(std::sqrt(x));
      if (function == "log" && x > 0) return heap_.real(std::log(x));
      if (function == "log2" && x > 0) return heap_.real(std::log2(x));
      if (function == "exp" && x < 700) return heap_.real(std::exp(x));
      if (function == "ceil") return heap_.integer(static_cast<std::int64_t>(std::ceil(x)));
      if (function == "floor" || function == "trunc") return heap_.integer(static_cast<std::int64_t>(std::floor(x)));
    }
    if (all && values.size() == 2 && function == "log" && values[0] > 0 && values[1] > 0)
      return heap_.real(std::log(values[0]) / std::log(values[1]));
    if (function == "prod" && first) {
      Value rounds = iterate(first, arguments.span);
      Value result = heap_.integer(1);
      if (rounds->kind == Kind::Tuple && as<SequenceObject>(rounds)->exact) {
        for (Value item : as<SequenceObject>(rounds)->items)
          result = binary(ir::BinaryOp::Mul, result, item, arguments.span);
        return result;
      }
      return heap_.typed(Kind::Int);
    }
    if (function.starts_with("is")) return heap_.typed(Kind::Bool);
    return heap_.typed(whole ? Kind::Int : Kind::Float);
  }
  if (name.starts_with("operator.") || name.starts_with("_operator.")) {
    std::string_view function = std::string_view(name).substr(name.find('.') + 1);
    static const std::map<std::string_view, ir::BinaryOp> binaries = {
        {"add", ir::BinaryOp::Add},     {"sub", ir::BinaryOp::Sub},           {"mul", ir::BinaryOp::Mul},
        {"truediv", ir::BinaryOp::Div}, {"floordiv", ir::BinaryOp::FloorDiv}, {"mod", ir::BinaryOp::Mod},
        {"pow", ir::BinaryOp::Pow},     {"matmul", ir::BinaryOp::MatMul},     {"and_", ir::BinaryOp::And},
        {"or_", ir::BinaryOp::Or}};
    static const std::map<std::string_view, ir::CompareOp> comparisons = {
        {"eq", ir::CompareOp::Eq},     {"ne", ir::CompareOp::NotEq},   {"lt", ir::CompareOp::Less},
        {"le", ir::CompareOp::LessEq}, {"gt", ir::CompareOp::Greater}, {"ge", ir::CompareOp::GreaterEq},
        {"is_", ir::CompareOp::Is}};
    if (arguments.positional.size() == 2) {
      if (auto found = binaries.find(function); found != binaries.end())
        return binary(found->second, first, arguments.positional[1], arguments.span);
      if (auto found = comparisons.find(function); found != comparisons.end())
        return compare(found->second, first, arguments.positional[1], arguments.span);
      if (function == "getitem") return subscript(first, arguments.positional[1], arguments.span, arguments.span);
    }
    if (function == "index" && first) {
      if (first->kind == Kind::Tensor) return call_builtin("int", arguments);
      return first;
    }
    return heap_.unknown;
  }
  // ---- copy
  if (name == "copy.copy" || name == "copy.deepcopy") {
    if (!first) return heap_.unknown;
    Value plain = without_none(first);
    if (traced()) {
      bool holds_tensor = false;  // a list, tuple or dict of tensors is copied one by one
      if (plain->kind == Kind::List || plain->kind == Kind::Tuple)
        holds_tensor = std::ranges::any_of(as<SequenceObject>(plain)->items,
                                           [](Value item) { return item->kind == Kind::Tensor; });
      if (plain->kind == Kind::Dict)
        holds_tensor = std::ranges::any_of(as<DictObject>(plain)->entries,
                                           [](const auto& entry) { return entry.value->kind == Kind::Tensor; });
      if ((plain->kind == Kind::Tensor || holds_tensor) && name == "copy.deepcopy") {
        graph_break(EventKind::Unsupported, arguments.span, "GB4198", name, text(arguments.span));
      } else if (plain->kind == Kind::Tensor) {
        graph_break(EventKind::Unsupported, arguments.span, "GB0208", name, text(arguments.span));
      } else if (plain->kind == Kind::Instance && as<InstanceObject>(plain)->module && name == "copy.deepcopy") {
        graph_break(EventKind::Unsupported, arguments.span, "GB4198", name, text(arguments.span));
      }
    }
    if (name == "copy.copy" && one_of(type_name(*plain), {"list", "dict", "set"}))
      graph_break(EventKind::SkippedCall, arguments.span, "GB0007", name, text(arguments.span));
    switch (plain->kind) {
      case Kind::Dict:
        return heap_.make<DictObject>(*as<DictObject>(plain));
      case Kind::List:
        return heap_.make<SequenceObject>(*as<SequenceObject>(plain));
      case Kind::Instance: {
        auto* copy = heap_.make<InstanceObject>(*as<InstanceObject>(plain));
        return copy;
      }
      default:
        return first;
    }
  }
  // ---- logging, warnings
  if (name == "logging.getLogger") {
    auto* logger = heap_.make<InstanceObject>(external_class("logging.Logger"));
    logger->opaque = true;
    return logger;
  }
  if (name == "weakref.ref" || name == "weakref.proxy") {
    if (!first) return heap_.unknown;
    if (name == "weakref.proxy") return first;
    auto* partial = heap_.make<PartialObject>(external("fullgraph.identity"));
    partial->arguments = {first};
    return partial;
  }
  if (name == "inspect.isfunction" || name == "inspect.ismethod" || name == "inspect.isclass")
    return heap_.typed(Kind::Bool);
  if (name == "os.path.join" || name == "os.getenv" || name == "os.environ.get") {
    known = !traced() || name == "os.path.join";
    return name == "os.path.join" ? heap_.typed(Kind::Str) : heap_.unknown;
  }
  if (name == "sys.exit") {
    raise_exception("builtins.SystemExit", arguments.span);
    return heap_.unknown;
  }
  known = false;
  return heap_.unknown;
}

Value Interpreter::decorate_class(ClassObject* cls, Value decorator) {
  std::string name;
  if (decorator->kind == Kind::External) name = as<ExternalObject>(decorator)->name;
  if (name == "dataclasses.dataclass" || name == "pydantic.dataclasses.dataclass") {
    cls->dataclass = true;
    cls->validated = name != "dataclasses.dataclass";
    return cls;
  }
  if (decorator->kind == Kind::Function || decorator->kind == Kind::Method || decorator->kind == Kind::Partial) {
    Arguments arguments;
    arguments.positional = {cls};
    arguments.positional_spans.resize(1);
    arguments.span = cls->cls->name_span;
    arguments.module = cls->module;
    Value result = call_decorator(decorator, arguments);
    if (result->kind == Kind::Class) return result;
  }
  return cls;
}

// Methods of built-in objects, bound.
Value Interpreter::call_native(NativeObject* native, Arguments& arguments) {
  std::string_view name = native->name.text();
  Value self = native->self;
  switch (self->kind) {
    case Kind::Str:
    case Kind::Bytes:
      return string_method(as<StrObject>(self), name, arguments);
    case Kind::List:
    case Kind::Tuple:
    case Kind::Set:
      return sequence_method(as<SequenceObject>(self), name, arguments);
    case Kind::Dict:
      return dict_method(as<DictObject>(self), name, arguments);
    case Kind::Tensor:
      return tensor_method(as<TensorObject>(self), name, arguments);
    case Kind::Int:
    case Kind::Float:
    case Kind::Bool:
      if (name == "bit_length") return heap_.typed(Kind::Int);
      if (name == "is_integer") return heap_.typed(Kind::Bool);
      if (name == "item") return self;
      return heap_.unknown;
    case Kind::Iterator:
      if (name == "__next__") {
        Arguments one;
        one.positional = {self};
        one.span = arguments.span;
        return call_builtin("next", one);
      }
      return heap_.unknown;
    case Kind::Handle:
      if (name == "remove") {
        auto* handle = as<HandleObject>(self);
        if (handle->made_in_region && handle->module)
          graph_break(EventKind::Unsupported, arguments.span, "GB0013", "RemovableHandle.remove", text(arguments.span));
        handle->registration->removed = true;
        if (handle->module && handle->hook) {
          auto* state = &*heap_.change_module(handle->module)->module;
          std::erase(state->forward_hooks, handle->hook);
          std::erase(state->forward_pre_hooks, handle->hook);
        }
      }
      return heap_.none;
    case Kind::Compiled: {  // a backward hook on the object that torch.compile returned does not fire
      Event result = event(EventKind::Hazard, arguments.span);
      result.callee = "wrapper-hook-ignored";
      result.subject = receiver(arguments.span, name);
      result.traced = false;
      emit(std::move(result));
      return heap_.make<HandleObject>(registration(arguments.span));
    }
    case Kind::Property: {  // @x.setter
      Value function = arguments.get(0, {});
      auto* property = heap_.make<PropertyObject>(*as<PropertyObject>(self));
      if (name == "setter") property->setter = function;
      if (name == "getter") property->getter = function;
      return property;
    }
    case Kind::Class: {
      auto* cls = as<ClassObject>(self);
      if (cls->is_function && name == "apply") return apply_function(cls, arguments);
      if (name == "__init__" || name == "__new__") return heap_.unknown;
      if (!cls->cls && !arguments.positional.empty()) {  // nn.Module.forward(self, x), dict.__init__(self)
        Value object = arguments.positional.front();
        Arguments rest = arguments;
        rest.positional.erase(rest.positional.begin());
        if (!rest.positional_spans.empty()) rest.positional_spans.erase(rest.positional_spans.begin());
        if (object->kind == Kind::Instance) return call_native(heap_.make<NativeObject>(object, native->name), rest);
      }
      return call_external(heap_.make<ExternalObject>(cls->name + "." + std::string(name)), arguments);
    }
    case Kind::Instance: {
      auto* instance = as<InstanceObject>(self);
      if (is_subclass(instance->cls, "logging.Logger")) {
        if (traced()) {
          Event result = event(EventKind::Output, arguments.span);
          result.gb_id = "GB0291";
          result.callee = "logging.Logger." + std::string(name);
          graph_break(std::move(result));
        }
        return heap_.none;
      }
      if (instance->module) {
        bool known = true;
        Value result = module_method(instance, name, arguments, known);
        if (known) return result;
      }
      if (drive_coroutine(instance, name, arguments)) return heap_.unknown;
      if (!instance->module) {
        if (Value result = call_profiled_method(instance, name, arguments)) return result;
      }
      if (name == "__setattr__" && arguments.positional.size() == 2) {
        Value attribute_name = arguments.positional[0];
        if (attribute_name->kind == Kind::Str && attribute_name->known)
          heap_.set_attribute(instance, instance->attributes, Symbol::intern(as<StrObject>(attribute_name)->value),
                              arguments.positional[1]);
        return heap_.none;
      }
      if (name == "__getattribute__" || name == "__getattr__") {
        Value attribute_name = arguments.get(0, {});
        if (attribute_name && attribute_name->kind == Kind::Str && attribute_name->known) {
          Value value = instance->attributes.get(Symbol::intern(as<StrObject>(attribute_name)->value));
          if (!value) value = class_attribute(instance->cls, Symbol::intern(as<StrObject>(attribute_name)->value));
          return value ? bind_attribute(value, instance, instance->cls, arguments.span) : heap_.unknown;
        }
        return heap_.unknown;
      }
      if (name == "__init__") {
        if (instance->payload) {
          if (instance->payload->kind == Kind::Dict)
            dict_method(as<DictObject>(instance->payload), "update", arguments);
          else if (instance->payload->kind == Kind::List)
            sequence_method(as<SequenceObject>(instance->payload), "extend", arguments);
        }
        return heap_.none;
      }
      return heap_.unknown;
    }
    default:
      return heap_.unknown;
  }
}

}  // namespace fullgraph::trace
