// nn.Module: its methods, its hooks, and the layers that torch.nn provides.
#include <algorithm>
#include <unordered_set>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"
#include "analyzer/trace/one_of.h"

namespace fullgraph::trace {

using ir::Symbol;

namespace {

std::string_view layer_name(const ClassObject* cls) {
  for (const ClassObject* base : cls->mro) {
    if (!base->cls && base->name != "torch.nn.Module" && base->name.starts_with("torch.nn."))
      return std::string_view(base->name).substr(9);
  }
  return {};
}

bool has_weight(std::string_view layer) {
  return layer.starts_with("Linear") || layer.starts_with("Bilinear") || layer.starts_with("Conv") ||
         layer.starts_with("LazyConv") || layer.starts_with("LazyLinear") || layer.starts_with("Embedding") ||
         layer.ends_with("Norm") || layer.find("Norm1d") != std::string_view::npos ||
         layer.find("Norm2d") != std::string_view::npos || layer.find("Norm3d") != std::string_view::npos ||
         layer == "PReLU" || layer == "LSTM" || layer == "GRU" || layer == "RNN";
}

bool has_bias(std::string_view layer) {
  return has_weight(layer) && !layer.starts_with("Embedding") && layer != "RMSNorm" && layer != "PReLU";
}

// Names of the constructor's first arguments, under which the layer keeps them.
std::vector<std::string_view> constructor_names(std::string_view layer) {
  if (layer == "Linear") return {"in_features", "out_features", "bias"};
  if (layer.starts_with("Embedding")) return {"num_embeddings", "embedding_dim", "padding_idx"};
  if (layer.starts_with("Conv")) return {"in_channels", "out_channels", "kernel_size", "stride", "padding"};
  if (layer == "LayerNorm" || layer == "RMSNorm") return {"normalized_shape", "eps"};
  if (layer.starts_with("Dropout")) return {"p", "inplace"};
  if (layer == "MultiheadAttention") return {"embed_dim", "num_heads", "dropout"};
  if (layer == "LSTM" || layer == "GRU" || layer == "RNN") return {"input_size", "hidden_size", "num_layers"};
  if (layer.starts_with("BatchNorm")) return {"num_features", "eps", "momentum"};
  if (layer == "GroupNorm") return {"num_groups", "num_channels"};
  return {};
}

constexpr std::string_view kBackwardHooks[] = {"register_full_backward_hook", "register_backward_hook",
                                               "register_full_backward_pre_hook"};

}  // namespace

Registration* Interpreter::registration(ir::Span span) {
  registrations_.push_back(std::make_unique<Registration>(Registration{{frame_->module, span}}));
  return registrations_.back().get();
}

bool Interpreter::span_contains_name(const ir::Module& module, ir::Span span,
                                     std::initializer_list<std::string_view> names) const {
  std::string_view source = module.source->text(span);
  if (std::ranges::none_of(names, [&](std::string_view name) { return source.find(name) != std::string_view::npos; }))
    return false;
  for (const ir::Expr& expr : module.exprs) {
    if (expr.span.begin < span.begin || expr.span.end > span.end) continue;
    if ((expr.kind == ir::ExprKind::Attribute || expr.kind == ir::ExprKind::Name) && one_of(expr.name.text(), names))
      return true;
  }
  return false;
}

// What a name or `self.name` in the body of a function is, as far as that can be said without running it.
Value Interpreter::named_in(FunctionObject* function, const ir::Expr& expr) {
  const ir::Module& module = *function->module;
  if (expr.kind == ir::ExprKind::Attribute && function->owner && function->function->params.count > 0) {
    const ir::Expr& object = module.expr(expr.a);
    bool of_self =
        object.kind == ir::ExprKind::Name && object.name == module.params[function->function->params.first].name;
    return of_self ? class_attribute(function->owner, expr.name) : nullptr;
  }
  if (expr.kind != ir::ExprKind::Name || static_cast<ir::Scope>(expr.op) == ir::Scope::Local) return nullptr;
  auto* env = heap_.make<EnvObject>();
  env->module = &module;
  env->parent = function->closure;
  env->globals = module_object(&module)->globals;
  Frame inside;
  inside.module = &module;
  inside.env = env;
  inside.caller = frame_;
  Frame* outer = std::exchange(frame_, &inside);
  Value value = eval_name(expr);
  frame_ = outer;
  return value;
}

// Does a function, or one that it calls by name, read `.grad`? torch.autograd.grad does not count.
bool Interpreter::reads_gradient(FunctionObject* function, int depth) {
  constexpr int deepest = 3;
  const ir::Module& module = *function->module;
  const ir::Span body = function->function->span;
  for (const ir::Expr& expr : module.exprs) {
    if (expr.span.begin < body.begin || expr.span.end > body.end) continue;
    if (expr.kind == ir::ExprKind::Attribute && expr.name == names::grad &&
        module.expr(expr.a).name.text() != "autograd")
      return true;
    if (expr.kind != ir::ExprKind::Call || depth == deepest) continue;
    Value callee = named_in(function, module.expr(expr.a));
    if (callee && callee->kind == Kind::Function && callee != function &&
        reads_gradient(as<FunctionObject>(callee), depth + 1))
      return true;
  }
  return false;
}

// A backward hook on a module, registered in code that is not traced: reported unless its handle is removed later on.
void Interpreter::report_registration(Registration* where, Value hook, std::string_view method) {
  if (frame_->region) return;
  Event result = event(EventKind::ModuleBackwardHook, where->where.span);
  result.callee = method;
  result.traced = false;
  result.subject = receiver(where->where.span, method);
  Value function = hook;
  while (function && (function->kind == Kind::Partial || function->kind == Kind::Method))
    function =
        function->kind == Kind::Partial ? as<PartialObject>(function)->function : as<MethodObject>(function)->function;
  if (function && function->kind == Kind::Function && reads_gradient(as<FunctionObject>(function))) {
    auto* object = as<FunctionObject>(function);
    Event reads = result;
    reads.kind = EventKind::HookReadsParamGrad;
    reads.related.push_back({{object->module, object->function->name_span}, "the hook is defined here"});
    pending_registrations_.emplace_back(where, std::move(reads));
  }
  pending_registrations_.emplace_back(where, std::move(result));
}

void Interpreter::flush_registrations() {
  for (auto& [where, pending] : pending_registrations_) {
    // A hook on the root itself, or on what nothing calls, breaks nothing; without an entry nobody can tell.
    // The code of what a pickle holds may not be there to call it.
    bool pickled = where->where.module->recording == ir::Recording::Pickle;
    bool matters = !entry_mode_ || where->broke || pickled || pending.kind != EventKind::ModuleBackwardHook;
    if (!where->removed && matters) events_.push_back(std::move(pending));
  }
  pending_registrations_.clear();
}

Value Interpreter::register_module_hook(InstanceObject* module, std::string_view name, Arguments& arguments) {
  Value hook = arguments.get(0, "hook");
  auto* where = registration(arguments.span);
  auto* handle = heap_.make<HandleObject>(where);
  handle->module = module;
  handle->hook = hook;
  handle->made_in_region = traced();
  if (traced()) {
    // module.register_forward_hook(...) in forward: the handle cannot be kept across the graph
    graph_break(EventKind::Unsupported, arguments.span, "GB0013", "torch.nn.Module." + std::string(name),
                text(arguments.span));
  }
  if (!frame_->region) {
    for (InstanceObject* root : compiled_modules_called_) {
      bool below = false;
      each_module(root,
                  [&](InstanceObject* one, const std::string&) { below = below || (one == module && one != root); });
      if (!below) continue;
      Event late = event(EventKind::LateHook, arguments.span);
      late.callee = name;
      late.traced = false;
      late.subject = receiver(arguments.span, name);
      emit(std::move(late));
      break;
    }
  }
  auto* state = &*heap_.change_module(module)->module;
  if (name == "register_forward_hook" && hook) {
    state->forward_hooks.push_back(hook);
  } else if (name == "register_forward_pre_hook" && hook) {
    state->forward_pre_hooks.push_back(hook);
  } else if (std::find(std::begin(kBackwardHooks), std::end(kBackwardHooks), name) != std::end(kBackwardHooks)) {
    state->backward_hooks.push_back(where);
    state->legacy_backward_hook = name == "register_backward_hook";
    report_registration(where, hook, name);
  }
  return handle;
}

// A method of something of which nothing is known, whose name alone says what it does.
namespace {

constexpr std::string_view kOnlyTensorsHave[] = {
    "item",    "tolist",  "nonzero",      "masked_select", "any",         "all",       "argmax",    "argmin",
    "amax",    "amin",    "cumsum",       "sum",           "mean",        "unsqueeze", "squeeze",   "flatten",
    "view",    "reshape", "permute",      "transpose",     "contiguous",  "expand",    "expand_as", "masked_fill",
    "scatter", "gather",  "index_select", "softmax",       "log_softmax", "detach",    "unique",    "bincount",
    "numel",   "clamp",   "isnan",        "isinf",         "ne",          "eq"};

}  // namespace

Value Interpreter::unknown_method(const ir::Expr& callee, Arguments& arguments) {
  std::string_view name = callee.name.text();
  if (std::find(std::begin(kBackwardHooks), std::end(kBackwardHooks), name) != std::end(kBackwardHooks)) {
    auto* where = registration(arguments.span);
    report_registration(where, arguments.get(0, "hook"), name);
    return heap_.make<HandleObject>(where);
  }
  if (callee.name == names::gradient_checkpointing_enable || name == "_set_gradient_checkpointing") {
    report_checkpoint_settings(name, arguments);
  }
  // In traced code, what has these methods is a tensor, or an array, which Dynamo traces as one.
  if (traced() &&
      std::find(std::begin(kOnlyTensorsHave), std::end(kOnlyTensorsHave), name) != std::end(kOnlyTensorsHave)) {
    return tensor_method(heap_.tensor(Origin::Unknown), name, arguments);
  }
  return heap_.unknown;
}

// ------------------------------------------------------------------------------------------------ walking modules

std::vector<std::pair<std::string, Value>> Interpreter::named_children(InstanceObject* module) {
  std::vector<std::pair<std::string, Value>> result;
  auto add = [&](std::string name, Value value) {
    if (value->kind == Kind::Compiled) value = as<CompiledObject>(value)->target;
    if (value->kind == Kind::Instance && as<InstanceObject>(value)->module) result.emplace_back(std::move(name), value);
  };
  for (std::size_t i = 0; i < module->attributes.keys().size(); ++i)
    add(std::string(module->attributes.keys()[i].text()), module->attributes.values()[i]);
  if (module->payload && module->payload->kind == Kind::List) {
    auto* list = as<SequenceObject>(module->payload);
    for (std::size_t i = 0; i < list->items.size(); ++i) add(std::to_string(i), list->items[i]);
    if (!list->exact && list->element) add("*", list->element);
  }
  if (module->payload && module->payload->kind == Kind::Dict) {
    for (const auto& entry : as<DictObject>(module->payload)->entries) {
      if (entry.key->kind == Kind::Str) add(as<StrObject>(entry.key)->value, entry.value);
    }
  }
  return result;
}

// Visits a module and those below it, each once, with its path below the first; "*" in it stands for any index.
void Interpreter::each_module(Value root, const std::function<void(InstanceObject*, const std::string&)>& visit) {
  std::unordered_set<Value> seen;
  std::vector<std::pair<std::string, Value>> todo = {{"", root}};
  while (!todo.empty()) {
    auto [path, value] = std::move(todo.back());
    todo.pop_back();
    if (value->kind == Kind::Compiled) value = as<CompiledObject>(value)->target;
    if (value->kind != Kind::Instance || !as<InstanceObject>(value)->module || !seen.insert(value).second) continue;
    visit(as<InstanceObject>(value), path);
    auto children = named_children(as<InstanceObject>(value));
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      todo.emplace_back(path.empty() ? child->first : path + "." + child->first, child->second);
  }
}

std::vector<std::pair<std::string, Value>> Interpreter::named_parameters(Value root) {
  std::vector<std::pair<std::string, Value>> result;
  std::unordered_set<Value> seen;
  add_parameters(root, "", seen, result);
  return result;
}

void Interpreter::add_parameters(Value root, const std::string& prefix, std::unordered_set<Value>& seen,
                                 std::vector<std::pair<std::string, Value>>& result) {
  if (root->kind != Kind::Instance || !as<InstanceObject>(root)->module || !seen.insert(root).second) return;
  auto* module = as<InstanceObject>(root);
  std::string_view layer = layer_name(module->cls);
  if (has_weight(layer)) builtin_layer_attribute(module, names::weight);
  if (has_bias(layer)) builtin_layer_attribute(module, names::bias);
  for (std::size_t i = 0; i < module->attributes.keys().size(); ++i) {
    Value value = module->attributes.values()[i];
    if (value->kind == Kind::Tensor && as<TensorObject>(value)->parameter)
      result.emplace_back(prefix + std::string(module->attributes.keys()[i].text()), value);
  }
  if (module->payload && module->payload->kind == Kind::List) {
    for (Value value : as<SequenceObject>(module->payload)->items) {
      if (value->kind == Kind::Tensor) result.emplace_back(prefix + std::to_string(result.size()), value);
    }
  }
  for (auto& [name, child] : named_children(module)) add_parameters(child, prefix + name + ".", seen, result);
}

// ------------------------------------------------------------------------------------------------ methods

Value Interpreter::module_method(InstanceObject* module, std::string_view name, Arguments& arguments, bool& known) {
  Value first = arguments.get(0, {});
  known = true;
  if (name == "__init__") {
    if (traced() && frame_->function && frame_->function->name == names::init && frame_->self == module)
      frame_->module_init = arguments.span;
    std::string_view layer = layer_name(module->cls);
    if (layer == "Sequential") {
      std::vector<Value> items = arguments.positional;
      if (items.size() == 1 && items[0]->kind == Kind::Dict) {
        std::vector<Value> values;
        for (const auto& entry : as<DictObject>(items[0])->entries) values.push_back(entry.value);
        items = values;
      }
      auto* list = heap_.sequence(Kind::List, std::move(items));
      if (arguments.more_positional) {
        list->exact = false;
        list->element = arguments.more_element ? arguments.more_element : heap_.unknown;
        for (Value item : list->items) list->element = heap_.join(list->element, item);
        list->items.clear();
      }
      heap_.change_module(module)->payload = list;
    } else if (layer == "ModuleList" || layer == "ParameterList") {
      Arguments one;
      one.span = arguments.span;
      one.module = arguments.module;
      if (Value items = arguments.get(0, "modules"); items && items->kind != Kind::None) one.positional = {items};
      heap_.change_module(module)->payload = call_builtin("list", one);
    } else if (layer == "ModuleDict" || layer == "ParameterDict") {
      auto* dict = heap_.dict();
      Arguments one = arguments;
      dict_method(dict, "update", one);
      heap_.change_module(module)->payload = dict;
    } else if (!layer.empty()) {
      auto* state = &*heap_.change_module(module)->module;
      state->arguments = arguments.positional;
      state->keywords = arguments.keywords;
    }
    return heap_.none;
  }
  if (name.starts_with("register_") && name.ends_with("_hook") && !name.starts_with("register_state") &&
      !name.starts_with("register_load"))
    return register_module_hook(module, name, arguments);
  if (one_of(name, {"append", "extend", "insert", "pop"}) && module->payload && module->payload->kind == Kind::List) {
    sequence_method(as<SequenceObject>(module->payload), name, arguments);
    return module;
  }
  if (one_of(name, {"append"}) && module->payload == nullptr) return heap_.unknown;
  if (one_of(name, {"keys", "values", "items", "update", "pop", "clear", "get"}) && module->payload &&
      module->payload->kind == Kind::Dict)
    return dict_method(as<DictObject>(module->payload), name, arguments);
  if (name == "__len__") return length(module);
  if (one_of(name, {"parameters", "named_parameters"})) {
    std::vector<Value> items;
    for (auto& [path, value] : named_parameters(module))
      items.push_back(name == "parameters" ? value : heap_.sequence(Kind::Tuple, {heap_.string(path), value}));
    if (!entry_mode_) {
      auto* parameter = heap_.tensor(Origin::Parameter);
      parameter->parameter = true;
      parameter->dtype = Dtype::Float;
      return heap_.some(Kind::Tuple, name == "parameters"
                                         ? static_cast<Value>(parameter)
                                         : heap_.sequence(Kind::Tuple, {heap_.typed(Kind::Str), parameter}));
    }
    return heap_.sequence(Kind::Tuple, std::move(items));
  }
  if (one_of(name, {"buffers", "named_buffers"}))
    return heap_.some(Kind::Tuple, name == "buffers" ? static_cast<Value>(heap_.tensor(Origin::Buffer))
                                                     : heap_.sequence(Kind::Tuple, {heap_.typed(Kind::Str),
                                                                                    heap_.tensor(Origin::Buffer)}));
  if (one_of(name, {"modules", "named_modules", "children", "named_children"})) {
    std::vector<Value> items;
    bool named = name.starts_with("named_");
    if (name.ends_with("modules")) {
      each_module(module, [&](InstanceObject* one, const std::string& path) {
        Value key = path.find('*') == std::string::npos ? heap_.string(path) : heap_.typed(Kind::Str);
        items.push_back(named ? heap_.sequence(Kind::Tuple, {key, one}) : static_cast<Value>(one));
      });
    } else {
      for (auto& [path, child] : named_children(module))
        items.push_back(named ? heap_.sequence(Kind::Tuple, {heap_.string(path), child}) : child);
    }
    return heap_.sequence(Kind::Tuple, std::move(items));
  }
  if (one_of(name, {"register_buffer", "register_parameter", "add_module", "register_module"})) {
    Value attribute_name = arguments.get(0, "name");
    Value value = arguments.get(1, name == "register_buffer"      ? "tensor"
                                   : name == "register_parameter" ? "param"
                                                                  : "module");
    if (attribute_name && attribute_name->kind == Kind::Str && attribute_name->known && value) {
      if (value->kind == Kind::Tensor) {
        auto* tensor = heap_.make<TensorObject>(*as<TensorObject>(value));
        tensor->origin = name == "register_buffer" ? Origin::Buffer : Origin::Parameter;
        value = tensor;
      }
      Symbol attribute = Symbol::intern(as<StrObject>(attribute_name)->value);
      report_replaced_parameter(module->attributes.get(attribute), value, arguments.span,
                                receiver(arguments.span, name) + "." + as<StrObject>(attribute_name)->value);
      heap_.set_attribute(module, module->attributes, attribute, value);
    }
    return heap_.none;
  }
  if (name == "requires_grad_") {
    Value given = arguments.get(0, "requires_grad");
    auto wanted = given ? truth(given) : std::optional(true);
    Truth now = !wanted ? Truth::Unknown : *wanted ? Truth::Yes : Truth::No;
    bool changes = false;
    for (auto& [path, value] : named_parameters(module)) {
      changes = changes || as<TensorObject>(value)->requires_grad != now;
      heap_.change(as<TensorObject>(value))->requires_grad = now;
    }
    each_module(module, [&](InstanceObject* one, const std::string&) {
      heap_.change_module(one)->module->parameters_require_grad = now;
    });
    if (traced() && changes && now != Truth::Unknown) {
      Event result = event(EventKind::RequiresGradCalled, arguments.span);
      result.gb_id = "GB0125";
      result.subject = text(arguments.span);
      result.origin = Origin::Parameter;
      result.value = now;
      graph_break(std::move(result));
    }
    return module;
  }
  if (one_of(name, {"train", "eval"})) {
    Value mode = arguments.get(0, "mode");
    auto on = name == "eval" ? std::optional(false) : mode ? truth(mode) : std::optional(true);
    each_module(module,
                [&](InstanceObject* one, const std::string&) { heap_.change_module(one)->module->training = on; });
    return module;
  }
  if (one_of(name, {"to", "cuda", "cpu", "half", "float", "double", "bfloat16", "apply", "share_memory", "type",
                    "to_empty"})) {
    if (name == "apply" && first)
      each_module(module, [&](InstanceObject* one, const std::string&) { call_value(first, {one}); });
    return module;
  }
  if (name == "compile") {
    note_compile();
    if (class_attribute(module->cls, names::forward)) heap_.change_module(module)->module->compiled = true;
    return heap_.none;
  }
  if (one_of(name, {"__call__", "_call_impl"})) return call_instance(module, arguments);
  if (name == "forward") {
    std::string layer = "torch.nn." + std::string(layer_name(module->cls));
    return call_builtin_layer(module, layer, arguments);
  }
  if (one_of(name, {"get_parameter", "get_buffer"})) return heap_.tensor(Origin::Parameter);
  if (name == "get_submodule" && first && first->kind == Kind::Str && first->known) {
    Value at = module;
    std::string_view path = as<StrObject>(first)->value;
    while (!path.empty() && at->kind == Kind::Instance) {
      auto dot = path.find('.');
      std::string_view part = path.substr(0, dot);
      path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
      at = attribute(at, Symbol::intern(part), arguments.span);
    }
    return at;
  }
  if (name == "state_dict") {
    auto* dict = heap_.dict();
    dict->exact = false;
    return dict;
  }
  if (one_of(name, {"zero_grad", "load_state_dict", "flatten_parameters", "_register_state_dict_hook",
                    "_register_load_state_dict_pre_hook", "register_load_state_dict_post_hook",
                    "register_state_dict_pre_hook", "register_load_state_dict_pre_hook", "__delattr__"}))
    return heap_.none;
  if (one_of(name, {"_get_name", "extra_repr", "__repr__"})) return heap_.typed(Kind::Str);
  known = false;
  return heap_.unknown;
}

// ------------------------------------------------------------------------------------------------ layers of torch.nn

Value Interpreter::builtin_layer_attribute(InstanceObject* instance, Symbol name) {
  std::string_view layer = layer_name(instance->cls);
  if (layer.empty() || !instance->module) return nullptr;
  if ((name == names::weight && has_weight(layer)) || (name == names::bias && has_bias(layer))) {
    if (Value have = instance->attributes.get(name)) return have;
    if (name == names::bias) {
      for (const auto& [key, value] : instance->module->keywords) {
        if (key == names::bias && truth(value) == std::optional(false)) return heap_.none;
      }
    }
    auto* parameter = heap_.tensor(Origin::Parameter);
    parameter->parameter = true;
    parameter->dtype = Dtype::Float;
    parameter->dtype_name = Symbol::intern("float32");
    parameter->requires_grad = instance->module->parameters_require_grad;
    const auto& given = instance->module->arguments;
    auto size = [&](std::size_t i) {
      return i < given.size() && given[i]->kind == Kind::Int && given[i]->known ? as<IntObject>(given[i])->value : -1;
    };
    if (layer == "Linear")
      parameter->shape =
          name == names::weight ? std::vector<std::int64_t>{size(1), size(0)} : std::vector<std::int64_t>{size(1)};
    if (layer == "Embedding" && name == names::weight) parameter->shape = std::vector<std::int64_t>{size(0), size(1)};
    heap_.set_attribute(instance, instance->attributes, name, parameter);
    return parameter;
  }
  auto constructor = constructor_names(layer);
  for (std::size_t i = 0; i < constructor.size(); ++i) {
    if (name.text() != constructor[i]) continue;
    if (i < instance->module->arguments.size()) return instance->module->arguments[i];
    for (const auto& [key, value] : instance->module->keywords) {
      if (key == name) return value;
    }
    return heap_.unknown;
  }
  for (const auto& [key, value] : instance->module->keywords) {
    if (key == name) return value;
  }
  if (one_of(name.text(), {"running_mean", "running_var", "num_batches_tracked"})) return heap_.tensor(Origin::Buffer);
  return nullptr;
}

Value Interpreter::call_builtin_layer(InstanceObject* layer, const std::string& cls, Arguments& arguments) {
  std::string_view name = std::string_view(cls).substr(cls.rfind('.') + 1);
  Value first = arguments.get(0, "input");
  if (!first && !arguments.keywords.empty()) first = arguments.keywords.front().second;
  if (name == "Sequential") {
    auto* items = layer->payload && layer->payload->kind == Kind::List ? as<SequenceObject>(layer->payload) : nullptr;
    if (!items) return heap_.unknown;
    Value value = first ? first : heap_.unknown;
    // Its forward is a loop in torch.nn: a break below it gives that frame up.
    std::vector<Value> steps = items->items;
    if (!items->exact && items->element) steps = {items->element};
    Arguments passed = arguments;
    for (Value step : steps) {
      value = call(step, passed);
      if (raised_) return heap_.unknown;
      passed.positional = {value};
      passed.keywords.clear();
      passed.positional_spans.assign(1, arguments.span);
      passed.more_positional = false;
      passed.more_keywords = false;
    }
    return value;
  }
  if (name == "Identity") return first ? first : heap_.unknown;
  if (one_of(name, {"ModuleList", "ModuleDict", "Module", "ParameterList", "ParameterDict"})) return heap_.unknown;
  Truth needs = requires_grad_of(arguments);
  bool weights = has_weight(name) || name == "MultiheadAttention" || name.starts_with("Transformer");
  if (weights && needs != Truth::Yes && truth(grad_mode_) != std::optional(false)) {
    Truth own = layer->module->parameters_require_grad;
    for (Symbol parameter : {names::weight, names::bias}) {
      if (Value value = layer->attributes.get(parameter); value && value->kind == Kind::Tensor)
        own = std::max(own == Truth::Unknown ? Truth::No : own,
                       as<TensorObject>(value)->requires_grad == Truth::Yes ? Truth::Yes : own);
    }
    if (Value weight = layer->attributes.get(names::weight);
        weight && weight->kind == Kind::Tensor && as<TensorObject>(weight)->requires_grad == Truth::No)
      own = Truth::No;
    if (own == Truth::Yes)
      needs = Truth::Yes;
    else if (own == Truth::Unknown)
      needs = Truth::Unknown;
  }
  auto* result = heap_.tensor(Origin::Intermediate);
  result->requires_grad = needs;
  result->dtype = Dtype::Float;
  auto* input = first && without_none(first)->kind == Kind::Tensor ? as<TensorObject>(without_none(first)) : nullptr;
  if (input) {
    result->marks = input->marks;
    if (!name.starts_with("Embedding")) result->dtype_name = input->dtype_name;
  }
  if (one_of(name, {"LSTM", "GRU", "RNN"})) {
    graph_break(EventKind::Unsupported, arguments.span, "GB0014", cls, text(arguments.span));
    Value state = name == "LSTM" ? static_cast<Value>(heap_.sequence(Kind::Tuple, {result, result})) : result;
    return heap_.sequence(Kind::Tuple, {result, state});
  }
  if (name == "MultiheadAttention") return heap_.sequence(Kind::Tuple, {result, heap_.join(result, heap_.none)});
  if (one_of(name, {"LSTMCell"})) return heap_.sequence(Kind::Tuple, {result, result});
  if (name.ends_with("Loss")) {
    result->shape.emplace();
    return result;
  }
  if (input && input->shape) {
    const auto& given = layer->module->arguments;
    auto size = [&](std::size_t i) {
      return i < given.size() && given[i]->kind == Kind::Int && given[i]->known ? as<IntObject>(given[i])->value : -1;
    };
    if (name == "Linear") {
      result->shape = input->shape;
      if (!result->shape->empty()) result->shape->back() = size(1);
    } else if (name == "Embedding") {
      result->shape = input->shape;
      result->shape->push_back(size(1));
    } else if (name.starts_with("Conv")) {
      result->shape = std::vector<std::int64_t>(input->shape->size(), -1);
      if (result->shape->size() >= 2) {
        (*result->shape)[0] = input->shape->front();
        (*result->shape)[1] = size(1);
      }
    } else if (!one_of(name, {"Flatten", "Unflatten", "Fold", "Unfold", "Upsample", "PixelShuffle", "PixelUnshuffle",
                              "EmbeddingBag", "Bilinear"}) &&
               name.find("Pool") == std::string_view::npos && name.find("Pad") == std::string_view::npos) {
      result->shape = input->shape;
    }
  }
  return result;
}

}  // namespace fullgraph::trace
