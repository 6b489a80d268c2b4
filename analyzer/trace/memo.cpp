// What is run once although it is called often: constructions of the blocks of a model library, calls with constant
// arguments, and long code that an analysis of models has no use for.
#include <algorithm>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"

namespace fullgraph::trace {

namespace {
constexpr std::size_t kDecoratorSteps = 80;  // a decorator wraps what it gets in a few statements
constexpr std::size_t kHelperSteps = 120;    // an object that helps to build modules stores its arguments
}  // namespace

// What a call depends on, where its arguments say that: empty when they do not. Not for people: a letter for each part
// and its bytes.
std::string Interpreter::call_key(const void* callee, Value self, const Arguments& arguments) const {
  if (arguments.more_positional || arguments.more_keywords) return {};
  std::string key;
  int tensors = 0;
  auto put = [&](char what, const auto& part) {
    key += what;
    key.append(reinterpret_cast<const char*>(&part), sizeof part);
  };
  auto add = [&](Value value) {
    switch (value->kind) {
      case Kind::None:
        key += 'n';
        return true;
      case Kind::Bool:
      case Kind::Int:
      case Kind::Float:
      case Kind::Str:
        if (value->known) {
          if (value->kind == Kind::Bool) put('b', as<BoolObject>(value)->value);
          if (value->kind == Kind::Int) put('i', as<IntObject>(value)->value);
          if (value->kind == Kind::Float) put('f', as<FloatObject>(value)->value);
          if (value->kind == Kind::Str) {
            put('s', as<StrObject>(value)->value.size());
            key += as<StrObject>(value)->value;
          }
          return true;
        }
        put('t', value->kind);
        put('v', value->from_tensor);
        put('?', value->sym ? value->sym->id : 0);
        return true;
      case Kind::Unknown:
        put('?', value->sym ? value->sym->id : 0);
        return true;
      case Kind::Instance: {
        auto* instance = as<InstanceObject>(value);
        auto known = some_instances_.find({instance->cls, instance->sym});
        if (known == some_instances_.end() || known->second != instance || !instance->attributes.keys().empty())
          return false;
        put('o', instance);
        return true;
      }
      case Kind::Tensor: {
        const auto& tensor = *as<TensorObject>(value);
        bool plain = !tensor.sym && !tensor.alias_of && !tensor.hook && tensor.marks.empty() &&
                     tensor.own_mark == UINT32_MAX && !tensors++;  // two may be one
        put('x', tensor.origin);
        put('d', tensor.dtype);
        put('n', tensor.dtype_name.id);
        put('r', tensor.requires_grad);
        put('p', tensor.parameter | tensor.numpy << 1 | tensor.sparse << 2 | tensor.strided_nested << 3);
        put('l', tensor.shape ? tensor.shape->size() : SIZE_MAX);
        for (std::int64_t size : tensor.shape.value_or(std::vector<std::int64_t>())) put(',', size);
        return plain;
      }
      case Kind::Class:
        put('c', value);
        return !as<ClassObject>(value)->closure;
      default:
        return false;
    }
  };
  put('(', callee);
  if (self && !add(self)) return {};
  for (Value value : arguments.positional) {
    if (!add(value)) return {};
  }
  for (const auto& [name, value] : arguments.keywords) {
    put('=', name.id);
    if (!add(value)) return {};
  }
  return key;
}

// Runs `body` under no condition, so that what it makes can be used again by everybody.
Value Interpreter::run_unconditionally(Arguments& arguments, const std::function<Value()>& body) {
  auto conditions = std::exchange(conditions_, {});
  auto loops = std::exchange(inexact_loops_, 0);
  // What is kept of the arguments must last as long as what keeps it.
  for (Value& argument : arguments.positional) argument = heap_.copy_scalar(argument);
  for (auto& [name, argument] : arguments.keywords) argument = heap_.copy_scalar(argument);
  Value value = body();
  conditions_ = std::move(conditions);
  inexact_loops_ = loops;
  return value;
}

// A model library builds the same blocks from the same symbolic configuration for every root. Each is built once;
// roots change it through the journal, so that the next root finds it as it was.
Value Interpreter::call_class(ClassObject* cls, Arguments& arguments) {
  bool shared = !entry_mode_ && !frame_->region && cls->is_module && cls->cls && !cls->closure;
  std::string key = shared ? call_key(cls, nullptr, arguments) : std::string();
  if (key.empty()) return construct(cls, arguments);
  auto found = constructed_.find(key);
  if (found != constructed_.end()) return found->second;
  Heap::Persistent lasting(heap_);
  auto mark = heap_.mark();
  Value value = run_unconditionally(arguments, [&] { return construct(cls, arguments); });
  heap_.commit(mark);
  if (steps_ <= step_limit_ && !raised_) constructed_.emplace(std::move(key), value);
  return value;
}

namespace {

// What nobody can change, and what lasts.
bool is_constant(Value value) {
  switch (value->kind) {
    case Kind::Tuple:
      return as<SequenceObject>(value)->exact && std::ranges::all_of(as<SequenceObject>(value)->items, is_constant);
    case Kind::Union:
      return value->lasting && std::ranges::all_of(as<UnionObject>(value)->alternatives, is_constant);
    case Kind::Function:
    case Kind::Method:
    case Kind::Native:
    case Kind::Class:
    case Kind::PyModule:
    case Kind::External:
    case Kind::Partial:
      return value->lasting;
    default:
      return value->kind <= Kind::Bytes;
  }
}

}  // namespace

// Python:  if is_tracing(hidden_states): …            in each layer of each model
//          config.get_text_config(decoder=True)       of a configuration that nobody knows
// What a call gives where that is a constant or what was there before, nothing was changed, no break was seen and no
// condition of the path was asked. The modes that the function may ask for are part of the key.
Value Interpreter::call_pure_function(FunctionObject* function, Value self, Arguments& arguments) {
  constexpr std::size_t few = 3;
  bool shared = !entry_mode_ && function->lasting && hop_serial_ == 0 &&
                arguments.positional.size() + arguments.keywords.size() <= few;
  std::string key = shared ? call_key(function, self, arguments) : std::string();
  if (key.empty()) return run_function(function, self, arguments);
  key += traced() ? 'T' : 'E';
  for (Value mode : {grad_mode_, training_}) key += mode == heap_.yes ? '1' : mode == heap_.no ? '0' : '?';
  auto found = pure_calls_.find(key);
  if (found != pure_calls_.end()) return found->second ? found->second : run_function(function, self, arguments);
  auto mark = heap_.mark();
  std::size_t events = events_.size();
  std::uint64_t facts = facts_used_;
  std::uint32_t serial = heap_.serial();
  bool maybe_raised = std::exchange(maybe_raised_, false);
  Value value = run_function(function, self, arguments);
  bool constant = value->known && value->kind >= Kind::None && value->kind <= Kind::Str;
  bool pure = heap_.close(mark) && events_.size() == events && facts_used_ == facts && !raised_ && !maybe_raised_ &&
              steps_ <= step_limit_ && (constant || (value->lasting && value->serial <= serial));
  maybe_raised_ = maybe_raised_ || maybe_raised;
  Heap::Persistent lasting(heap_);
  pure_calls_.emplace(std::move(key), !pure ? nullptr : constant ? heap_.copy_scalar(value) : value);
  return value;
}

// Python:  if is_package_available("flash_attn"): …
// Eager calls of a module's functions with constant arguments run once; what they change (a cache, a flag) stays
// changed.
Value Interpreter::call_constant_function(FunctionObject* function, Arguments& arguments) {
  if (frame_->region && !function->owner) return call_pure_function(function, nullptr, arguments);
  bool shared = !entry_mode_ && function->lasting && !function->owner;
  std::string key = shared ? call_key(function, nullptr, arguments) : std::string();
  if (key.empty()) return run_function(function, nullptr, arguments);
  auto found = constant_calls_.find(key);
  if (found != constant_calls_.end()) return found->second ? found->second : run_function(function, nullptr, arguments);
  Heap::Persistent lasting(heap_);
  auto mark = heap_.mark();
  std::size_t events = events_.size();
  Value value = run_unconditionally(arguments, [&] { return run_function(function, nullptr, arguments); });
  heap_.commit(mark);
  bool known = events_.size() == events && !raised_ && steps_ <= step_limit_ && is_constant(value);
  constant_calls_.emplace(std::move(key), known ? value : nullptr);
  return value;
}

// Runs `body`, the call of `code`, for a number of steps at most. What needs more is cut short, and not tried again.
bool Interpreter::within_steps(const ir::Function* code, std::size_t most, const std::function<void()>& body) {
  if (code && long_functions_.contains(code)) return false;
  std::size_t own = steps_ + most;
  if (own >= step_limit_) {  // whoever set that limit is cut short first
    body();
    return steps_ <= step_limit_;
  }
  std::size_t limit = std::exchange(step_limit_, own);
  body();
  step_limit_ = limit;
  if (steps_ <= own) return true;
  if (code) long_functions_.insert(code);
  steps_ = own;
  return false;
}

Value Interpreter::call_decorator(Value decorator, Arguments& arguments) {
  const ir::Function* code = decorator->kind == Kind::Function ? as<FunctionObject>(decorator)->function : nullptr;
  Value result = heap_.unknown;
  if (!within_steps(code, kDecoratorSteps, [&] { result = call(decorator, arguments); })) result = heap_.unknown;
  raised_ = nullptr;
  return result;
}

// A library's eager code on objects and classes that are no modules: what is long (defaults of generation, registries)
// is left unfinished. Its result is not known, and its object may have any attribute.
Value Interpreter::call_method_of(Value self, FunctionObject* function, Arguments& arguments) {
  bool of_object = self->kind == Kind::Instance && !as<InstanceObject>(self)->module;
  bool of_class = self->kind == Kind::Class && !as<ClassObject>(self)->is_module;
  if (entry_mode_ || !(of_object || of_class)) return run_function(function, self, arguments);
  if (frame_->region) return call_pure_function(function, self, arguments);
  Value result = heap_.unknown;
  if (within_steps(function->function, kHelperSteps, [&] { result = call_pure_function(function, self, arguments); }))
    return result;
  if (of_object) as<InstanceObject>(self)->opaque = true;
  return heap_.unknown;
}

}  // namespace fullgraph::trace
