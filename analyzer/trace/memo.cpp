// What is run once although it is called often: constructions of the blocks of a model library, calls with constant
// arguments, and long code that an analysis of models has no use for.
#include <algorithm>

#include <fmt/format.h>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"

namespace fullgraph::trace {

namespace {
constexpr std::size_t kDecoratorSteps = 80;     // a decorator wraps what it gets in a few statements
constexpr std::size_t kConstructorSteps = 200;  // so does the constructor of what is no module: it stores its arguments
}  // namespace

// What a call depends on, where its arguments say that: empty when they do not.
std::string Interpreter::call_key(const void* callee, const Arguments& arguments) const {
  if (arguments.more_positional || arguments.more_keywords) return {};
  std::string key = fmt::format("{}", callee);
  auto add = [&](Value value) {
    switch (value->kind) {
      case Kind::None: key += "|None"; return true;
      case Kind::Bool:
      case Kind::Int:
      case Kind::Float:
      case Kind::Str:
        if (value->known) {
          if (value->kind == Kind::Bool) key += as<BoolObject>(value)->value ? "|True" : "|False";
          if (value->kind == Kind::Int) key += fmt::format("|{}", as<IntObject>(value)->value);
          if (value->kind == Kind::Float) key += fmt::format("|{}f", as<FloatObject>(value)->value);
          if (value->kind == Kind::Str) key += "|'" + as<StrObject>(value)->value + "'";
          return true;
        }
        key += fmt::format("|{}:{}", static_cast<int>(value->kind), value->sym ? value->sym->id : 0);
        return true;
      case Kind::Unknown:
        key += fmt::format("|?{}", value->sym ? value->sym->id : 0);
        return true;
      case Kind::Instance: {
        auto* instance = as<InstanceObject>(value);
        auto known = some_instances_.find({instance->cls, instance->sym});
        if (known == some_instances_.end() || known->second != instance || !instance->attributes.keys().empty()) return false;
        key += fmt::format("|{}", static_cast<const void*>(instance));
        return true;
      }
      case Kind::Class: key += fmt::format("|{}", static_cast<const void*>(value)); return !as<ClassObject>(value)->closure;
      default: return false;
    }
  };
  for (Value value : arguments.positional) {
    if (!add(value)) return {};
  }
  for (const auto& [name, value] : arguments.keywords) {
    key += fmt::format("|{}=", name.id);
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
  std::string key = shared ? call_key(cls, arguments) : std::string();
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

// Python:  if is_package_available("flash_attn"): …
// Eager calls of functions with constant arguments give the same each time, unless they change something outside.
Value Interpreter::call_constant_function(FunctionObject* function, Arguments& arguments) {
  bool shared = !entry_mode_ && !frame_->region && !function->closure && !function->owner && function->contexts.empty();
  std::string key = shared ? call_key(function->function, arguments) : std::string();
  if (key.empty()) return run_function(function, nullptr, arguments);
  auto found = constant_calls_.find(key);
  if (found != constant_calls_.end()) return found->second ? found->second : run_function(function, nullptr, arguments);
  Heap::Persistent lasting(heap_);
  auto mark = heap_.mark();
  std::size_t events = events_.size();
  Value value = run_unconditionally(arguments, [&] { return run_function(function, nullptr, arguments); });
  bool closed = !heap_.changed_since(mark) && events_.size() == events && !raised_ && steps_ <= step_limit_;
  heap_.keep(mark);
  constant_calls_.emplace(std::move(key), closed && value->kind <= Kind::Bytes ? value : nullptr);
  return value;
}

// Runs `body`, the call of `code`, for a number of steps at most. What needs more is cut short, and not tried again.
bool Interpreter::within_steps(const ir::Function* code, std::size_t most, const std::function<void()>& body) {
  if (code && long_functions_.contains(code)) return false;
  std::size_t limit = std::exchange(step_limit_, std::min(step_limit_, steps_ + most));
  body();
  bool finished = steps_ <= step_limit_;
  if (!finished) {
    if (code) long_functions_.insert(code);
    steps_ = step_limit_;
  }
  step_limit_ = limit;
  return finished;
}

Value Interpreter::call_decorator(Value decorator, Arguments& arguments) {
  const ir::Function* code = decorator->kind == Kind::Function ? as<FunctionObject>(decorator)->function : nullptr;
  Value result = heap_.unknown;
  if (!within_steps(code, kDecoratorSteps, [&] { result = call(decorator, arguments); })) result = heap_.unknown;
  raised_ = nullptr;
  return result;
}

// A library's constructors of other things than modules: a long one (defaults of generation, registries) is left
// unfinished, and its object may have any attribute.
void Interpreter::run_constructor(FunctionObject* init, InstanceObject* instance, Arguments& arguments) {
  if (entry_mode_ || frame_->region || instance->module) {
    call_function(init, instance, arguments);
  } else if (!within_steps(init->function, kConstructorSteps, [&] { call_function(init, instance, arguments); })) {
    instance->opaque = true;
  }
}

}  // namespace fullgraph::trace
