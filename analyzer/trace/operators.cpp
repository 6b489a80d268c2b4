// Operators and subscripts.
#include <algorithm>
#include <cmath>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"
#include "analyzer/trace/one_of.h"

namespace fullgraph::trace {

namespace {

constexpr std::string_view kBinaryMethods[] = {"add", "sub",    "mul",    "matmul", "truediv", "floordiv", "mod",
                                               "pow", "lshift", "rshift", "and",    "or",      "xor"};

std::optional<double> number(Value value) {
  if (!value->known) return std::nullopt;
  switch (value->kind) {
    case Kind::Bool:
      return as<BoolObject>(value)->value ? 1.0 : 0.0;
    case Kind::Int:
      return static_cast<double>(as<IntObject>(value)->value);
    case Kind::Float:
      return as<FloatObject>(value)->value;
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> integer_of(Value value) {
  if (!value->known) return std::nullopt;
  if (value->kind == Kind::Int) return as<IntObject>(value)->value;
  if (value->kind == Kind::Bool) return as<BoolObject>(value)->value ? 1 : 0;
  return std::nullopt;
}

bool is_number(Value value) {
  return value->kind == Kind::Bool || value->kind == Kind::Int || value->kind == Kind::Float ||
         value->kind == Kind::Complex;
}

Dtype promote(Dtype a, Dtype b) {
  return a == Dtype::Unknown || b == Dtype::Unknown ? Dtype::Unknown : std::max(a, b);
}

Shape broadcast(const Shape& a, const Shape& b) {
  if (!a || !b) return std::nullopt;
  std::size_t rank = std::max(a->size(), b->size());
  std::vector<std::int64_t> result(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t x = i < a->size() ? (*a)[a->size() - 1 - i] : 1;
    std::int64_t y = i < b->size() ? (*b)[b->size() - 1 - i] : 1;
    result[rank - 1 - i] = x == 1 ? y : y == 1 ? x : x == y ? x : (x < 0 ? y : x);
  }
  return result;
}

Truth either(Truth a, Truth b) {
  if (a == Truth::Yes || b == Truth::Yes) return Truth::Yes;
  if (a == Truth::Unknown || b == Truth::Unknown) return Truth::Unknown;
  return Truth::No;
}

}  // namespace

Value Interpreter::binary(ir::BinaryOp op, Value left, Value right, ir::Span span) {
  using Op = ir::BinaryOp;
  left = without_none(left);
  right = without_none(right);
  if (Value number = calculate_address(left, right, span)) return number;
  if (left->kind == Kind::Tensor || right->kind == Kind::Tensor) {
    Value tensor_side = left->kind == Kind::Tensor ? left : right;
    Value other = tensor_side == left ? right : left;
    if (other->kind == Kind::Instance || (other->kind == Kind::Unknown && as<TensorObject>(tensor_side)->numpy))
      return heap_.unknown;
    auto* result = heap_.tensor(Origin::Intermediate);
    auto* first = as<TensorObject>(tensor_side);
    result->numpy = first->numpy;
    result->sparse = first->sparse;
    result->requires_grad = first->requires_grad;
    result->dtype = first->dtype;
    result->marks = first->marks;
    if (other->kind == Kind::Tensor) {
      auto* second = as<TensorObject>(other);
      result->numpy = first->numpy && second->numpy;
      result->requires_grad = either(first->requires_grad, second->requires_grad);
      result->dtype = promote(first->dtype, second->dtype);
      result->shape = op == Op::MatMul ? Shape() : broadcast(first->shape, second->shape);
      if (op == Op::MatMul && first->shape && second->shape && first->shape->size() >= 2 &&
          second->shape->size() >= 2) {
        const Shape& l = as<TensorObject>(left)->shape;
        const Shape& r = as<TensorObject>(right)->shape;
        result->shape = *l;
        result->shape->back() = r->back();
      }
      for (auto mark : second->marks) {
        if (std::find(result->marks.begin(), result->marks.end(), mark) == result->marks.end())
          result->marks.push_back(mark);
      }
    } else {
      result->shape = first->shape;
      if (other->kind == Kind::Float)
        result->dtype = promote(first->dtype, Dtype::Float);
      else if (other->kind == Kind::Unknown && first->dtype != Dtype::Float)
        result->dtype = Dtype::Unknown;
    }
    if (op == Op::Div && result->dtype != Dtype::Complex && result->dtype != Dtype::Unknown)
      result->dtype = Dtype::Float;
    if (grad_mode_->known && !as<BoolObject>(grad_mode_)->value) result->requires_grad = Truth::No;
    return result;
  }
  if (left->kind == Kind::Union && left != right) {
    Value result = nullptr;
    for (Value alternative : as<UnionObject>(left)->alternatives) {
      Value one = binary(op, alternative, right, span);
      result = result ? heap_.join(result, one) : one;
    }
    return result;
  }
  if (right->kind == Kind::Union) {
    Value result = nullptr;
    for (Value alternative : as<UnionObject>(right)->alternatives) {
      Value one = binary(op, left, alternative, span);
      result = result ? heap_.join(result, one) : one;
    }
    return result;
  }
  if (left->kind == Kind::Instance) {
    std::string method = "__" + std::string(kBinaryMethods[static_cast<int>(op)]) + "__";
    if (class_attribute(as<InstanceObject>(left)->cls, ir::Symbol::intern(method)))
      return call_method(left, method, {right});
    return heap_.unknown;
  }
  if (right->kind == Kind::Instance) {
    std::string method = "__r" + std::string(kBinaryMethods[static_cast<int>(op)]) + "__";
    if (class_attribute(as<InstanceObject>(right)->cls, ir::Symbol::intern(method)))
      return call_method(right, method, {left});
    return heap_.unknown;
  }
  bool from_tensor = left->from_tensor || right->from_tensor;
  if (is_number(left) && is_number(right)) {
    bool real = left->kind == Kind::Float || right->kind == Kind::Float || op == Op::Div;
    auto a = number(left), b = number(right);
    if (a && b && !from_tensor) {
      if (!real) {
        std::int64_t x = *integer_of(left), y = *integer_of(right);
        std::int64_t out = 0;
        switch (op) {
          case Op::Add:
            if (!__builtin_add_overflow(x, y, &out)) return heap_.integer(out);
            break;
          case Op::Sub:
            if (!__builtin_sub_overflow(x, y, &out)) return heap_.integer(out);
            break;
          case Op::Mul:
            if (!__builtin_mul_overflow(x, y, &out)) return heap_.integer(out);
            break;
          case Op::FloorDiv:
            if (y != 0)
              return heap_.integer(
                  static_cast<std::int64_t>(std::floor(static_cast<double>(x) / static_cast<double>(y))));
            break;
          case Op::Mod:
            if (y != 0) return heap_.integer(((x % y) + y) % y);
            break;
          case Op::Pow: {
            if (y >= 0 && y < 63) {
              bool fits = true;
              out = 1;
              for (std::int64_t i = 0; i < y && fits; ++i) fits = !__builtin_mul_overflow(out, x, &out);
              if (fits) return heap_.integer(out);
            } else if (y < 0 && x != 0) {
              return heap_.real(std::pow(static_cast<double>(x), static_cast<double>(y)));
            }
            break;
          }
          case Op::LeftShift:
            if (y >= 0 && y < 62 && x < (1LL << 20) && x >= 0) return heap_.integer(x << y);
            break;
          case Op::RightShift:
            if (y >= 0 && y < 63) return heap_.integer(x >> y);
            break;
          case Op::And:
            return left->kind == Kind::Bool && right->kind == Kind::Bool ? heap_.boolean(x & y) : heap_.integer(x & y);
          case Op::Or:
            return left->kind == Kind::Bool && right->kind == Kind::Bool ? heap_.boolean(x | y) : heap_.integer(x | y);
          case Op::Xor:
            return left->kind == Kind::Bool && right->kind == Kind::Bool ? heap_.boolean(x ^ y) : heap_.integer(x ^ y);
          default:
            break;
        }
        if ((op == Op::FloorDiv || op == Op::Mod) && y == 0) {
          raise_exception("builtins.ZeroDivisionError", span);
          return heap_.unknown;
        }
        return heap_.typed(Kind::Int);
      }
      switch (op) {
        case Op::Add:
          return heap_.real(*a + *b);
        case Op::Sub:
          return heap_.real(*a - *b);
        case Op::Mul:
          return heap_.real(*a * *b);
        case Op::Div:
          if (*b != 0) return heap_.real(*a / *b);
          raise_exception("builtins.ZeroDivisionError", span);
          return heap_.unknown;
        case Op::FloorDiv:
          if (*b != 0) return heap_.real(std::floor(*a / *b));
          break;
        case Op::Mod:
          if (*b != 0) return heap_.real(*a - *b * std::floor(*a / *b));
          break;
        case Op::Pow:
          return heap_.real(std::pow(*a, *b));
        default:
          break;
      }
      return heap_.typed(Kind::Float);
    }
    if (left->kind == Kind::Bool && right->kind == Kind::Bool && (op == Op::And || op == Op::Or)) {
      bool decides = op == Op::Or;  // whatever the other side is
      if (truth(left) == std::optional(decides) || truth(right) == std::optional(decides))
        return heap_.boolean(decides);
    }
    Value result = heap_.typed(real ? Kind::Float : Kind::Int);
    if ((op == Op::And || op == Op::Or || op == Op::Xor) && left->kind == Kind::Bool && right->kind == Kind::Bool)
      result = heap_.typed(Kind::Bool);
    result->from_tensor = from_tensor;
    return result;
  }
  if (left->kind == Kind::Str && op == Op::Mod) {
    Value inner = right->kind == Kind::Tuple && as<SequenceObject>(right)->items.size() == 1
                      ? as<SequenceObject>(right)->items[0]
                      : right;
    if (inner->kind == Kind::Tensor && traced())
      graph_break(EventKind::Unsupported, span, "GB0059", "format", text(span));
    return heap_.typed(Kind::Str);
  }
  if (left->kind == Kind::Str && right->kind == Kind::Str && op == Op::Add) {
    if (left->known && right->known) return heap_.string(as<StrObject>(left)->value + as<StrObject>(right)->value);
    return heap_.typed(Kind::Str);
  }
  if (op == Op::Mul && (left->kind == Kind::Int || right->kind == Kind::Int)) {
    Value count = left->kind == Kind::Int ? left : right;
    Value what = count == left ? right : left;
    if (what->kind == Kind::Str) {
      if (what->known && count->known && as<IntObject>(count)->value < 1000) {
        std::string text;
        for (std::int64_t i = 0; i < as<IntObject>(count)->value; ++i) text += as<StrObject>(what)->value;
        return heap_.string(text);
      }
      return heap_.typed(Kind::Str);
    }
    if (what->kind == Kind::List || what->kind == Kind::Tuple) {
      auto* sequence = as<SequenceObject>(what);
      if (sequence->exact && count->known &&
          as<IntObject>(count)->value * static_cast<std::int64_t>(sequence->items.size()) <= 1024) {
        std::vector<Value> items;
        for (std::int64_t i = 0; i < as<IntObject>(count)->value; ++i)
          items.insert(items.end(), sequence->items.begin(), sequence->items.end());
        return heap_.sequence(what->kind, std::move(items));
      }
      Value element = sequence->element;
      for (Value item : sequence->items) element = element ? heap_.join(element, item) : item;
      return heap_.some(what->kind, element);
    }
  }
  if (op == Op::Add && left->kind == right->kind && (left->kind == Kind::List || left->kind == Kind::Tuple)) {
    auto* a = as<SequenceObject>(left);
    auto* b = as<SequenceObject>(right);
    if (a->exact && b->exact) {
      std::vector<Value> items = a->items;
      items.insert(items.end(), b->items.begin(), b->items.end());
      return heap_.sequence(left->kind, std::move(items));
    }
    Value element = nullptr;
    for (auto* side : {a, b}) {
      for (Value item : side->items) element = element ? heap_.join(element, item) : item;
      if (side->element) element = element ? heap_.join(element, side->element) : side->element;
    }
    return heap_.some(left->kind, element);
  }
  if (op == Op::Or && left->kind == Kind::Dict && right->kind == Kind::Dict) {
    auto* result = heap_.make<DictObject>(*as<DictObject>(left));
    for (const auto& entry : as<DictObject>(right)->entries) set_subscript(result, entry.key, entry.value, span);
    result->exact = result->exact && as<DictObject>(right)->exact;
    return result;
  }
  if (op == Op::Or && (left->kind == Kind::Class || left->kind == Kind::External)) {  // int | None in annotations
    return heap_.sequence(Kind::Tuple, {left, right});
  }
  if (is_number(left) && op != Op::Mul) return heap_.unknown;
  return heap_.unknown;
}

Value Interpreter::unary(ir::UnaryOp op, Value operand, ir::Span) {
  operand = without_none(operand);
  if (operand->kind == Kind::Tensor) {
    auto* result = heap_.make<TensorObject>(*as<TensorObject>(operand));
    result->origin = Origin::Intermediate;
    result->parameter = false;
    result->own_mark = UINT32_MAX;
    return result;
  }
  if (operand->known && operand->kind == Kind::Int) {
    std::int64_t value = as<IntObject>(operand)->value;
    return heap_.integer(op == ir::UnaryOp::Negative ? -value : op == ir::UnaryOp::Invert ? ~value : value);
  }
  if (operand->known && operand->kind == Kind::Float) {
    double value = as<FloatObject>(operand)->value;
    return heap_.real(op == ir::UnaryOp::Negative ? -value : value);
  }
  if (operand->kind == Kind::Instance) {
    const char* method = op == ir::UnaryOp::Negative ? "__neg__" : op == ir::UnaryOp::Invert ? "__invert__" : "__pos__";
    if (class_attribute(as<InstanceObject>(operand)->cls, ir::Symbol::intern(method)))
      return call_method(operand, method, {});
  }
  if (operand->kind == Kind::Int || operand->kind == Kind::Float) {
    Value result = heap_.typed(operand->kind);
    result->from_tensor = operand->from_tensor;
    return result;
  }
  return heap_.unknown;
}

std::optional<bool> Interpreter::identical(Value left, Value right) {
  if (left == right && left->kind != Kind::Unknown) return true;
  if (left->kind == Kind::None || right->kind == Kind::None) {
    Value other = left->kind == Kind::None ? right : left;
    if (other->kind == Kind::None) return true;
    if (other->kind == Kind::Unknown || other->kind == Kind::Union) {
      if (other->kind == Kind::Union) {
        auto& alternatives = as<UnionObject>(other)->alternatives;
        if (std::none_of(alternatives.begin(), alternatives.end(),
                         [](Value v) { return v->kind == Kind::None || v->kind == Kind::Unknown; }))
          return false;
      }
      return std::nullopt;
    }
    return false;
  }
  if (left->kind == Kind::Bool && right->kind == Kind::Bool) {
    auto a = truth(left), b = truth(right);
    if (a && b) return *a == *b;
    return std::nullopt;
  }
  if (left->kind == Kind::Unknown || right->kind == Kind::Unknown || left->kind == Kind::Union ||
      right->kind == Kind::Union)
    return std::nullopt;
  if (left->kind == Kind::External && right->kind == Kind::External) {
    return profile_.canonical(as<ExternalObject>(left)->name) == profile_.canonical(as<ExternalObject>(right)->name);
  }
  if (left->kind != right->kind) return false;
  if (left->kind == Kind::Class || left->kind == Kind::Instance || left->kind == Kind::Tensor ||
      left->kind == Kind::Function) {
    // Distinct objects here may be one there only when they came out of a join or an unknown source.
    if (left->kind == Kind::Tensor || left->kind == Kind::Instance) {
      const auto built = [](Value value) {  // by a constructor that was run, which joins keep apart
        return value->kind == Kind::Instance && as<InstanceObject>(value)->module && !value->sym;
      };
      if (built(left) && built(right)) return false;
      return entry_mode_ ? std::optional(false) : std::nullopt;
    }
    return false;
  }
  return std::nullopt;
}

namespace {

bool is_half_precision(Value value) {
  return value->kind == Kind::External &&
         one_of(as<ExternalObject>(value)->name, {"torch.float16", "torch.half", "torch.bfloat16"});
}

}  // namespace

std::optional<bool> Interpreter::equal(Value left, Value right) {
  if (left == right && left->kind != Kind::Unknown && left->known) return true;
  if (left->kind == Kind::Union || right->kind == Kind::Union) {
    Value many = left->kind == Kind::Union ? left : right;
    Value other = many == left ? right : left;
    std::optional<bool> common;
    for (Value alternative : as<UnionObject>(many)->alternatives) {
      auto one = equal(alternative, other);
      if (!one || (common && *common != *one)) return std::nullopt;
      common = one;
    }
    return common;
  }
  auto a = number(left), b = number(right);
  if (a && b) return *a == *b;
  if (left->known && right->known && (left->kind == Kind::Str || left->kind == Kind::Bytes) &&
      left->kind == right->kind)
    return as<StrObject>(left)->value == as<StrObject>(right)->value;
  if (left->kind == Kind::None || right->kind == Kind::None) return identical(left, right);
  if ((left->kind == Kind::Tuple || left->kind == Kind::List) && left->kind == right->kind) {
    auto* x = as<SequenceObject>(left);
    auto* y = as<SequenceObject>(right);
    if (!x->exact || !y->exact) return std::nullopt;
    if (x->items.size() != y->items.size()) return false;
    bool open = false;
    for (std::size_t i = 0; i < x->items.size(); ++i) {
      auto one = equal(x->items[i], y->items[i]);
      if (one == std::optional(false)) return false;
      if (!one) open = true;
    }
    return open ? std::nullopt : std::optional(true);
  }
  // A floating-point tensor of which no more is known is of the default dtype or wider, not of half precision.
  Value dtype = left->kind == Kind::External ? right : left;
  if (dtype->sym && dtype->sym->what == Sym::What::FloatDtype && is_half_precision(dtype == left ? right : left))
    return false;
  if (left->kind == Kind::External || right->kind == Kind::External || left->kind == Kind::Class)
    return identical(left, right);
  if (left->kind == Kind::Unknown || right->kind == Kind::Unknown) return std::nullopt;
  const auto by_identity = [this](Value value) {
    return value->kind == Kind::Instance && as<InstanceObject>(value)->module &&
           !class_attribute(as<InstanceObject>(value)->cls, names::eq);
  };
  if (by_identity(left) && by_identity(right)) return identical(left, right);
  bool left_number = is_number(left), right_number = is_number(right);
  if ((left->kind == Kind::Str) != (right->kind == Kind::Str) &&
      (left_number || right_number || left->kind == Kind::Tuple || right->kind == Kind::Tuple))
    return false;
  if (left->kind == Kind::Context && right->kind == Kind::Context) return std::nullopt;
  return std::nullopt;
}

Value Interpreter::compare(ir::CompareOp op, Value left, Value right, ir::Span span) {
  using Op = ir::CompareOp;
  auto answer = [&](std::optional<bool> known, bool negate) -> Value {
    if (known) return heap_.boolean(*known != negate);
    Value result = heap_.typed(Kind::Bool);
    result->from_tensor = left->from_tensor || right->from_tensor;
    return result;
  };
  if (op == Op::Is || op == Op::IsNot) return answer(identical(left, right), op == Op::IsNot);
  if (op != Op::In && op != Op::NotIn) {
    if (Value known = compare_addresses(op, left, right, span)) return known;
  }
  if (op == Op::In || op == Op::NotIn) {
    Value container = without_none(right);
    if (container->kind == Kind::Iterator) container = as<IteratorObject>(container)->sequence;
    if (container->kind == Kind::Instance) {
      auto* instance = as<InstanceObject>(container);
      if (class_attribute(instance->cls, names::contains)) {
        Value result = call_method(container, "__contains__", {left});
        return answer(truth(result), op == Op::NotIn);
      }
      if (instance->payload) container = instance->payload;
    }
    if (container->kind == Kind::Tensor && traced() && !as<TensorObject>(container)->numpy) {
      graph_break(EventKind::TensorBranch, span, "GB0170", "in", text(span));
      return heap_.typed(Kind::Bool);
    }
    if (container->kind == Kind::Str && left->kind == Kind::Str && container->known && left->known) {
      return heap_.boolean((as<StrObject>(container)->value.find(as<StrObject>(left)->value) != std::string::npos) ==
                           (op == Op::In));
    }
    std::optional<bool> found = false;
    auto look = [&](Value item, bool maybe) {
      if (found == std::optional(true)) return;
      auto same = item == left ? std::optional(true) : equal(left, item);
      if (left->kind == Kind::Tensor && item->kind == Kind::Tensor && item != left) same = std::nullopt;
      if (same == std::optional(true)) found = maybe ? std::nullopt : std::optional(true);
      if (!same) found = std::nullopt;
    };
    if (container->kind == Kind::Dict) {
      auto* dict = as<DictObject>(container);
      for (const auto& entry : dict->entries) look(entry.key, entry.maybe);
      if (!dict->exact && found != std::optional(true)) found = std::nullopt;
    } else if (container->kind == Kind::List || container->kind == Kind::Tuple || container->kind == Kind::Set) {
      auto* sequence = as<SequenceObject>(container);
      for (Value item : sequence->items) look(item, false);
      if (!sequence->exact && found != std::optional(true)) found = std::nullopt;
    } else {
      found = std::nullopt;
    }
    return answer(found, op == Op::NotIn);
  }
  Value a = without_none(left), b = without_none(right);
  if (a->kind == Kind::Tensor || b->kind == Kind::Tensor) {
    Value other = a->kind == Kind::Tensor ? b : a;
    if ((op == Op::Eq || op == Op::NotEq) && (other->kind == Kind::Str || other->kind == Kind::None))
      return heap_.boolean(op == Op::NotEq);
    if (other->kind == Kind::Instance || other->kind == Kind::Union) return heap_.unknown;
    auto* result = heap_.tensor(Origin::Intermediate);
    auto* tensor = as<TensorObject>(a->kind == Kind::Tensor ? a : b);
    result->numpy = tensor->numpy && (other->kind != Kind::Tensor || as<TensorObject>(other)->numpy);
    result->dtype = Dtype::Bool;
    result->dtype_name = ir::Symbol::intern("bool");
    result->requires_grad = Truth::No;
    result->shape =
        other->kind == Kind::Tensor ? broadcast(tensor->shape, as<TensorObject>(other)->shape) : tensor->shape;
    return result;
  }
  if (a->kind == Kind::Instance) {
    static constexpr std::string_view methods[] = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"};
    auto name = methods[static_cast<int>(op)];
    if (class_attribute(as<InstanceObject>(a)->cls, ir::Symbol::intern(name)) && !as<InstanceObject>(a)->cls->dataclass)
      return call_method(a, name, {right});
    if (op == Op::Eq || op == Op::NotEq) {
      if (a == b) return heap_.boolean(op == Op::Eq);
    }
    return heap_.typed(Kind::Bool);
  }
  if (left->usual || right->usual) {
    Value usual_left = left->usual ? left->usual : left, usual_right = right->usual ? right->usual : right;
    if (usual_left->known && usual_right->known && usual_left->kind <= Kind::Str && usual_right->kind <= Kind::Str) {
      Value result = heap_.typed(Kind::Bool);
      result->usual = compare(op, usual_left, usual_right, span);
      return result;
    }
  }
  if (op == Op::Eq || op == Op::NotEq) return answer(equal(left, right), op == Op::NotEq);
  auto x = number(a), y = number(b);
  if (x && y) {
    bool result = op == Op::Less ? *x < *y : op == Op::LessEq ? *x <= *y : op == Op::Greater ? *x > *y : *x >= *y;
    return heap_.boolean(result);
  }
  if (a->kind == Kind::Str && b->kind == Kind::Str && a->known && b->known) {
    int order = as<StrObject>(a)->value.compare(as<StrObject>(b)->value);
    return heap_.boolean(op == Op::Less      ? order < 0
                         : op == Op::LessEq  ? order <= 0
                         : op == Op::Greater ? order > 0
                                             : order >= 0);
  }
  if (a->kind == Kind::Tuple && b->kind == Kind::Tuple && as<SequenceObject>(a)->exact &&
      as<SequenceObject>(b)->exact) {
    auto& p = as<SequenceObject>(a)->items;
    auto& q = as<SequenceObject>(b)->items;
    for (std::size_t i = 0; i < std::min(p.size(), q.size()); ++i) {
      auto m = number(p[i]), n = number(q[i]);
      if (!m || !n) return heap_.typed(Kind::Bool);
      if (*m != *n) return heap_.boolean(op == Op::Less || op == Op::LessEq ? *m < *n : *m > *n);
    }
    double m = static_cast<double>(p.size()), n = static_cast<double>(q.size());
    return heap_.boolean(op == Op::Less ? m < n : op == Op::LessEq ? m <= n : op == Op::Greater ? m > n : m >= n);
  }
  Value result = heap_.typed(Kind::Bool);
  result->from_tensor = left->from_tensor || right->from_tensor;
  return result;
}

Value Interpreter::length(Value value) {
  value = without_none(value);
  switch (value->kind) {
    case Kind::Str:
      return value->known ? heap_.integer(static_cast<std::int64_t>(as<StrObject>(value)->value.size()))
                          : heap_.typed(Kind::Int);
    case Kind::Tuple:
    case Kind::List:
    case Kind::Set: {
      auto* sequence = as<SequenceObject>(value);
      return sequence->exact ? heap_.integer(static_cast<std::int64_t>(sequence->items.size()))
                             : heap_.typed(Kind::Int);
    }
    case Kind::Dict: {
      auto* dict = as<DictObject>(value);
      bool sure = dict->exact &&
                  std::none_of(dict->entries.begin(), dict->entries.end(), [](const auto& e) { return e.maybe; });
      return sure ? heap_.integer(static_cast<std::int64_t>(dict->entries.size())) : heap_.typed(Kind::Int);
    }
    case Kind::Tensor: {
      auto* tensor = as<TensorObject>(value);
      if (tensor->shape && !tensor->shape->empty() && tensor->shape->front() >= 0)
        return heap_.integer(tensor->shape->front());
      return heap_.typed(Kind::Int);
    }
    case Kind::Instance: {
      auto* instance = as<InstanceObject>(value);
      if (class_attribute(instance->cls, names::len)) return call_method(value, "__len__", {});
      if (instance->payload && instance->payload->kind != Kind::Unknown) return length(instance->payload);
      return heap_.typed(Kind::Int);
    }
    default:
      return heap_.typed(Kind::Int);
  }
}

namespace {

// Python:  x[mask], x[rows, columns], x[:, 0], x[..., 0]     of no list and no dict
bool indexes_a_tensor(Value index) {
  if (index->kind != Kind::Tuple || !as<SequenceObject>(index)->exact)
    return index->kind == Kind::Tensor && as<TensorObject>(index)->dtype == Dtype::Bool;
  return std::ranges::any_of(as<SequenceObject>(index)->items, [](Value part) {
    return part->kind == Kind::Tensor || part->kind == Kind::Slice || part->kind == Kind::Ellipsis;
  });
}

}  // namespace

Value Interpreter::subscript(Value object, Value index, ir::Span span, ir::Span index_span) {
  object = without_none(object);
  if (object->kind == Kind::Union) {
    Value result = nullptr;
    for (Value alternative : as<UnionObject>(object)->alternatives) {
      Value one = subscript(alternative, index, span, index_span);
      result = result ? heap_.join(result, one) : one;
    }
    return result;
  }
  if (object->kind == Kind::Unknown && traced() && indexes_a_tensor(index)) object = heap_.tensor(Origin::Unknown);
  switch (object->kind) {
    case Kind::Tensor:
      return tensor_index(as<TensorObject>(object), index, span);
    case Kind::Tuple:
    case Kind::List: {
      auto* sequence = as<SequenceObject>(object);
      if (index->kind == Kind::Tensor && !as<TensorObject>(index)->numpy) {
        graph_break(EventKind::ScalarRead, span, "GB0124", "__index__", text(index_span));
      }
      auto size = static_cast<std::int64_t>(sequence->items.size());
      if (sequence->exact && index->kind == Kind::Int && index->known) {
        std::int64_t i = as<IntObject>(index)->value;
        if (i < 0) i += size;
        if (i >= 0 && i < size) return sequence->items[static_cast<std::size_t>(i)];
        raise_exception("builtins.IndexError", span);
        return heap_.unknown;
      }
      if (index->kind == Kind::Slice) {
        auto* slice = as<SliceObject>(index);
        auto bound = [&](Value value, std::int64_t otherwise) -> std::optional<std::int64_t> {
          if (value->kind == Kind::None) return otherwise;
          if (value->kind != Kind::Int || !value->known) return std::nullopt;
          std::int64_t i = as<IntObject>(value)->value;
          return i < 0 ? std::max<std::int64_t>(0, i + size) : std::min(i, size);
        };
        std::int64_t step = slice->step->kind == Kind::Int && slice->step->known ? as<IntObject>(slice->step)->value
                            : slice->step->kind == Kind::None                    ? 1
                                                                                 : 0;
        auto lower = bound(slice->lower, 0), upper = bound(slice->upper, size);
        if (sequence->exact && step == -1 && slice->lower->kind == Kind::None && slice->upper->kind == Kind::None) {
          return heap_.sequence(object->kind, {sequence->items.rbegin(), sequence->items.rend()});
        }
        if (sequence->exact && lower && upper && step > 0) {
          std::vector<Value> items;
          for (std::int64_t i = *lower; i < *upper; i += step)
            items.push_back(sequence->items[static_cast<std::size_t>(i)]);
          auto* result = heap_.sequence(object->kind, std::move(items));
          if (sequence->type_name.text() == "Size") result->type_name = sequence->type_name;
          return result;
        }
        Value element = sequence->element;
        for (Value item : sequence->items) element = element ? heap_.join(element, item) : item;
        return heap_.some(object->kind, element);
      }
      Value element = sequence->element;
      for (Value item : sequence->items) element = element ? heap_.join(element, item) : item;
      return element ? element : heap_.unknown;
    }
    case Kind::Dict: {
      auto* dict = as<DictObject>(object);
      Value found = nullptr;
      for (const auto& entry : dict->entries) {
        auto same = entry.key == index ? std::optional(true) : equal(entry.key, index);
        // Dynamo tells objects with a hash of their own apart by identity, and raises KeyError where Python finds the
        // key.
        bool other_object = entry.key != index && index->kind == Kind::Instance && entry.key->kind == Kind::Instance &&
                            class_attribute(as<InstanceObject>(index)->cls, names::hash);
        if (!same && other_object) same = truth(compare(ir::CompareOp::Eq, entry.key, index, span));
        if (same == std::optional(true)) {
          if (other_object) graph_break(EventKind::Unsupported, span, "GB0088", text(span), text(index_span));
          return entry.value;
        }
        if (!same) found = found ? heap_.join(found, entry.value) : entry.value;
      }
      if (found && dict->exact) return found;
      if (dict->exact && !found) {
        raise_exception("builtins.KeyError", span);
        return heap_.unknown;
      }
      if (dict->element) return found ? heap_.join(found, dict->element) : dict->element;
      return heap_.unknown;
    }
    case Kind::Str:
      if (object->known && index->kind == Kind::Int && index->known) {
        const std::string& value = as<StrObject>(object)->value;
        std::int64_t i = as<IntObject>(index)->value;
        if (i < 0) i += static_cast<std::int64_t>(value.size());
        if (i >= 0 && i < static_cast<std::int64_t>(value.size()))
          return heap_.string(value.substr(static_cast<std::size_t>(i), 1));
      }
      return heap_.typed(Kind::Str);
    case Kind::Instance: {
      auto* instance = as<InstanceObject>(object);
      if (class_attribute(instance->cls, names::getitem)) return call_method(object, "__getitem__", {index});
      if (instance->payload) {
        Value payload = instance->payload;
        // ModelOutput-like and module containers
        if (payload->kind == Kind::Dict && index->kind == Kind::Int && index->known) {
          auto* dict = as<DictObject>(payload);
          std::vector<Value> present;
          for (const auto& entry : dict->entries) {
            if (entry.value->kind != Kind::None) present.push_back(entry.value);
          }
          auto i = static_cast<std::size_t>(as<IntObject>(index)->value);
          bool sure = std::all_of(present.begin(), present.end(),
                                  [](Value v) { return v->kind != Kind::Union && v->kind != Kind::Unknown; });
          if (i < present.size() && (sure || i == 0)) return present[i];
          return heap_.unknown;
        }
        if (instance->module && index->kind == Kind::Tensor) {
          graph_break(EventKind::ScalarRead, span, "GB0124", "__index__", text(index_span));
        }
        Value result = subscript(payload, index, span, index_span);
        return result;
      }
      if (instance->cls->dataclass && index->kind == Kind::Str && index->known) {
        return attribute(object, ir::Symbol::intern(as<StrObject>(index)->value), span);
      }
      return heap_.unknown;
    }
    case Kind::External: {  // typing subscripts
      return object;
    }
    case Kind::Class:
      return object;
    default:
      return entry_of_attribute(object, index);
  }
}

// Indexing a tensor: by a mask its result's shape depends on values, by a tensor bound of a slice the bound is read.
Value Interpreter::tensor_index(TensorObject* tensor, Value index, ir::Span span) {
  auto* result = heap_.tensor(Origin::Intermediate);
  result->numpy = tensor->numpy;
  result->dtype = tensor->dtype;
  result->dtype_name = tensor->dtype_name;
  result->requires_grad = tensor->requires_grad;
  result->marks = tensor->marks;
  std::vector<Value> parts;
  if (index->kind == Kind::Tuple && as<SequenceObject>(index)->exact) {
    parts = as<SequenceObject>(index)->items;
  } else {
    parts.push_back(index);
  }
  bool simple = tensor->shape.has_value();
  std::vector<std::int64_t> shape;
  std::size_t dimension = 0;
  std::size_t consumed = 0;
  for (Value part : parts) {
    if (part->kind != Kind::None && part->kind != Kind::Ellipsis) ++consumed;
  }
  for (Value part : parts) {
    part = without_none(part);
    if (part->kind == Kind::Tensor) {
      auto* by = as<TensorObject>(part);
      if (by->dtype == Dtype::Bool && !tensor->numpy && !by->numpy) {
        graph_break(EventKind::DynamicShape, span, "GB0036", "boolean mask", text(span));
        simple = false;
      } else if (by->shape && simple && dimension < tensor->shape->size()) {
        shape.insert(shape.end(), by->shape->begin(), by->shape->end());
        ++dimension;
      } else {
        simple = false;
      }
    } else if (part->kind == Kind::Slice) {
      auto* slice = as<SliceObject>(part);
      read_bounds(tensor, slice, span);
      if (simple && dimension < tensor->shape->size()) {
        std::int64_t size = (*tensor->shape)[dimension];
        auto bound = [&](Value value, std::int64_t otherwise) -> std::optional<std::int64_t> {
          if (value->kind == Kind::None) return otherwise;
          if (value->kind != Kind::Int || !value->known || size < 0) return std::nullopt;
          std::int64_t i = as<IntObject>(value)->value;
          return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size);
        };
        auto lower = bound(slice->lower, 0), upper = bound(slice->upper, size);
        std::int64_t step = slice->step->kind == Kind::None                        ? 1
                            : slice->step->kind == Kind::Int && slice->step->known ? as<IntObject>(slice->step)->value
                                                                                   : 0;
        shape.push_back(lower && upper && size >= 0 && step > 0
                            ? std::max<std::int64_t>(0, (*upper - *lower + step - 1) / step)
                            : -1);
        ++dimension;
      } else {
        simple = false;
      }
    } else if (part->kind == Kind::Int) {
      ++dimension;
    } else if (part->kind == Kind::None) {
      shape.push_back(1);
    } else if (part->kind == Kind::Ellipsis && simple) {
      std::size_t rest = tensor->shape->size() - std::min(tensor->shape->size(), consumed);
      for (std::size_t i = 0; i < rest && dimension < tensor->shape->size(); ++i)
        shape.push_back((*tensor->shape)[dimension++]);
    } else {
      simple = false;
    }
  }
  if (simple && dimension <= tensor->shape->size()) {
    while (dimension < tensor->shape->size()) shape.push_back((*tensor->shape)[dimension++]);
    result->shape = shape;
  }
  return result;
}

// Python:  x[length:, 0] = 0     a bound of a slice is a Python number, wherever the slice stands
void Interpreter::read_bounds(TensorObject* tensor, Value index, ir::Span span) {
  std::vector<Value> parts = {index};
  if (index->kind == Kind::Tuple) parts = as<SequenceObject>(index)->items;
  for (Value part : parts) {
    if (part->kind != Kind::Slice) continue;
    auto* slice = as<SliceObject>(part);
    for (Value bound : {slice->lower, slice->upper, slice->step}) {
      Value number = without_none(bound);
      if (number->kind != Kind::Tensor || tensor->numpy) continue;
      graph_break(EventKind::ScalarRead, span, "GB0124", "__index__", text(span));
      break;
    }
  }
}

void Interpreter::set_subscript(Value object, Value index, Value value, ir::Span span) {
  object = without_none(object);
  switch (object->kind) {
    case Kind::Dict: {
      report_side_effect(object, nullptr, span);
      auto* dict = heap_.change(as<DictObject>(object));
      for (auto& entry : dict->entries) {
        auto same = entry.key == index ? std::optional(true) : equal(entry.key, index);
        if (same == std::optional(true)) {
          entry.value = value;
          entry.maybe = false;
          return;
        }
        if (!same) entry.value = heap_.join(entry.value, value);
      }
      if (index->known || index->kind == Kind::Tensor || index->kind == Kind::Instance || index->kind == Kind::Class ||
          index->kind == Kind::Tuple || index->kind == Kind::External || index->kind == Kind::Function ||
          index->kind == Kind::None) {
        dict->entries.push_back({index, value, false});
      } else {
        dict->exact = false;
        dict->element = dict->element ? heap_.join(dict->element, value) : value;
      }
      break;
    }
    case Kind::List: {
      report_side_effect(object, nullptr, span);
      auto* list = heap_.change(as<SequenceObject>(object));
      auto size = static_cast<std::int64_t>(list->items.size());
      if (list->exact && index->kind == Kind::Int && index->known) {
        std::int64_t i = as<IntObject>(index)->value;
        if (i < 0) i += size;
        if (i >= 0 && i < size) list->items[static_cast<std::size_t>(i)] = value;
      } else {
        for (Value& item : list->items) item = heap_.join(item, value);
        if (!list->exact) list->element = list->element ? heap_.join(list->element, value) : value;
      }
      break;
    }
    case Kind::Instance: {
      auto* instance = as<InstanceObject>(object);
      if (class_attribute(instance->cls, names::setitem)) {
        call_method(object, "__setitem__", {index, value});
      } else if (instance->payload) {
        set_subscript(instance->payload, index, value, span);
      }
      break;
    }
    case Kind::Tensor: {
      auto* tensor = as<TensorObject>(object);
      read_bounds(tensor, index, span);
      if (value->kind == Kind::Tensor) {
        auto* source = as<TensorObject>(value);
        if (source->requires_grad == Truth::Yes && tensor->requires_grad != Truth::Yes) {
          heap_.change(tensor)->requires_grad = Truth::Yes;
        }
        if (!source->marks.empty()) {
          heap_.change(tensor);
          tensor->marks.insert(tensor->marks.end(), source->marks.begin(), source->marks.end());
        }
      }
      break;
    }
    default:
      break;
  }
}

}  // namespace fullgraph::trace
