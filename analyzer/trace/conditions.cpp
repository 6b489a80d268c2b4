// Conditions: their truth, what follows from them, and how they read.
#include <algorithm>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"

namespace fullgraph::trace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;

Condition operator!(const Condition& condition) {
  Condition result = condition;
  switch (condition.kind) {
    case Condition::Kind::True:
      result.kind = Condition::Kind::False;
      break;
    case Condition::Kind::False:
      result.kind = Condition::Kind::True;
      break;
    case Condition::Kind::Atom:
      result.negated = !condition.negated;
      for (auto& narrowing : result.narrowings) std::swap(narrowing.when_true, narrowing.when_false);
      break;
    case Condition::Kind::And:
    case Condition::Kind::Or:
      result.kind = condition.kind == Condition::Kind::And ? Condition::Kind::Or : Condition::Kind::And;
      for (auto& part : result.parts) part = !part;
      break;
  }
  return result;
}

namespace {

std::string words_of(const Condition& atom) {
  if (!atom.text.empty() || (!atom.sym && !atom.where.module)) return atom.text;
  return atom.sym ? atom.sym->text : one_line(*atom.where.module, atom.where.span);
}

std::string condition_words(const Condition& condition, bool truth) {
  switch (condition.kind) {
    case Condition::Kind::True:
      return truth ? "true" : "false";
    case Condition::Kind::False:
      return truth ? "false" : "true";
    case Condition::Kind::Atom: {
      std::string text = words_of(condition);
      if (condition.negated != truth) return text;
      constexpr std::string_view is_none = " is None";
      if (text.ends_with(is_none)) return text.substr(0, text.size() - is_none.size()) + " is not None";
      constexpr std::string_view is_not_none = " is not None";
      if (text.ends_with(is_not_none)) return text.substr(0, text.size() - is_not_none.size()) + " is None";
      bool simple = text.find(' ') == std::string::npos;
      return simple || condition.sym ? "not " + text : "not (" + text + ")";
    }
    case Condition::Kind::And:
    case Condition::Kind::Or: {
      bool conjunction = (condition.kind == Condition::Kind::And) == truth;
      std::string result;
      for (const auto& part : condition.parts) {
        if (!result.empty()) result += conjunction ? " and " : " or ";
        result += condition_words(part, truth);
      }
      return conjunction ? result : "(" + result + ")";
    }
  }
  return {};
}

}  // namespace

namespace {

// Three-valued: is the condition true where every constructor is called with its defaults?
std::optional<bool> usual_truth(const Condition& condition) {
  switch (condition.kind) {
    case Condition::Kind::True:
      return true;
    case Condition::Kind::False:
      return false;
    case Condition::Kind::Atom:
      return condition.usual ? std::optional(*condition.usual != condition.negated) : std::nullopt;
    case Condition::Kind::And:
    case Condition::Kind::Or: {
      bool deciding = condition.kind == Condition::Kind::Or;
      bool open = false;
      for (const Condition& part : condition.parts) {
        auto one = usual_truth(part);
        if (one == std::optional(deciding)) return deciding;
        open = open || !one;
      }
      return open ? std::nullopt : std::optional(!deciding);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string Interpreter::unusual_term() const {
  for (const Term& term : conditions_) {
    if (auto usual = usual_truth(term.condition); usual && *usual != term.holds)
      return condition_words(term.condition, term.holds);
  }
  return {};
}

std::optional<bool> Interpreter::fact(const Sym* sym) const {
  if (!sym) return std::nullopt;
  for (auto term = conditions_.rbegin(); term != conditions_.rend(); ++term) {
    if (term->sym != sym) continue;
    ++facts_used_;
    return term->value;
  }
  return std::nullopt;
}

std::string Interpreter::condition_text(bool& training, bool& grad) const {
  std::vector<std::string> words;
  for (const auto& term : conditions_) {
    if (term.sym && term.sym->what == Sym::What::Training && term.value) training = true;
    if (term.sym && term.sym->what == Sym::What::GradMode && term.value) grad = true;
    std::string text = condition_words(term.condition, term.holds);
    if (std::find(words.begin(), words.end(), text) == words.end()) words.push_back(std::move(text));
  }
  std::string result;
  for (const auto& word : words) {
    if (!result.empty()) result += " and ";
    result += word;
  }
  return result;
}

// Records that `condition` is `truth` from here on: as terms of the path condition, as facts, and as narrower values.
void Interpreter::assume(const Condition& condition, bool truth, bool narrows) {
  switch (condition.kind) {
    case Condition::Kind::True:
    case Condition::Kind::False:
      return;
    case Condition::Kind::And:
    case Condition::Kind::Or:
      if ((condition.kind == Condition::Kind::And) == truth) {
        for (const auto& part : condition.parts) assume(part, truth, narrows);
      } else {
        conditions_.push_back({condition, truth, nullptr, true});
      }
      return;
    case Condition::Kind::Atom: {
      bool value = truth != condition.negated;
      Condition atom;
      atom.kind = condition.kind;
      atom.negated = condition.negated;
      atom.sym = condition.sym;
      atom.text = condition.text;
      atom.where = condition.where;
      atom.usual = condition.usual;
      conditions_.push_back({std::move(atom), truth, condition.sym, value});
      if (!narrows) return;
      for (const auto& narrowing : condition.narrowings) {
        Value narrowed = truth ? narrowing.when_true : narrowing.when_false;
        if (!narrowed) continue;
        if (narrowing.env) {
          heap_.set_slot(narrowing.env, narrowing.slot, narrowed);
        } else {
          heap_.set_attribute(narrowing.instance, narrowing.instance->attributes, narrowing.attribute, narrowed);
        }
      }
      return;
    }
  }
}

void Interpreter::narrow_place(Condition& condition, ExprId place, Value when_true, Value when_false) {
  const Expr& expr = frame_->module->expr(place);
  Condition::Narrowing narrowing;
  narrowing.when_true = when_true;
  narrowing.when_false = when_false;
  if (expr.kind == ExprKind::Name && frame_->env->function && static_cast<ir::Scope>(expr.op) == ir::Scope::Local) {
    narrowing.env = frame_->env;
    narrowing.slot = expr.slot;
  } else if (expr.kind == ExprKind::Attribute) {
    const Expr& object = frame_->module->expr(expr.a);
    if (object.kind != ExprKind::Name) return;
    Value holder = eval_name(object);
    if (holder->kind != Kind::Instance || !as<InstanceObject>(holder)->attributes.get(expr.name)) return;
    narrowing.instance = as<InstanceObject>(holder);
    narrowing.attribute = expr.name;
  } else {
    return;
  }
  condition.narrowings.push_back(narrowing);
}

Value Interpreter::filter(Value value, const std::function<bool(Value)>& keep) {
  if (value->kind != Kind::Union) return keep(value) ? value : nullptr;
  Value result = nullptr;
  for (Value alternative : as<UnionObject>(value)->alternatives) {
    if (keep(alternative)) result = result ? heap_.join(result, alternative) : alternative;
  }
  return result;
}

Value Interpreter::without_none(Value value) {
  if (value->kind != Kind::Union) return value;
  Value result = filter(value, [](Value alternative) { return alternative->kind != Kind::None; });
  return result ? result : value;
}

std::optional<bool> Interpreter::truth(Value value) {
  if (auto assumed = fact(value->sym)) return assumed;
  switch (value->kind) {
    case Kind::None:
      return false;
    case Kind::Bool:
      return value->known ? std::optional(as<BoolObject>(value)->value) : std::nullopt;
    case Kind::Int:
      return value->known ? std::optional(as<IntObject>(value)->value != 0) : std::nullopt;
    case Kind::Float:
      return value->known ? std::optional(as<FloatObject>(value)->value != 0) : std::nullopt;
    case Kind::Str:
    case Kind::Bytes:
      return value->known ? std::optional(!as<StrObject>(value)->value.empty()) : std::nullopt;
    case Kind::Tuple:
    case Kind::List:
    case Kind::Set:
      return as<SequenceObject>(value)->exact ? std::optional(!as<SequenceObject>(value)->items.empty()) : std::nullopt;
    case Kind::Dict: {
      auto* dict = as<DictObject>(value);
      for (const auto& entry : dict->entries) {
        if (!entry.maybe) return true;
      }
      return dict->exact && dict->entries.empty() ? std::optional(false) : std::nullopt;
    }
    case Kind::Ellipsis:
    case Kind::Function:
    case Kind::Method:
    case Kind::Native:
    case Kind::Class:
    case Kind::PyModule:
    case Kind::Partial:
    case Kind::Compiled:
    case Kind::Handle:
      return true;
    case Kind::External:
      return std::nullopt;
    case Kind::Instance: {
      auto* instance = as<InstanceObject>(value);
      if (instance->payload && instance->payload->kind != Kind::Unknown &&
          !class_attribute(instance->cls, names::bool_)) {
        if (instance->module && instance->payload->kind == Kind::List && !as<SequenceObject>(instance->payload)->exact)
          return std::nullopt;
        return truth(instance->payload);
      }
      for (ir::Symbol name : {names::bool_, names::len}) {
        if (class_attribute(instance->cls, name)) {
          Value result = call_method(value, name.text(), {});
          if (result->kind == Kind::Tensor) return std::nullopt;
          return truth(result);
        }
      }
      if (instance->opaque || instance->cls->unknown_base) return std::nullopt;
      return true;
    }
    case Kind::Union: {
      std::optional<bool> common;
      for (Value alternative : as<UnionObject>(value)->alternatives) {
        auto one = truth(alternative);
        if (!one || (common && *common != *one)) return std::nullopt;
        common = one;
      }
      return common;
    }
    default:
      return std::nullopt;
  }
}

// The truth of the value of expression `id`, as a condition. Branching on a tensor's value is where Dynamo breaks.
Condition Interpreter::condition_of(Value value, ExprId id) {
  const Expr& expr = frame_->module->expr(id);
  Value certain = without_none(value);
  bool maybe_none = certain != value;
  Condition atom;
  atom.kind = Condition::Kind::Atom;
  atom.sym = value->sym;
  atom.where = {frame_->module, expr.span};
  if (value->usual) atom.usual = truth(value->usual);
  if (certain->kind == Kind::Tensor) {
    graph_break(EventKind::TensorBranch, expr.span, "GB0170", {}, text(expr.span));
    if (maybe_none) narrow_place(atom, id, certain, nullptr);
    if (value->sym) atom.text = value->sym->text;
    atom.sym = nullptr;
    return atom;
  }
  if (certain->kind == Kind::Union && traced()) {
    // Python:  skip = False
    //          if self.training: skip = torch.rand([]) < p      a tensor in training only
    //          if skip: …
    for (Value alternative : as<UnionObject>(certain)->alternatives) {
      auto since = since_.find(alternative);
      if (since == since_.end()) continue;
      std::size_t height = conditions_.size();
      conditions_.insert(conditions_.end(), since->second.begin(), since->second.end());
      graph_break(EventKind::TensorBranch, expr.span, "GB0170", {}, text(expr.span));
      conditions_.resize(height);
      break;
    }
  }
  if (is_drawn(value) && traced()) {
    graph_break(EventKind::TensorBranch, expr.span, "GB0170", "random", text(expr.span));
    return atom;
  }
  if (value->from_tensor && !value->known && is_fullgraph()) {
    graph_break(EventKind::TensorBranch, expr.span, "GB0170", {}, text(expr.span));
    return atom;
  }
  if (auto known = truth(value)) return Condition::known(*known);
  if (value->kind == Kind::Union) {
    Value when_true = filter(value, [&](Value alternative) { return truth(alternative) != std::optional(false); });
    Value when_false = filter(value, [&](Value alternative) { return truth(alternative) != std::optional(true); });
    narrow_place(atom, id, when_true, when_false);
  }
  return atom;
}

// After the operands of `a and b`: what they narrowed holds no longer. What operands after the first wrote (caches,
// mostly) is given up with the narrowing; that a frame is no longer traced is not.
void Interpreter::end_operands(Heap::Mark mark, bool narrowed) {
  Heap::Changes changes = heap_.take(mark);
  if (narrowed) changes.keep_flags();
  heap_.apply(changes);
}

Condition Interpreter::eval_condition(ExprId id) {
  const Expr& expr = frame_->module->expr(id);
  if (expr.kind == ExprKind::Unary && static_cast<ir::UnaryOp>(expr.op) == ir::UnaryOp::Not)
    return !eval_condition(expr.a);
  if (expr.kind == ExprKind::BoolOp) {
    bool conjunction = expr.op == 0;
    Condition result;
    result.kind = conjunction ? Condition::Kind::And : Condition::Kind::Or;
    std::size_t height = conditions_.size();
    auto mark = heap_.mark();
    bool narrowed = false;
    auto end = [&] {
      conditions_.resize(height);
      end_operands(mark, narrowed);
    };
    for (ExprId operand : frame_->module->list(expr.items)) {
      Condition part = eval_condition(operand);
      if (raised_) break;
      if (part.is_known()) {
        if (part.is_true() != conjunction) {  // decides the whole
          end();
          return part;
        }
        continue;
      }
      assume(part, conjunction);
      narrowed = narrowed || !part.narrowings.empty();
      result.parts.push_back(std::move(part));
    }
    end();
    if (result.parts.empty()) return Condition::known(conjunction);
    if (result.parts.size() == 1) return result.parts.front();
    return result;
  }
  if (expr.kind == ExprKind::Compare) {
    auto items = frame_->module->list(expr.items);
    if (items.size() == 1) {
      const Expr& comparison = frame_->module->expr(items[0]);
      auto op = static_cast<ir::CompareOp>(comparison.op);
      const Expr& right = frame_->module->expr(comparison.a);
      if ((op == ir::CompareOp::Is || op == ir::CompareOp::IsNot) && right.kind == ExprKind::None) {
        Value left = eval(expr.a);
        bool wanted = op == ir::CompareOp::Is;
        if (left->kind != Kind::Unknown && left->kind != Kind::Union)
          return Condition::known((left->kind == Kind::None) == wanted);
        Condition atom;
        atom.kind = Condition::Kind::Atom;
        std::string subject = left->sym ? left->sym->text : text(frame_->module->expr(expr.a).span);
        atom.text = subject + " is None";
        if (left->sym) {
          atom.sym = heap_.sym(atom.text);
          if (auto assumed = fact(atom.sym)) return Condition::known(*assumed == wanted);
        }
        Value rest = left->kind == Kind::Union ? filter(left, [](Value v) { return v->kind != Kind::None; }) : nullptr;
        if (left->kind == Kind::Union) {
          Value nones = filter(left, [](Value v) { return v->kind == Kind::None || v->kind == Kind::Unknown; });
          if (!nones) return Condition::known(!wanted);
        }
        narrow_place(atom, expr.a, heap_.none, rest);
        return wanted ? atom : !atom;
      }
      if (op == ir::CompareOp::In || op == ir::CompareOp::NotIn || op == ir::CompareOp::Eq ||
          op == ir::CompareOp::NotEq) {
        Value left = eval(expr.a);
        Value other = eval(comparison.a);
        Value result = compare(op, left, other, expr.span);
        Condition atom = condition_of(result, id);
        if (atom.kind == Condition::Kind::Atom && other->known && left->kind == Kind::Str && !left->known &&
            op == ir::CompareOp::Eq) {
          narrow_place(atom, expr.a, other, nullptr);
        }
        return atom;
      }
    }
  }
  if (expr.kind == ExprKind::Call) {
    const Expr& callee = frame_->module->expr(expr.a);
    auto arguments = frame_->module->list(expr.items);
    if (callee.kind == ExprKind::Name && callee.name == names::isinstance && arguments.size() == 2) {
      Value subject = eval(arguments[0]);
      Value type = eval(arguments[1]);
      if (auto known = is_instance(subject, type)) return Condition::known(*known);
      Condition atom;
      atom.kind = Condition::Kind::Atom;
      atom.where = {frame_->module, expr.span};
      if (subject->kind == Kind::Union) {
        narrow_place(atom, arguments[0],
                     filter(subject, [&](Value v) { return is_instance(v, type) != std::optional(false); }),
                     filter(subject, [&](Value v) { return is_instance(v, type) != std::optional(true); }));
      } else if (subject->kind == Kind::Unknown && type->kind == Kind::External &&
                 as<ExternalObject>(type)->name == "torch.Tensor") {
        narrow_place(atom, arguments[0], heap_.tensor(Origin::Unknown), nullptr);
      } else if (subject->kind == Kind::Unknown && type->kind == Kind::External) {
        static const std::map<std::string, Kind, std::less<>> scalars = {{"builtins.bool", Kind::Bool},
                                                                         {"builtins.int", Kind::Int},
                                                                         {"builtins.float", Kind::Float},
                                                                         {"builtins.str", Kind::Str}};
        auto found = scalars.find(as<ExternalObject>(type)->name);
        if (found != scalars.end()) narrow_place(atom, arguments[0], heap_.typed(found->second), nullptr);
      }
      return atom;
    }
  }
  Value value = eval(id);
  if (raised_) return Condition::known(true);
  return condition_of(value, id);
}

std::optional<bool> Interpreter::is_instance(Value value, Value type) {
  if (value->kind == Kind::Union) {
    std::optional<bool> common;
    for (Value alternative : as<UnionObject>(value)->alternatives) {
      auto one = is_instance(alternative, type);
      if (!one || (common && *common != *one)) return std::nullopt;
      common = one;
    }
    return common;
  }
  if (type->kind == Kind::Tuple) {
    bool open = !as<SequenceObject>(type)->exact;
    for (Value one : as<SequenceObject>(type)->items) {
      auto answer = is_instance(value, one);
      if (answer == std::optional(true)) return true;
      if (!answer) open = true;
    }
    return open ? std::nullopt : std::optional(false);
  }
  if (type->kind == Kind::Union) return std::nullopt;
  if (value->kind == Kind::Unknown || value->kind == Kind::External) return std::nullopt;
  if (type->kind == Kind::Class) {
    auto* cls = as<ClassObject>(type);
    if (value->kind != Kind::Instance) {
      if (value->kind == Kind::Compiled) return is_instance(as<CompiledObject>(value)->target, type);
      if (value->kind == Kind::Tensor && cls->cls) return std::nullopt;
      return cls->cls ? std::optional(false) : std::nullopt;
    }
    auto* instance = as<InstanceObject>(value);
    if (std::find(instance->cls->mro.begin(), instance->cls->mro.end(), cls) != instance->cls->mro.end()) return true;
    return instance->cls->unknown_base || instance->opaque ? std::nullopt : std::optional(false);
  }
  if (type->kind != Kind::External) return std::nullopt;
  const std::string name(profile_.canonical(as<ExternalObject>(type)->name));
  auto is = [&](std::string_view wanted) { return name == wanted; };
  switch (value->kind) {
    case Kind::None:
      return is("types.NoneType") || is("builtins.object");
    case Kind::Bool:
      return is("builtins.bool") || is("builtins.int") || is("builtins.object") || is("numbers.Number");
    case Kind::Int:
      return is("builtins.int") || is("builtins.object") || is("numbers.Number") || is("numbers.Integral") ||
             is("torch.SymInt");
    case Kind::Float:
      return is("builtins.float") || is("builtins.object") || is("numbers.Number");
    case Kind::Str:
      return is("builtins.str") || is("builtins.object") || name.ends_with(".Sequence") || name.ends_with(".Iterable");
    case Kind::Bytes:
      return is("builtins.bytes") || is("builtins.object");
    case Kind::Tuple: {
      auto* tuple = as<SequenceObject>(value);
      if (is("torch.Size")) return tuple->type_name.text() == "Size";
      return is("builtins.tuple") || is("builtins.object") || name.ends_with(".Sequence") ||
             name.ends_with(".Iterable") || name.ends_with("typing.Tuple");
    }
    case Kind::List:
      return is("builtins.list") || is("builtins.object") || name.ends_with(".Sequence") || name.ends_with(".Iterable");
    case Kind::Set:
      return is("builtins.set") || is("builtins.object") || name.ends_with(".Iterable");
    case Kind::Dict:
      return is("builtins.dict") || is("builtins.object") || name.ends_with("Mapping") || name.ends_with(".Iterable");
    case Kind::Tensor: {
      auto* tensor = as<TensorObject>(value);
      if (tensor->numpy) return name == "numpy.ndarray" || is("builtins.object");
      if (is("torch.nn.Parameter"))
        return tensor->parameter                        ? std::optional(true)
               : tensor->origin == Origin::Intermediate ? std::optional(false)
                                                        : std::nullopt;
      if (name.starts_with("torch.") && name.ends_with("Tensor") && !is("torch.Tensor")) return std::nullopt;
      return is("torch.Tensor") || is("builtins.object");
    }
    case Kind::Instance: {
      auto* instance = as<InstanceObject>(value);
      if (is("builtins.object")) return true;
      if (is_subclass(instance->cls, name)) return true;
      if (instance->cls->unknown_base || instance->opaque) return std::nullopt;
      if (name.starts_with("builtins.") || profile_.is_module_class(name)) return false;
      return std::nullopt;
    }
    case Kind::Compiled:
      return is_instance(as<CompiledObject>(value)->target, type);
    case Kind::Function:
    case Kind::Method:
      return name.ends_with("Callable") || name.ends_with("FunctionType") ? std::nullopt : std::optional(false);
    case Kind::Class:
      return is("builtins.type");
    default:
      return std::nullopt;
  }
}

}  // namespace fullgraph::trace
