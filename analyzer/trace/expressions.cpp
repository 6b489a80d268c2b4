// Expressions.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"

namespace fullgraph::trace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;

Value Arguments::keyword(ir::Symbol name) const {
  for (const auto& [key, value] : keywords) {
    if (key == name) return value;
  }
  return nullptr;
}

Value Arguments::keyword(std::string_view name) const {
  for (const auto& [key, value] : keywords) {
    if (key.text() == name) return value;
  }
  return nullptr;
}

Value Arguments::get(std::size_t index, std::string_view name) const {
  if (index < positional.size()) return positional[index];
  return name.empty() ? nullptr : keyword(name);
}

ir::Span Arguments::span_of(std::string_view name) const {
  for (const auto& [key, place] : keyword_spans) {
    if (key.text() == name) return place;
  }
  return {};
}

Value Interpreter::eval_constant(const Expr& expr) {
  std::string_view source = frame_->module->source->text(expr.span);
  switch (expr.kind) {
    case ExprKind::None:
      return heap_.none;
    case ExprKind::True:
      return heap_.yes;
    case ExprKind::False:
      return heap_.no;
    case ExprKind::Ellipsis:
      return heap_.ellipsis;
    case ExprKind::Int: {
      std::string digits;
      for (char c : source) {
        if (c != '_') digits += c;
      }
      int base = 10;
      std::size_t skip = 0;
      if (digits.size() > 2 && digits[0] == '0') {
        char mark = static_cast<char>(digits[1] | 0x20);
        base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
        skip = base == 10 ? 0 : 2;
      }
      std::int64_t value = 0;
      auto [end, error] = std::from_chars(digits.data() + skip, digits.data() + digits.size(), value, base);
      if (error != std::errc() || end != digits.data() + digits.size()) return heap_.typed(Kind::Int);
      return heap_.integer(value);
    }
    case ExprKind::Float: {
      std::string digits;
      for (char c : source) {
        if (c != '_') digits += c;
      }
      double value = 0;
      auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc()) return heap_.typed(Kind::Float);
      return heap_.real(value);
    }
    case ExprKind::Imaginary:
      return heap_.typed(Kind::Complex);
    case ExprKind::String: {
      if (literals_.size() <= expr.name.id) literals_.resize(expr.name.id + expr.name.id / 4 + 1);
      Value& literal = literals_[expr.name.id];
      if (!literal) {
        Heap::Persistent lasting(heap_);
        literal = heap_.string(expr.name.text());
      }
      return literal;
    }
    case ExprKind::Bytes:
      return heap_.make<StrObject>(Kind::Bytes, std::string(expr.name.text()));
    default:
      return heap_.unknown;
  }
}

// A random number that Dynamo draws while it traces stands for any number until the graph ends; then it is a plain one.
bool Interpreter::is_drawn(Value value) const {
  auto found = drawn_.find(value);
  return found != drawn_.end() && found->second == breaks_;
}

Value Interpreter::from_operands(Value result, Value left, Value right) {
  if (!drawn_.empty() && !result->known && result->kind != Kind::Tensor && result != heap_.unknown &&
      (is_drawn(left) || is_drawn(right)))
    drawn_[result] = breaks_;
  return result;
}

Value Interpreter::eval(ExprId id) {
  const ir::Module& module = *frame_->module;
  const Expr& expr = module.expr(id);
  if (raised_) return heap_.unknown;
  switch (expr.kind) {
    case ExprKind::Name:
      return eval_name(expr);
    case ExprKind::Attribute: {
      Value object = eval(expr.a);
      if (raised_) return heap_.unknown;
      return attribute(object, expr.name, expr.span);
    }
    case ExprKind::Call:
      return eval_call(expr);
    case ExprKind::Subscript:
      return eval_subscript(expr);
    case ExprKind::Slice:
      return heap_.make<SliceObject>(expr.a ? eval(expr.a) : heap_.none, expr.b ? eval(expr.b) : heap_.none,
                                     expr.c ? eval(expr.c) : heap_.none);
    case ExprKind::Unary: {
      auto op = static_cast<ir::UnaryOp>(expr.op);
      if (op == ir::UnaryOp::Not) {
        Condition condition = eval_condition(expr.a);
        if (condition.is_known()) return heap_.boolean(condition.is_false());
        return heap_.typed(Kind::Bool);
      }
      Value operand = eval(expr.a);
      return raised_ ? heap_.unknown : unary(op, operand, expr.span);
    }
    case ExprKind::Binary: {
      Value left = eval(expr.a);
      Value right = eval(expr.b);
      if (raised_) return heap_.unknown;
      return from_operands(binary(static_cast<ir::BinaryOp>(expr.op), left, right, expr.span), left, right);
    }
    case ExprKind::BoolOp:
      return eval_bool_op(expr);
    case ExprKind::Compare:
      return eval_compare(expr);
    case ExprKind::Conditional:
      return eval_conditional(expr);
    case ExprKind::Lambda:
      return make_function(expr.function);
    case ExprKind::List:
    case ExprKind::Tuple:
    case ExprKind::Set: {
      Kind kind = expr.kind == ExprKind::List ? Kind::List : expr.kind == ExprKind::Tuple ? Kind::Tuple : Kind::Set;
      auto* result = heap_.sequence(kind, {});
      for (ExprId item : module.list(expr.items)) {
        const Expr& one = module.expr(item);
        if (one.kind != ExprKind::Starred) {
          result->items.push_back(eval(item));
          continue;
        }
        Value spread = iterate(eval(one.a), one.span);
        auto* sequence = spread->kind == Kind::Tuple ? as<SequenceObject>(spread) : nullptr;
        if (sequence && sequence->exact) {
          result->items.insert(result->items.end(), sequence->items.begin(), sequence->items.end());
        } else {
          result->exact = false;
          result->element = heap_.unknown;
        }
      }
      if (!result->exact) {
        for (Value item : result->items) result->element = heap_.join(result->element, item);
        result->items.clear();
      }
      return result;
    }
    case ExprKind::Dict: {
      auto* result = heap_.dict();
      for (ExprId item : module.list(expr.items)) {
        const Expr& one = module.expr(item);
        if (one.kind == ExprKind::DictItem) {
          Value key = eval(one.a);
          Value value = eval(one.b);
          // Large tables of distinct literals are common; no need to compare each with each.
          bool literal = module.expr(one.a).kind == ExprKind::String && result->entries.size() > 16;
          if (literal)
            result->entries.push_back({key, value, false});
          else
            set_subscript(result, key, value, one.span);
        } else {
          Value other = eval(one.a);
          if (other->kind == Kind::Dict) {
            auto* dict = as<DictObject>(other);
            for (const auto& entry : dict->entries) set_subscript(result, entry.key, entry.value, one.span);
            if (!dict->exact) result->exact = false, result->element = heap_.unknown;
          } else {
            result->exact = false;
            result->element = heap_.unknown;
          }
        }
      }
      return result;
    }
    case ExprKind::ListComp:
    case ExprKind::SetComp:
    case ExprKind::DictComp:
    case ExprKind::GeneratorExp:
      return eval_comprehension(expr);
    case ExprKind::FString:
      return eval_fstring(expr);
    case ExprKind::Starred:
      return eval(expr.a);
    case ExprKind::Await:
      eval(expr.a);
      return heap_.unknown;
    case ExprKind::Yield: {
      Value value = expr.a ? eval(expr.a) : heap_.none;
      if (inexact_loops_ > 0) frame_->yields_exact = false;
      frame_->yields.push_back(value);
      return heap_.unknown;
    }
    case ExprKind::YieldFrom: {
      Value items = iterate(eval(expr.a), expr.span);
      auto* sequence = items->kind == Kind::Tuple ? as<SequenceObject>(items) : nullptr;
      if (sequence && sequence->exact && inexact_loops_ == 0) {
        frame_->yields.insert(frame_->yields.end(), sequence->items.begin(), sequence->items.end());
      } else {
        frame_->yields_exact = false;
        frame_->yields.push_back(sequence && sequence->element ? sequence->element : heap_.unknown);
      }
      return heap_.unknown;
    }
    case ExprKind::NamedExpr: {
      Value value = eval(expr.b);
      if (!raised_) assign(expr.a, value);
      return value;
    }
    case ExprKind::Error:
      return heap_.unknown;
    default:
      return eval_constant(expr);
  }
}

Value Interpreter::eval_name(const Expr& expr) {
  EnvObject* env = frame_->env;
  switch (static_cast<ir::Scope>(expr.op)) {
    case ir::Scope::Local:
      if (env->function && expr.slot < env->slots.size()) {
        Value value = env->slots[expr.slot];
        return value ? value : heap_.unknown;
      }
      break;
    case ir::Scope::Enclosing:
      for (EnvObject* outer = env->parent; outer; outer = outer->parent) {
        if (!outer->function) continue;
        auto& locals = outer->function->locals;
        auto slot = std::find(locals.begin(), locals.end(), expr.name);
        if (slot != locals.end()) {
          Value value = outer->slots[static_cast<std::size_t>(slot - locals.begin())];
          return value ? value : heap_.unknown;
        }
      }
      if (expr.name == names::class_ && frame_->owner) return frame_->owner;
      break;
    case ir::Scope::ClassBody:
      if (Value value = env->names.get(expr.name)) return resolve(value);
      break;
    case ir::Scope::Global:
      break;
  }
  return lookup_global(env->globals ? env->globals : env, expr.name);
}

Value Interpreter::lookup_global(EnvObject* globals, ir::Symbol name) {
  if (Value value = globals->names.get(name)) {
    if (value->kind != Kind::Deferred) return value;
    Value resolved = resolve(value);
    globals->names.set(name, resolved);  // what it meant all along: no change to undo
    return resolved;
  }
  for (const ir::Module* source : globals->star_imports) {
    if (name.text().starts_with("_")) break;
    PyModuleObject* module = module_object(source);
    if (module->globals == globals) continue;
    Value value = module->globals->names.get(name);
    if (value) {
      note_use(globals->module, source);
      return resolve(value);
    }
    if (!module->globals->star_imports.empty()) value = module_attribute(module, name);
    if (value) {
      note_use(globals->module, source);
      return value;
    }
  }
  if (globals->module && globals->module->recording != ir::Recording::None) {
    if (Value value = recorded_global(name)) return value;
  }
  if (Value value = lookup_builtin(name)) return value;
  for (const std::string& source : globals->star_externals) return external(source + "." + std::string(name.text()));
  if (name == names::name) {
    return heap_.string(globals->module ? globals->module->name : "");
  }
  if (name == names::file) return heap_.typed(Kind::Str);
  return heap_.unknown;
}

Arguments Interpreter::eval_arguments(const Expr& call) {
  const ir::Module& module = *frame_->module;
  Arguments result;
  result.span = call.span;
  result.module = &module;
  auto items = module.list(call.items);
  auto is_keyword = [&](ExprId id) { return module.expr(id).kind == ExprKind::Keyword; };
  auto keywords = static_cast<std::size_t>(std::count_if(items.begin(), items.end(), is_keyword));
  result.keywords.reserve(keywords);
  result.keyword_spans.reserve(keywords);
  result.positional.reserve(items.size() - keywords);
  result.positional_spans.reserve(items.size() - keywords);
  for (ExprId id : items) {
    const Expr& expr = module.expr(id);
    if (raised_) return result;
    switch (expr.kind) {
      case ExprKind::Starred: {
        Value spread = iterate(eval(expr.a), expr.span);
        auto* sequence = spread->kind == Kind::Tuple ? as<SequenceObject>(spread) : nullptr;
        if (sequence && sequence->exact && !result.more_positional) {
          for (Value item : sequence->items) {
            result.positional.push_back(item);
            result.positional_spans.push_back(expr.span);
          }
        } else {
          result.more_positional = true;
          result.more_element = sequence && sequence->element ? sequence->element : heap_.unknown;
        }
        break;
      }
      case ExprKind::DoubleStarred: {
        Value spread = eval(expr.a);
        if (spread->kind == Kind::Instance && as<InstanceObject>(spread)->payload)
          spread = as<InstanceObject>(spread)->payload;
        if (spread->kind != Kind::Dict) {
          result.more_keywords = true;
          break;
        }
        auto* dict = as<DictObject>(spread);
        if (!dict->exact) result.more_keywords = true;
        for (const auto& entry : dict->entries) {
          if (entry.key->kind == Kind::Str && entry.key->known) {
            ir::Symbol name = ir::Symbol::intern(as<StrObject>(entry.key)->value);
            result.keywords.emplace_back(name, entry.maybe ? heap_.join(entry.value, heap_.unknown) : entry.value);
            result.keyword_spans.emplace_back(name, expr.span);
          }
        }
        break;
      }
      case ExprKind::Keyword: {
        result.keywords.emplace_back(expr.name, eval(expr.a));
        result.keyword_spans.emplace_back(expr.name, module.expr(expr.a).span);
        break;
      }
      default:
        result.positional.push_back(eval(id));
        result.positional_spans.push_back(expr.span);
        break;
    }
  }
  return result;
}

Value Interpreter::eval_call(const Expr& expr) {
  const Expr& callee_expr = frame_->module->expr(expr.a);
  // super() needs the frame it stands in.
  if (callee_expr.kind == ExprKind::Name && callee_expr.name == names::super && expr.items.count == 0) {
    const Frame* frame = frame_;
    ClassObject* owner = frame->object ? frame->object->owner : frame->owner;
    return owner && frame->self ? static_cast<Value>(heap_.make<SuperObject>(owner, frame->self)) : heap_.unknown;
  }
  Value callee = eval(expr.a);
  if (raised_) return heap_.unknown;
  Arguments arguments = eval_arguments(expr);
  if (raised_) return heap_.unknown;
  if (callee->kind == Kind::Unknown && callee_expr.kind == ExprKind::Attribute)
    return unknown_method(callee_expr, arguments);
  if (callee_expr.name == names::gradient_checkpointing_enable && callee->kind == Kind::Method)
    report_checkpoint_settings(names::gradient_checkpointing_enable.text(), arguments);
  return call(callee, arguments);
}

Value Interpreter::eval_bool_op(const Expr& expr) {
  auto operands = frame_->module->list(expr.items);
  bool conjunction = expr.op == 0;
  Value result = nullptr;
  std::size_t height = conditions_.size();
  auto mark = heap_.mark();
  bool narrowed = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    // Comparisons and the like: their truth is what counts, and it may narrow what follows.
    Value value = eval(operands[i]);
    if (raised_) break;
    if (i + 1 == operands.size()) {
      result = result ? heap_.join(result, value) : value;
      break;
    }
    Condition condition = condition_of(value, operands[i]);
    if (condition.is_known()) {
      if (condition.is_true() != conjunction) {
        result = result ? heap_.join(result, value) : value;
        break;
      }
      continue;
    }
    // The operand is the result where it decides.
    Value deciding = value;
    if (value->kind == Kind::Union) {
      Value kept = filter(value, [&](Value v) { return truth(v) != std::optional(conjunction); });
      if (kept) deciding = kept;
    } else if (value->kind == Kind::Bool && !value->known) {
      deciding = heap_.boolean(!conjunction);
    }
    result = result ? heap_.join(result, deciding) : deciding;
    assume(condition, conjunction);
    narrowed = narrowed || !condition.narrowings.empty();
  }
  conditions_.resize(height);
  end_operands(mark, narrowed);
  return result ? result : heap_.unknown;
}

Value Interpreter::eval_compare(const Expr& expr) {
  const ir::Module& module = *frame_->module;
  Value left = eval(expr.a);
  Value result = nullptr;
  auto items = module.list(expr.items);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Expr& comparison = module.expr(items[i]);
    Value right = eval(comparison.a);
    if (raised_) return heap_.unknown;
    Value one = from_operands(compare(static_cast<ir::CompareOp>(comparison.op), left, right, expr.span), left, right);
    if (i + 1 < items.size()) {
      // a < b < c: the truth of a < b is taken, whatever it is
      Condition condition;
      if (one->kind == Kind::Tensor) {
        graph_break(EventKind::TensorBranch, expr.span, "GB0170", {}, text(expr.span));
      } else if (auto known = truth(one); known == std::optional(false)) {
        return one;
      }
    }
    result = one;
    left = right;
  }
  return result ? result : heap_.unknown;
}

Value Interpreter::eval_conditional(const Expr& expr) {
  Condition condition = eval_condition(expr.a);
  if (raised_) return heap_.unknown;
  Value one = nullptr, other = nullptr;
  branch(
      condition,
      [&]() -> Flows {
        one = eval(expr.b);
        if (raised_) one = nullptr;
        return raised_ ? kRaise : kNormal;
      },
      [&]() -> Flows {
        other = eval(expr.c);
        if (raised_) other = nullptr;
        return raised_ ? kRaise : kNormal;
      });
  if (!one && !other) return heap_.unknown;
  Value result = one && other ? heap_.join(one, other) : one ? one : other;
  if (result->kind == Kind::Bool && !result->known && !condition.is_known()) result = heap_.typed(Kind::Bool);
  return result;
}

Value Interpreter::eval_fstring(const Expr& expr) {
  std::string value;
  bool known = true;
  for (ExprId id : frame_->module->list(expr.items)) {
    const Expr& part = frame_->module->expr(id);
    if (part.kind == ExprKind::String) {
      value += part.name.text();
      continue;
    }
    if (part.kind != ExprKind::Formatted) continue;
    Value formatted = eval(part.a);
    if (raised_) return heap_.unknown;
    if (part.b) eval(part.b);
    if (!part.b && formatted->known && formatted->kind == Kind::Str &&
        part.op != static_cast<int>(ir::Conversion::Repr)) {
      value += as<StrObject>(formatted)->value;
    } else if (!part.b && formatted->known && formatted->kind == Kind::Int) {
      value += std::to_string(as<IntObject>(formatted)->value);
    } else {
      known = false;
      // Formatting as such is put off to the end of the graph; a conversion reads the tensor.
      bool converted = part.op != static_cast<int>(ir::Conversion::None);
      if (converted && without_none(formatted)->kind == Kind::Tensor && traced()) {
        graph_break(EventKind::Unsupported, part.span,
                    part.op == static_cast<int>(ir::Conversion::Repr) ? "GB0569" : "GB0059", "format",
                    text(frame_->module->expr(part.a).span));
      }
    }
  }
  return known ? heap_.string(value) : heap_.typed(Kind::Str);
}

Value Interpreter::eval_subscript(const Expr& expr) {
  Value object = eval(expr.a);
  if (raised_) return heap_.unknown;
  Value index = eval(expr.b);
  if (raised_) return heap_.unknown;
  return subscript(object, index, expr.span, frame_->module->expr(expr.b).span);
}

void Interpreter::run_clauses(const Expr& expr, std::size_t clause, const std::function<void()>& element, bool& exact) {
  auto clauses = frame_->module->list(expr.items);
  if (raised_ || ++steps_ > step_limit_) return;
  if (clause == clauses.size()) {
    element();
    return;
  }
  const Expr& one = frame_->module->expr(clauses[clause]);
  if (one.kind == ExprKind::CompIf) {
    Condition condition = eval_condition(one.a);
    if (raised_) return;
    if (!condition.is_known()) exact = false;
    branch(
        condition,
        [&]() -> Flows {
          run_clauses(expr, clause + 1, element, exact);
          return raised_ ? kRaise : kNormal;
        },
        [&]() -> Flows { return kNormal; });
    return;
  }
  Value rounds = iterate(eval(one.b), frame_->module->expr(one.b).span);
  if (raised_) return;
  auto* sequence = rounds->kind == Kind::Tuple ? as<SequenceObject>(rounds) : nullptr;
  if (sequence && sequence->exact && sequence->items.size() <= 256) {
    for (Value item : std::vector<Value>(sequence->items)) {
      assign(one.a, item);
      run_clauses(expr, clause + 1, element, exact);
      if (raised_) return;
    }
    return;
  }
  exact = false;
  Value item = sequence ? sequence->element : nullptr;
  if (sequence) {
    for (Value known : sequence->items) item = item ? heap_.join(item, known) : known;
  }
  assign(one.a, item ? item : heap_.unknown);
  run_clauses(expr, clause + 1, element, exact);
}

Value Interpreter::eval_comprehension(const Expr& expr) {
  bool exact = true;
  std::size_t height = conditions_.size();
  if (expr.kind == ExprKind::DictComp) {
    auto* result = heap_.dict();
    run_clauses(
        expr, 0,
        [&] {
          Value key = eval(expr.a);
          Value value = eval(expr.b);
          if (raised_) return;
          if (exact) {
            set_subscript(result, key, value, expr.span);
          } else {
            result->element = result->element ? heap_.join(result->element, value) : value;
          }
        },
        exact);
    conditions_.resize(height);
    if (!exact) {
      result->exact = false;
      for (auto& entry : result->entries) entry.maybe = true;
    }
    return result;
  }
  Kind kind = expr.kind == ExprKind::SetComp        ? Kind::Set
              : expr.kind == ExprKind::GeneratorExp ? Kind::Tuple
                                                    : Kind::List;
  std::vector<Value> items;
  run_clauses(
      expr, 0,
      [&] {
        Value value = eval(expr.a);
        if (!raised_) items.push_back(value);
      },
      exact);
  conditions_.resize(height);
  SequenceObject* result = nullptr;
  if (exact) {
    result = heap_.sequence(kind, std::move(items));
  } else {
    Value element = nullptr;
    for (Value item : items) element = element ? heap_.join(element, item) : item;
    result = heap_.some(kind, element);
  }
  if (expr.kind == ExprKind::GeneratorExp) {
    auto* iterator = heap_.make<IteratorObject>();
    iterator->sequence = result;
    iterator->generator = true;
    return iterator;
  }
  return result;
}

}  // namespace fullgraph::trace
