// Tensors: their attributes and methods, torch's functions, and what the results are like.
#include <algorithm>
#include <unordered_set>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"
#include "analyzer/trace/one_of.h"

namespace fullgraph::trace {

using ir::Symbol;

namespace {

Dtype class_of_dtype(std::string_view name) {
  if (name == "bool") return Dtype::Bool;
  if (name.starts_with("float") || name.starts_with("bfloat") || name == "half" || name == "double")
    return Dtype::Float;
  if (name.starts_with("complex") || name == "cfloat" || name == "cdouble") return Dtype::Complex;
  if (name.starts_with("int") || name.starts_with("uint") || name == "long" || name == "short") return Dtype::Int;
  return Dtype::Unknown;
}

// "torch.float32" → "float32"; empty for what is no dtype
std::string_view dtype_name(Value value) {
  if (!value || value->kind != Kind::External) return {};
  std::string_view name = as<ExternalObject>(value)->name;
  if (!name.starts_with("torch.")) return {};
  name.remove_prefix(6);
  return class_of_dtype(name) == Dtype::Unknown ? std::string_view() : name;
}

std::optional<std::vector<std::int64_t>> dimensions(const std::vector<Value>& values) {
  std::vector<std::int64_t> result;
  for (Value value : values) {
    if (value->kind == Kind::Int) {
      result.push_back(value->known ? as<IntObject>(value)->value : -2);
    } else if ((value->kind == Kind::Tuple || value->kind == Kind::List) && values.size() == 1) {
      if (!as<SequenceObject>(value)->exact) return std::nullopt;
      return dimensions(as<SequenceObject>(value)->items);
    } else {
      return std::nullopt;
    }
  }
  return result;
}

// The shape of nested lists of numbers, as torch.tensor reads it
void literal_shape(Value value, std::vector<std::int64_t>& shape, Dtype& dtype, bool& known) {
  switch (value->kind) {
    case Kind::List:
    case Kind::Tuple: {
      auto* sequence = as<SequenceObject>(value);
      if (!sequence->exact) {
        known = false;
        return;
      }
      shape.push_back(static_cast<std::int64_t>(sequence->items.size()));
      if (!sequence->items.empty()) literal_shape(sequence->items.front(), shape, dtype, known);
      break;
    }
    case Kind::Bool:
      dtype = Dtype::Bool;
      break;
    case Kind::Int:
      dtype = Dtype::Int;
      break;
    case Kind::Float:
      dtype = Dtype::Float;
      break;
    case Kind::Complex:
      dtype = Dtype::Complex;
      break;
    default:
      known = false;
      break;
  }
}

constexpr std::string_view kFactories[] = {"zeros",         "ones",          "empty",          "full",
                                           "rand",          "randn",         "randint",        "randperm",
                                           "arange",        "linspace",      "logspace",       "eye",
                                           "tensor",        "empty_strided", "zeros_like",     "ones_like",
                                           "empty_like",    "full_like",     "rand_like",      "randn_like",
                                           "randint_like",  "normal",        "as_tensor",      "from_numpy",
                                           "scalar_tensor", "hann_window",   "hamming_window", "tril_indices",
                                           "triu_indices",  "range",         "complex",        "sparse_coo_tensor",
                                           "bernoulli",     "multinomial",   "poisson"};

const std::unordered_set<std::string_view>& keeps_shape() {
  static const std::unordered_set<std::string_view> names = {
      "abs",         "neg",          "exp",        "log",        "log2",     "log10",       "log1p",
      "sqrt",        "rsqrt",        "sin",        "cos",        "tan",      "tanh",        "sigmoid",
      "relu",        "gelu",         "silu",       "elu",        "selu",     "leaky_relu",  "softplus",
      "softmax",     "log_softmax",  "dropout",    "clamp",      "clip",     "clamp_min",   "clamp_max",
      "round",       "floor",        "ceil",       "trunc",      "frac",     "sign",        "square",
      "pow",         "add",          "sub",        "mul",        "div",      "true_divide", "add_",
      "sub_",        "mul_",         "div_",       "float",      "double",   "half",        "bfloat16",
      "int",         "long",         "short",      "bool",       "to",       "type",        "type_as",
      "contiguous",  "clone",        "detach",     "detach_",    "cpu",      "cuda",        "requires_grad_",
      "masked_fill", "masked_fill_", "fill_",      "zero_",      "cumsum",   "cumprod",     "flip",
      "roll",        "tril",         "triu",       "isnan",      "isinf",    "isfinite",    "logical_not",
      "logical_and", "logical_or",   "eq",         "ne",         "lt",       "le",          "gt",
      "ge",          "layer_norm",   "normalize",  "erf",        "erfc",     "reciprocal",  "nan_to_num",
      "hardtanh",    "hardswish",    "mish",       "relu_",      "relu6",    "rand_like",   "randn_like",
      "zeros_like",  "ones_like",    "empty_like", "full_like",  "copy_",    "uniform_",    "normal_",
      "bernoulli_",  "exponential_", "clamp_",     "logsigmoid", "softsign", "scatter",     "scatter_",
      "scatter_add", "scatter_add_", "index_fill", "index_add",  "sort",     "argsort",     "cummax"};
  return names;
}

const std::unordered_set<std::string_view>& reductions() {
  static const std::unordered_set<std::string_view> names = {
      "sum",    "mean", "prod", "max", "min",    "amax",      "amin",   "any",     "all",          "argmax",
      "argmin", "norm", "std",  "var", "median", "logsumexp", "nansum", "nanmean", "count_nonzero"};
  return names;
}

// Does the name stand where operators do, so that a private one, which the profile does not have, is one nevertheless?
bool is_among_operators(std::string_view name) {
  const std::string_view space = name.substr(0, name.rfind('.'));
  return space.starts_with("torch.ops.") || space.starts_with("torch._C._") ||
         one_of(space, {"torch", "torch._VF", "torch.functional", "torch.nn.functional", "torch.linalg", "torch.fft",
                        "torch.special", "torch.sparse", "torch.nested", "torch.masked"});
}

}  // namespace

Truth Interpreter::requires_grad_of(const Arguments& arguments) {
  Truth result = Truth::No;
  std::function<void(Value)> look = [&](Value value) {
    if (!value) return;
    switch (value->kind) {
      case Kind::Tensor: {
        Truth one = as<TensorObject>(value)->requires_grad;
        if (one == Truth::Yes) result = Truth::Yes;
        if (one == Truth::Unknown && result == Truth::No) result = Truth::Unknown;
        break;
      }
      case Kind::Tuple:
      case Kind::List:
        for (Value item : as<SequenceObject>(value)->items) look(item);
        if (!as<SequenceObject>(value)->exact && result == Truth::No) result = Truth::Unknown;
        break;
      case Kind::Union:
        for (Value item : as<UnionObject>(value)->alternatives) look(item);
        break;
      case Kind::Unknown:
        if (result == Truth::No) result = Truth::Unknown;
        break;
      default:
        break;
    }
  };
  for (Value value : arguments.positional) look(value);
  for (const auto& [key, value] : arguments.keywords) look(value);
  if (arguments.more_positional && result == Truth::No) result = Truth::Unknown;
  if (auto on = truth(grad_mode_); on == std::optional(false)) return Truth::No;
  return result;
}

// The result of an operator: what its name, its arguments and the profile say.
Value Interpreter::operator_result(const profile::Callable* callable, std::string_view name, const Arguments& arguments,
                                   Value self) {
  using profile::Returns;
  auto* result = heap_.tensor(Origin::Intermediate);
  TensorObject* first = self && self->kind == Kind::Tensor ? as<TensorObject>(self) : nullptr;
  Arguments all = arguments;
  if (self) all.positional.insert(all.positional.begin(), self);
  for (Value value : all.positional) {
    Value plain = without_none(value);
    if (!first && plain->kind == Kind::Tensor) first = as<TensorObject>(plain);
    if (plain->kind == Kind::List || plain->kind == Kind::Tuple) {
      for (Value item : as<SequenceObject>(plain)->items) {
        if (!first && item->kind == Kind::Tensor) first = as<TensorObject>(item);
      }
    }
  }
  result->requires_grad = requires_grad_of(all);
  std::function<void(Value)> collect_marks = [&](Value value) {
    if (value->kind == Kind::Tensor) {
      for (auto mark : as<TensorObject>(value)->marks) {
        if (std::find(result->marks.begin(), result->marks.end(), mark) == result->marks.end())
          result->marks.push_back(mark);
      }
    } else if (value->kind == Kind::List || value->kind == Kind::Tuple) {
      for (Value item : as<SequenceObject>(value)->items) collect_marks(item);
    }
  };
  for (Value value : all.positional) collect_marks(value);
  for (const auto& [key, value] : all.keywords) collect_marks(value);
  if (name.starts_with("detach")) result->marks.clear();
  if (first) {
    result->dtype = first->dtype;
    result->dtype_name = first->dtype_name;
    result->sparse = first->sparse && name != "to_dense";
  }
  Value dtype = all.keyword("dtype");
  if (!dtype) {
    for (Value value : all.positional) {
      if (!dtype_name(value).empty()) dtype = value;
    }
  }
  std::string_view chosen = dtype_name(dtype);
  std::string_view plain_name = name.ends_with("_") ? name.substr(0, name.size() - 1) : name;
  if (!chosen.empty()) {
    result->dtype = class_of_dtype(chosen);
    result->dtype_name = Symbol::intern(chosen);
  } else if (dtype && dtype->kind != Kind::None) {
    result->dtype = Dtype::Unknown;
  } else if (one_of(plain_name, {"eq",          "ne",      "lt",       "le",          "gt",          "ge",
                                 "isnan",       "isinf",   "isfinite", "logical_not", "logical_and", "logical_or",
                                 "logical_xor", "any",     "all",      "bool",        "signbit",     "isin",
                                 "isclose",     "greater", "less",     "not_equal",   "equal"})) {
    result->dtype = Dtype::Bool;
    result->dtype_name = Symbol::intern("bool");
  } else if (one_of(plain_name,
                    {"argmax", "argmin", "argsort", "nonzero", "long", "int", "short", "searchsorted", "bucketize",
                     "count_nonzero", "bincount", "multinomial", "one_hot", "floor_divide_int"})) {
    result->dtype = Dtype::Int;
  } else if (one_of(plain_name, {"float", "double", "half", "bfloat16", "softmax", "sigmoid", "tanh", "exp", "log",
                                 "sqrt", "mean", "linear", "embedding", "rand", "randn", "layer_norm"})) {
    result->dtype = Dtype::Float;
  } else if (one_of(plain_name, {"to", "type"}) && dtype == nullptr) {
    // .to(device) keeps the dtype, .to(other) takes its
    for (Value value : arguments.positional) {
      if (value->kind == Kind::Tensor) result->dtype = as<TensorObject>(value)->dtype;
      if (value->kind == Kind::Unknown) result->dtype = result->dtype == Dtype::Float ? Dtype::Float : Dtype::Unknown;
    }
  } else if (plain_name == "where" && all.positional.size() >= 3) {
    result->dtype =
        all.positional[1]->kind == Kind::Tensor ? as<TensorObject>(all.positional[1])->dtype : Dtype::Unknown;
  } else if (plain_name == "where" && all.positional.size() == 1) {
    result->dtype = Dtype::Int;  // places, as those of nonzero
    result->dtype_name = Symbol::intern("int64");
  } else if (plain_name == "masked_fill" || plain_name == "view" || plain_name == "reshape") {
  }
  if (one_of(plain_name, {"type_as"}) && all.positional.size() > 1 && all.positional[1]->kind == Kind::Tensor)
    result->dtype = as<TensorObject>(all.positional[1])->dtype;
  if (result->dtype == Dtype::Int || result->dtype == Dtype::Bool) result->requires_grad = Truth::No;
  if (one_of(plain_name, {"detach", "argmax", "argmin", "sign", "zeros_like", "ones_like", "empty_like", "rand_like",
                          "randn_like"}))
    result->requires_grad = Truth::No;

  auto integer = [&](Value value) -> std::optional<std::int64_t> {
    return value && value->kind == Kind::Int && value->known ? std::optional(as<IntObject>(value)->value)
                                                             : std::nullopt;
  };
  if (first && first->shape) {
    const auto& shape = *first->shape;
    auto rank = static_cast<std::int64_t>(shape.size());
    if (keeps_shape().contains(name)) {
      result->shape = shape;
      for (Value value : arguments.positional) {
        if (value->kind == Kind::Tensor && value != first &&
            one_of(plain_name, {"add", "sub", "mul", "div", "pow", "eq", "ne", "lt", "gt", "le", "ge", "logical_and",
                                "logical_or"})) {
          result->shape = as<TensorObject>(value)->shape && as<TensorObject>(value)->shape->size() <= shape.size()
                              ? Shape(shape)
                              : Shape();
        }
      }
    } else if (reductions().contains(name)) {
      Value dim = self ? arguments.get(0, "dim") : arguments.get(1, "dim");
      bool keep = all.keyword("keepdim") && truth(all.keyword("keepdim")) == std::optional(true);
      if (!dim || dim->kind == Kind::None || dim->kind == Kind::External) {
        if (!all.keyword("dim")) result->shape.emplace();
      } else if (auto axis = integer(dim)) {
        std::int64_t at = *axis < 0 ? *axis + rank : *axis;
        if (at >= 0 && at < rank) {
          result->shape = shape;
          if (keep)
            (*result->shape)[static_cast<std::size_t>(at)] = 1;
          else
            result->shape->erase(result->shape->begin() + at);
        }
      }
    } else if (one_of(name, {"view", "reshape", "expand"})) {
      std::vector<Value> sizes = arguments.positional;
      if (!self && !sizes.empty()) sizes.erase(sizes.begin());
      if (auto wanted = dimensions(sizes)) {
        std::int64_t total = 1, rest = 1;
        bool known = true;
        for (auto size : shape) known = known && size >= 0, total *= size;
        for (auto size : *wanted) {
          if (size == -2) known = false;
          if (size >= 0) rest *= size;
        }
        for (std::size_t i = 0; i < wanted->size(); ++i) {
          if ((*wanted)[i] == -1 && name == "expand") {
            std::int64_t at = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(wanted->size()) + rank;
            (*wanted)[i] = at >= 0 ? shape[static_cast<std::size_t>(at)] : -1;
          } else if ((*wanted)[i] == -1 && known && rest > 0) {
            (*wanted)[i] = total / rest;
          } else if ((*wanted)[i] < 0) {
            (*wanted)[i] = -1;
          }
        }
        result->shape = *wanted;
      }
    } else if (name == "unsqueeze") {
      auto axis = integer(self ? arguments.get(0, "dim") : arguments.get(1, "dim"));
      if (axis) {
        std::int64_t at = *axis < 0 ? *axis + rank + 1 : *axis;
        if (at >= 0 && at <= rank) {
          result->shape = shape;
          result->shape->insert(result->shape->begin() + at, 1);
        }
      }
    } else if (name == "transpose" || name == "swapaxes") {
      std::size_t offset = self ? 0 : 1;
      auto a = integer(arguments.get(offset, "dim0")), b = integer(arguments.get(offset + 1, "dim1"));
      if (a && b) {
        std::int64_t x = *a < 0 ? *a + rank : *a, y = *b < 0 ? *b + rank : *b;
        if (x >= 0 && y >= 0 && x < rank && y < rank) {
          result->shape = shape;
          std::swap((*result->shape)[static_cast<std::size_t>(x)], (*result->shape)[static_cast<std::size_t>(y)]);
        }
      }
    } else if (name == "permute") {
      std::vector<Value> order = arguments.positional;
      if (!self && !order.empty()) order.erase(order.begin());
      if (auto axes = dimensions(order); axes && axes->size() == shape.size()) {
        std::vector<std::int64_t> permuted;
        for (auto axis : *axes) {
          if (axis < 0) axis += rank;
          if (axis < 0 || axis >= rank) break;
          permuted.push_back(shape[static_cast<std::size_t>(axis)]);
        }
        if (permuted.size() == shape.size()) result->shape = permuted;
      }
    } else if (name == "squeeze") {
      auto axis = integer(self ? arguments.get(0, "dim") : arguments.get(1, "dim"));
      if (axis) {
        std::int64_t at = *axis < 0 ? *axis + rank : *axis;
        if (at >= 0 && at < rank && shape[static_cast<std::size_t>(at)] >= 0) {
          result->shape = shape;
          if (shape[static_cast<std::size_t>(at)] == 1) result->shape->erase(result->shape->begin() + at);
        }
      }
    } else if (name == "stack" || name == "cat") {
      if (name == "stack") {
        Value tensors = arguments.get(0, "tensors");
        if (tensors && (tensors->kind == Kind::List || tensors->kind == Kind::Tuple) &&
            as<SequenceObject>(tensors)->exact) {
          result->shape = shape;
          result->shape->insert(result->shape->begin(),
                                static_cast<std::int64_t>(as<SequenceObject>(tensors)->items.size()));
        }
      } else {
        result->shape = std::vector<std::int64_t>(shape.size(), -1);
      }
    } else if (name == "linear") {
      Value weight = arguments.get(1, "weight");
      result->shape = shape;
      if (!shape.empty())
        result->shape->back() = weight && weight->kind == Kind::Tensor && as<TensorObject>(weight)->shape &&
                                        !as<TensorObject>(weight)->shape->empty()
                                    ? as<TensorObject>(weight)->shape->front()
                                    : -1;
    } else if (name == "matmul" || name == "mm" || name == "bmm") {
      Value other = self ? arguments.get(0, "other") : arguments.get(1, "other");
      if (other && other->kind == Kind::Tensor) return binary(ir::BinaryOp::MatMul, first, other, arguments.span);
    } else if (name == "t" && rank == 2) {
      result->shape = std::vector<std::int64_t>{shape[1], shape[0]};
    } else if (name == "flatten") {
      if (arguments.positional.size() <= (self ? 0u : 1u) && arguments.keywords.empty()) {
        std::int64_t total = 1;
        for (auto size : shape) total = size < 0 || total < 0 ? -1 : total * size;
        result->shape = std::vector<std::int64_t>{total};
      }
    }
  }
  Returns returns = callable ? callable->returns : Returns::Tensor;
  if (one_of(name, {"max", "min", "sort", "topk", "median", "mode", "cummax", "cummin", "kthvalue"})) {
    Value dim = self ? arguments.get(0, "dim") : arguments.get(1, "dim");
    bool pair =
        (dim && dim->kind == Kind::Int) || one_of(name, {"sort", "topk", "mode", "cummax", "cummin", "kthvalue"});
    if (!pair && dim && dim->kind == Kind::Unknown) return heap_.unknown;
    if (pair) {
      auto* indices = heap_.make<TensorObject>(*result);
      indices->dtype = Dtype::Int;
      indices->requires_grad = Truth::No;
      auto* tuple = heap_.sequence(Kind::Tuple, {result, indices});
      tuple->field_names = {Symbol::intern("values"), Symbol::intern("indices")};
      return tuple;
    }
    return result;
  }
  if (one_of(name, {"split", "chunk", "unbind", "tensor_split", "meshgrid", "broadcast_tensors", "split_with_sizes",
                    "hsplit", "vsplit", "dsplit"})) {
    std::size_t offset = self ? 0 : 1;
    result->shape = first && first->shape
                        ? Shape(std::vector<std::int64_t>(
                              first->shape->size() - (name == "unbind" && !first->shape->empty() ? 1 : 0), -1))
                        : Shape();
    Value by = arguments.get(offset, name == "chunk" ? "chunks" : "split_size");
    std::optional<std::int64_t> count;
    if (name == "chunk") count = integer(by);
    if ((name == "split" || name == "split_with_sizes") && by && (by->kind == Kind::List || by->kind == Kind::Tuple) &&
        as<SequenceObject>(by)->exact)
      count = static_cast<std::int64_t>(as<SequenceObject>(by)->items.size());
    if (name == "unbind" && first && first->shape && !first->shape->empty()) {
      auto axis = integer(arguments.get(offset, "dim")).value_or(0);
      if (axis < 0) axis += static_cast<std::int64_t>(first->shape->size());
      if (axis >= 0 && axis < static_cast<std::int64_t>(first->shape->size()) &&
          (*first->shape)[static_cast<std::size_t>(axis)] >= 0)
        count = (*first->shape)[static_cast<std::size_t>(axis)];
    }
    if (name == "meshgrid" || name == "broadcast_tensors")
      count = static_cast<std::int64_t>(arguments.positional.size());
    if (count && *count <= 64)
      return heap_.sequence(Kind::Tuple, std::vector<Value>(static_cast<std::size_t>(*count), result));
    return heap_.some(Kind::Tuple, result);
  }
  switch (returns) {
    case Returns::Tensor:
      return result;
    case Returns::Bool:
      return heap_.typed(Kind::Bool);
    case Returns::Int:
      return heap_.typed(Kind::Int);
    case Returns::Float:
      return heap_.typed(Kind::Float);
    case Returns::String:
      return heap_.typed(Kind::Str);
    case Returns::None:
      return heap_.none;
    case Returns::Size:
      return heap_.some(Kind::Tuple, heap_.typed(Kind::Int));
    case Returns::TensorList:
      return heap_.some(Kind::Tuple, result);
    case Returns::Tensors:
      return heap_.some(Kind::Tuple, result);
    default:
      break;
  }
  if (callable && callable->treatment == profile::Treatment::InGraph && first) return result;
  return first && !callable                                 ? heap_.unknown
         : callable && returns == Returns::Unknown && first ? static_cast<Value>(result)
                                                            : heap_.unknown;
}

// ------------------------------------------------------------------------------------------------ attributes, methods

Value Interpreter::tensor_attribute(TensorObject* tensor, Symbol name, ir::Span span) {
  std::string_view text_name = name.text();
  if (tensor->numpy && one_of(text_name, {"base", "flags", "dtype"})) {
    graph_break(EventKind::Unsupported, span, "GB0157", "numpy.ndarray." + std::string(text_name), text(span));
    return heap_.unknown;
  }
  if (text_name == "shape") {
    if (!tensor->shape) {
      auto* size = heap_.some(Kind::Tuple, heap_.typed(Kind::Int));
      size->type_name = Symbol::intern("Size");
      return size;
    }
    std::vector<Value> sizes;
    for (auto size : *tensor->shape) sizes.push_back(size >= 0 ? heap_.integer(size) : heap_.typed(Kind::Int));
    auto* size = heap_.sequence(Kind::Tuple, std::move(sizes));
    size->type_name = Symbol::intern("Size");
    return size;
  }
  if (text_name == "ndim")
    return tensor->shape ? heap_.integer(static_cast<std::int64_t>(tensor->shape->size())) : heap_.typed(Kind::Int);
  if (text_name == "dtype") {
    if (tensor->dtype_name) return external("torch." + std::string(tensor->dtype_name.text()));
    bool may_be_float = tensor->dtype == Dtype::Float || tensor->dtype == Dtype::Unknown;
    return may_be_float ? heap_.symbolic(heap_.sym("dtype", Sym::What::FloatDtype)) : heap_.unknown;
  }
  if (text_name == "requires_grad") {
    if (tensor->requires_grad == Truth::Unknown) return heap_.typed(Kind::Bool);
    // What C++ has computed needs gradients only where they are on, for which it asks in this way.
    const bool needs = tensor->requires_grad == Truth::Yes;
    if (needs && in_cxx() && tensor->origin == Origin::Intermediate) return grad_mode_;
    return heap_.boolean(needs);
  }
  if (one_of(text_name, {"is_cuda", "is_sparse", "is_quantized", "is_mps", "is_meta", "is_nested", "is_xla",
                         "is_mkldnn", "is_xpu", "is_cpu"})) {
    if (entry_mode_) return heap_.boolean(text_name == "is_cpu");
    // What is asked of C++ is what it does where there is a device to wait for.
    if (in_cxx() && one_of(text_name, {"is_cuda", "is_cpu"})) return heap_.boolean(text_name == "is_cuda");
    return heap_.typed(Kind::Bool, heap_.sym("the tensor's " + std::string(text_name)));
  }
  if (text_name == "is_leaf") return heap_.typed(Kind::Bool);
  if (text_name == "device") return heap_.unknown;
  if (one_of(text_name, {"T", "mT", "H", "mH"})) {
    auto* result = heap_.make<TensorObject>(*tensor);
    result->origin = Origin::Intermediate;
    if (result->shape && result->shape->size() >= 2)
      std::swap(result->shape->back(), (*result->shape)[result->shape->size() - 2]);
    return result;
  }
  if (one_of(text_name, {"data", "real", "imag"})) {
    auto* result = heap_.make<TensorObject>(*tensor);
    if (text_name == "data") result->requires_grad = Truth::No;
    result->parameter = false;
    return result;
  }
  if (text_name == "grad") return heap_.join(heap_.none, heap_.tensor(Origin::Unknown));
  if (text_name == "grad_fn") {
    bool computed = tensor->origin == Origin::Intermediate && tensor->requires_grad == Truth::Yes &&
                    tensor->own_mark == UINT32_MAX && !tensor->parameter;
    if (computed)
      with_gradients([&] { graph_break(EventKind::Unsupported, span, "GB0104", "torch.Tensor.grad_fn", text(span)); });
    return heap_.unknown;
  }
  if (tensor->numpy) {
    if (one_of(text_name, {"size", "itemsize", "nbytes"})) return heap_.typed(Kind::Int);
    return heap_.make<NativeObject>(tensor, name);
  }
  if (!profile_.callable("torch.Tensor." + std::string(text_name)) && entry_mode_ == false &&
      text_name.starts_with("_"))
    return heap_.unknown;
  return heap_.make<NativeObject>(tensor, name);
}

// Dynamo traces NumPy's arrays as tensors; reading one into Python is reading a tensor.
Value Interpreter::read_numpy(TensorObject* array, std::string_view name, const Arguments& arguments) {
  std::string_view id = name == "tolist" && array->dtype == Dtype::Float ? "GB0109" : "GB0033";
  if (!is_fullgraph() || id == "GB0109")
    graph_break(EventKind::ScalarRead, arguments.span, id, name, text(arguments.span));
  Kind kind = array->dtype == Dtype::Int || name == "int"       ? Kind::Int
              : array->dtype == Dtype::Float || name == "float" ? Kind::Float
                                                                : Kind::Unknown;
  Value value = heap_.typed(kind);
  value->from_tensor = true;
  return name == "tolist" ? heap_.some(Kind::List, value) : value;
}

Value Interpreter::tensor_method(TensorObject* tensor, std::string_view name, Arguments& arguments) {
  if (in_cxx()) note_cxx_method(tensor, name, arguments);
  Value first = arguments.get(0, {});
  if (tensor->numpy) {
    if (one_of(name, {"item", "tolist"})) return read_numpy(tensor, name, arguments);
    if (name == "astype" && first && first->kind == Kind::External &&
        as<ExternalObject>(first)->name == "builtins.object")
      graph_break(EventKind::Unsupported, arguments.span, "GB0250", "numpy.ndarray.astype", text(arguments.span));
    if (one_of(name, {"any", "all"})) return heap_.tensor(Origin::Intermediate);
    auto* result = heap_.make<TensorObject>(*tensor);
    result->shape.reset();
    return result;
  }
  if (name == "size") {
    Value dim = arguments.get(0, "dim");
    Value shape = tensor_attribute(tensor, names::shape, arguments.span);
    if (!dim) return shape;
    return as<SequenceObject>(shape)->exact && dim->kind == Kind::Int
               ? subscript(shape, dim, arguments.span, arguments.span)
               : heap_.typed(Kind::Int);
  }
  if (name == "stride")
    return arguments.get(0, "dim") ? heap_.typed(Kind::Int) : heap_.some(Kind::Tuple, heap_.typed(Kind::Int));
  if (one_of(name, {"dim", "ndimension"})) return tensor_attribute(tensor, Symbol::intern("ndim"), arguments.span);
  if (one_of(name, {"numel", "nelement"})) {
    std::int64_t total = 1;
    if (tensor->shape) {
      for (auto size : *tensor->shape) total = size < 0 || total < 0 ? -1 : total * size;
      if (total >= 0) return heap_.integer(total);
    }
    return heap_.typed(Kind::Int);
  }
  if (name == "__len__") return length(tensor);
  if (one_of(name, {"is_floating_point", "is_complex"})) {
    if (tensor->dtype == Dtype::Unknown) return heap_.typed(Kind::Bool);
    return heap_.boolean(tensor->dtype == (name == "is_complex" ? Dtype::Complex : Dtype::Float));
  }
  if (one_of(name, {"is_contiguous", "is_pinned", "is_shared", "is_inference", "is_set_to", "is_same_size"}) &&
      name != "is_inference")
    return heap_.typed(Kind::Bool);
  if (one_of(name, {"item", "tolist", "__int__", "__float__", "__bool__", "__index__"})) {
    if (!is_fullgraph()) {
      std::string_view id = "GB0124";
      if (name == "tolist") id = tensor->dtype == Dtype::Float ? "GB0109" : "GB0033";
      graph_break(EventKind::ScalarRead, arguments.span, id, name, text(arguments.span));
    } else if (name == "tolist" && tensor->dtype == Dtype::Float) {
      graph_break(EventKind::ScalarRead, arguments.span, "GB0109", name, text(arguments.span));
    }
    Kind kind = tensor->dtype == Dtype::Int     ? Kind::Int
                : tensor->dtype == Dtype::Bool  ? Kind::Bool
                : tensor->dtype == Dtype::Float ? Kind::Float
                                                : Kind::Unknown;
    Value value = heap_.typed(kind);
    value->from_tensor = true;
    if (name != "tolist") return value;
    return heap_.some(Kind::List, value);
  }
  if (name == "requires_grad_") {
    Value given = arguments.get(0, "requires_grad");
    auto wanted = given ? truth(given) : std::optional(true);
    Truth now = !wanted ? Truth::Unknown : *wanted ? Truth::Yes : Truth::No;
    if (traced() && !(now != Truth::Unknown && tensor->requires_grad == now)) {
      Event result = event(EventKind::RequiresGradCalled, arguments.span);
      result.subject = text(arguments.span);
      result.origin = tensor->parameter ? Origin::Parameter : tensor->origin;
      result.value = now;
      bool outside = tensor->parameter || tensor->origin == Origin::Input || tensor->origin == Origin::Parameter ||
                     tensor->origin == Origin::Buffer;
      if (outside) {
        result.gb_id = "GB0125";
        // In C++ the caller's tensor is what it is about, whatever the flag was.
        if (tensor->requires_grad != Truth::Unknown || tensor->parameter || in_cxx()) graph_break(std::move(result));
      } else if (tensor->origin == Origin::Intermediate && tensor->requires_grad == Truth::No && now == Truth::Yes) {
        // Traced since 2.12, unless the leaf reaches an output of the region.
        result.gb_id = "GB8985";
        marks_.push_back(std::make_unique<LeafMark>(LeafMark{std::move(result)}));
        auto mark = static_cast<std::uint32_t>(marks_.size() - 1);
        heap_.change(tensor)->marks.push_back(mark);
        tensor->own_mark = mark;
      }
    }
    heap_.change(tensor)->requires_grad = now;
    return tensor;
  }
  if (one_of(name, {"register_hook", "register_post_accumulate_grad_hook"})) {
    auto* handle = heap_.make<HandleObject>(registration(arguments.span));
    if (tensor->parameter && !frame_->region) heap_.change(tensor)->hook = handle->registration;
    if (traced() && first) run_tensor_hook(tensor, first, name, arguments);
    return handle;
  }
  if (name == "retain_grad") {
    std::string full = "torch.Tensor.retain_grad";
    const profile::Callable* callable = profile_.callable(full);
    if (callable && !callable->gb_id.empty())
      graph_break(EventKind::TensorHookBreak, arguments.span, callable->gb_id, full, receiver(arguments.span, name));
    return heap_.none;
  }
  if (name == "detach_") {
    heap_.change(tensor)->requires_grad = Truth::No;
    return tensor;
  }
  if (name == "numpy") {
    auto* result = heap_.make<TensorObject>(*tensor);
    result->numpy = true;
    result->requires_grad = Truth::No;
    return result;
  }
  if (name == "as_subclass") return tensor;
  if (one_of(name, {"new_zeros", "new_ones", "new_empty", "new_full", "new_tensor"})) {
    auto* result = heap_.tensor(Origin::Intermediate);
    result->dtype = tensor->dtype;
    result->dtype_name = tensor->dtype_name;
    result->requires_grad = Truth::No;
    // Dynamo traces the flag without a break and AOTAutograd drops it; new_tensor keeps it.
    if (Value wanted = arguments.keyword("requires_grad"); wanted && truth(wanted) == std::optional(true)) {
      result->requires_grad = Truth::Yes;
      if (traced() && name != "new_tensor") {
        Event dropped = event(EventKind::Hazard, arguments.span);
        dropped.callee = "silent-requires-grad-drop";
        dropped.subject = text(arguments.span);
        emit(std::move(dropped));
      }
    }
    std::vector<Value> sizes = arguments.positional;
    if (name == "new_full" && sizes.size() > 1) sizes.resize(1);
    if (name != "new_tensor") {
      if (auto shape = dimensions(sizes)) {
        for (auto& size : *shape) size = std::max<std::int64_t>(size, -1);
        result->shape = *shape;
      }
    }
    if (std::string_view chosen = dtype_name(arguments.keyword("dtype")); !chosen.empty()) {
      result->dtype = class_of_dtype(chosen);
      result->dtype_name = Symbol::intern(chosen);
    }
    return result;
  }
  if (name == "to_sparse" || name == "to_sparse_csr") {
    report_profiled("torch.Tensor." + std::string(name), arguments);
    auto* result = heap_.make<TensorObject>(*tensor);
    result->sparse = true;
    return result;
  }
  if (name == "uniform_" && arguments.keyword("from")) {
    graph_break(EventKind::Unsupported, arguments.span, "GB0110", "torch.Tensor.uniform_", text(arguments.span));
    return tensor;
  }
  std::string full = "torch.Tensor." + std::string(name);
  const profile::Callable* callable = profile_.callable(full);
  if (callable && callable->inplace_view && tensor->origin != Origin::Intermediate &&
      tensor->origin != Origin::Unknown) {
    graph_break(EventKind::Unsupported, arguments.span, "GB0148", full, text(arguments.span),
                "it would change the shape or storage of a tensor from outside");
    return tensor;
  }
  if (name == "set_" && arguments.positional.size() > 1) {
    graph_break(EventKind::Unsupported, arguments.span, "GB0128", full, text(arguments.span));
    return tensor;
  }
  if (name == "data_ptr") return address_of(tensor);
  if (Value made = external_instance(full)) return made;
  report_operator(full, callable, tensor, arguments);
  Value result = operator_result(callable, name, arguments, tensor);
  if (name == "detach" && result->kind == Kind::Tensor)
    as<TensorObject>(result)->alias_of = tensor->alias_of ? tensor->alias_of : tensor;
  if (name.ends_with("_") && !name.ends_with("__") && result->kind == Kind::Tensor) {
    auto* written = heap_.change(tensor);
    Truth needs = as<TensorObject>(result)->requires_grad;
    if (needs != Truth::No) written->requires_grad = needs;
    written->marks = as<TensorObject>(result)->marks;
    return tensor;
  }
  return result;
}

// Runs the body of a tensor hook as Dynamo does when it traces the registration.
void Interpreter::run_tensor_hook(TensorObject* tensor, Value hook, std::string_view method, Arguments& arguments) {
  if (tensor->requires_grad == Truth::No) return;
  // On what comes from outside, the hook is registered after the graph has run: its body is not traced.
  if (tensor->parameter || tensor->origin == Origin::Input || tensor->origin == Origin::Parameter ||
      tensor->origin == Origin::Buffer)
    return;
  auto* grad = heap_.make<TensorObject>();
  grad->origin = Origin::Intermediate;
  grad->dtype = Dtype::Float;
  grad->shape = tensor->shape;
  grad->requires_grad = Truth::No;
  const std::string subject = receiver(arguments.span, method);
  Value code = hook->kind == Kind::Method ? as<MethodObject>(hook)->function : hook;
  if (code->kind == Kind::Function &&
      span_contains_name(*as<FunctionObject>(code)->module, as<FunctionObject>(code)->function->span,
                         {"is_contiguous", "stride"})) {
    graph_break(EventKind::TensorHookBreak, arguments.span, "GB7444", "stride", subject);
  }
  std::size_t before = events_.size();
  auto mark = heap_.mark();
  auto outer_serial = std::exchange(hop_serial_, heap_.serial());
  auto outer_counted = std::exchange(hop_counted_, false);
  auto outer_hooked = std::exchange(hooked_, &subject);
  Arguments one;
  one.positional = {grad};
  one.positional_spans = {arguments.span};
  one.span = arguments.span;
  one.module = arguments.module;
  call(hook, one);
  hop_serial_ = outer_serial;
  hooked_ = outer_hooked;
  raised_ = nullptr;
  if (hop_counted_) graph_break(EventKind::TensorHookBreak, arguments.span, "GB4413", "side effect", subject);
  hop_counted_ = outer_counted;
  heap_.weaken(heap_.take(mark));
  for (std::size_t i = before; i < events_.size(); ++i) {
    if (!events_[i].gb_id.empty() && events_[i].kind == EventKind::Output)
      events_[i].detail = "in the body of a tensor hook";
  }
}

// What breaks at an operator: by its tags, its name and its arguments.
void Interpreter::report_operator(const std::string& name, const profile::Callable* callable, Value self,
                                  const Arguments& arguments) {
  if (!traced()) return;
  std::string_view plain = std::string_view(name).substr(name.rfind('.') + 1);
  std::vector<Value> given = arguments.positional;
  if (self) given.insert(given.begin(), self);
  bool sparse = std::any_of(given.begin(), given.end(),
                            [](Value v) { return v->kind == Kind::Tensor && as<TensorObject>(v)->sparse; });
  if (sparse) {
    graph_break(EventKind::Unsupported, arguments.span, "GB0015", name, text(arguments.span));
    return;
  }
  if (plain == "repeat_interleave") {
    Value repeats = self ? arguments.get(0, "repeats") : arguments.get(1, "repeats");
    if (!repeats && !self) repeats = arguments.get(0, "repeats");
    Value size = arguments.keyword("output_size");
    bool dynamic = repeats && without_none(repeats)->kind == Kind::Tensor && (!size || size->kind == Kind::None);
    if (dynamic && !is_fullgraph())
      graph_break(EventKind::DynamicShape, arguments.span, "GB0036", name, text(arguments.span));
    return;
  }
  if (plain == "where" && given.size() > 1) return;
  if (plain == "where" && given.size() == 1 && !is_fullgraph()) {
    graph_break(EventKind::DynamicShape, arguments.span, "GB0036", name, text(arguments.span));
    return;
  }
  if (plain == "one_hot") {
    Value classes = arguments.get(1, "num_classes");
    bool given_classes =
        classes && !(classes->kind == Kind::Int && classes->known && as<IntObject>(classes)->value < 0);
    if (!given_classes) graph_break(EventKind::DynamicShape, arguments.span, "GB0246", name, text(arguments.span));
    return;
  }
  if (one_of(plain, {"split", "view", "reshape", "expand", "narrow", "repeat", "arange", "zeros", "ones", "full",
                     "tensor_split"}))
    return;
  if (one_of(plain, {"multinomial", "bernoulli"})) return;
  if (callable && !callable->gb_id.empty()) {
    report_profiled(name, arguments);
    return;
  }
  if (callable && callable->dynamic_output_shape && !is_fullgraph() &&
      one_of(plain, {"nonzero", "unique", "unique_consecutive", "masked_select", "bincount", "argwhere", "combinations",
                     "nonzero_numpy"})) {
    graph_break(EventKind::DynamicShape, arguments.span, "GB0036", name, text(arguments.span));
  } else if (callable && callable->data_dependent_output && !is_fullgraph() &&
             one_of(plain, {"equal", "allclose", "is_nonzero"})) {
    graph_break(EventKind::DataDependentOperator, arguments.span, "GB0033", name, text(arguments.span));
  }
}

// ------------------------------------------------------------------------------------------------ torch.*

Value Interpreter::construct_tensor(const Arguments& arguments, std::string_view full) {
  std::string_view name = full.substr(full.rfind('.') + 1);
  auto* result = heap_.tensor(Origin::Intermediate);
  result->requires_grad = Truth::No;
  Value first = arguments.get(0, {});
  if (name.ends_with("_like") && first && first->kind == Kind::Tensor) {
    result->shape = as<TensorObject>(first)->shape;
    result->dtype = as<TensorObject>(first)->dtype;
    result->dtype_name = as<TensorObject>(first)->dtype_name;
  } else if (one_of(name, {"tensor", "as_tensor", "scalar_tensor"}) && first) {
    if (first->kind == Kind::Tensor) {
      result->shape = as<TensorObject>(first)->shape;
      result->dtype = as<TensorObject>(first)->dtype;
      result->dtype_name = as<TensorObject>(first)->dtype_name;
    } else {
      std::vector<std::int64_t> shape;
      bool known = true;
      literal_shape(first, shape, result->dtype, known);
      if (known) result->shape = shape;
    }
  } else {
    result->dtype = one_of(name, {"randint", "randperm", "tril_indices", "triu_indices"}) ? Dtype::Int : Dtype::Float;
    if (result->dtype == Dtype::Float) result->dtype_name = Symbol::intern("float32");
    if (result->dtype == Dtype::Int) result->dtype_name = Symbol::intern("int64");
    std::vector<Value> sizes = arguments.positional;
    if (name == "arange" || name == "range") {
      bool real = std::any_of(sizes.begin(), sizes.end(), [](Value v) { return v->kind == Kind::Float; });
      result->dtype = real ? Dtype::Float : Dtype::Int;
      result->dtype_name = Symbol::intern(real ? "float32" : "int64");
      if (sizes.size() == 1 && sizes[0]->kind == Kind::Int && sizes[0]->known)
        result->shape = std::vector<std::int64_t>{as<IntObject>(sizes[0])->value};
      else
        result->shape = std::vector<std::int64_t>{-1};
    } else if (name == "linspace" || name == "logspace") {
      Value steps = arguments.get(2, "steps");
      result->shape = std::vector<std::int64_t>{
          steps && steps->kind == Kind::Int && steps->known ? as<IntObject>(steps)->value : -1};
    } else if (name == "eye" && !sizes.empty() && sizes[0]->kind == Kind::Int && sizes[0]->known) {
      result->shape = std::vector<std::int64_t>(2, as<IntObject>(sizes[0])->value);
    } else if (name == "randperm" && !sizes.empty()) {
      result->shape = std::vector<std::int64_t>{
          sizes[0]->kind == Kind::Int && sizes[0]->known ? as<IntObject>(sizes[0])->value : -1};
    } else if (name == "full" || name == "randint") {
      Value size = name == "full" ? arguments.get(0, "size") : nullptr;
      if (name == "randint") {
        for (Value value : sizes) {
          if (value->kind == Kind::Tuple || value->kind == Kind::List) size = value;
        }
        if (!size) size = arguments.keyword("size");
      }
      if (size && (size->kind == Kind::Tuple || size->kind == Kind::List)) {
        if (auto shape = dimensions({size})) {
          for (auto& extent : *shape) extent = std::max<std::int64_t>(extent, -1);
          result->shape = *shape;
        }
      }
      if (name == "full") {
        Value fill = arguments.get(1, "fill_value");
        if (fill && fill->kind == Kind::Int) result->dtype = Dtype::Int, result->dtype_name = Symbol::intern("int64");
        if (fill && fill->kind == Kind::Bool) result->dtype = Dtype::Bool, result->dtype_name = Symbol::intern("bool");
      }
    } else {
      if (sizes.empty() && arguments.keyword("size")) sizes = {arguments.keyword("size")};
      if (auto shape = dimensions(sizes)) {
        for (auto& size : *shape) size = std::max<std::int64_t>(size, -1);
        result->shape = *shape;
      }
    }
  }
  if (Value dtype = arguments.keyword("dtype"); dtype && dtype->kind != Kind::None) {
    std::string_view chosen = dtype_name(dtype);
    result->dtype = class_of_dtype(chosen);
    result->dtype_name = chosen.empty() ? Symbol{} : Symbol::intern(chosen);
  }
  if (Value grad = arguments.keyword("requires_grad")) {
    auto wanted = truth(grad);
    result->requires_grad = !wanted ? Truth::Unknown : *wanted ? Truth::Yes : Truth::No;
    if (traced() && wanted != std::optional(false)) {
      if (wanted || grad->sym) {
        Event found = event(EventKind::FactoryRequiresGrad, arguments.span);
        found.gb_id = "GB0225";
        found.callee = full;
        found.subject = text(arguments.span);
        found.value = result->requires_grad;
        if (wanted) graph_break(std::move(found));
      }
    }
  }
  return result;
}

Value Interpreter::call_torch(const std::string& name, Arguments& arguments) {
  std::string_view plain = std::string_view(name).substr(name.rfind('.') + 1);
  Value first = arguments.get(0, {});

  // ---- the compile-time truths
  if (one_of(name, {"torch.compiler.is_compiling", "torch.compiler.is_dynamo_compiling", "torch._dynamo.is_compiling",
                    "torch._dynamo.external_utils.is_compiling", "torch._utils.is_compiling"}))
    return frame_->region ? heap_.boolean(traced()) : heap_.no;
  if (one_of(name, {"torch.compiler.is_exporting", "torch.jit.is_scripting", "torch.jit.is_tracing",
                    "torch._C._get_tracing_state", "torch.onnx.is_in_onnx_export",
                    "torch.onnx._internal.exporter._flags.is_onnx_exporting", "torch._jit_internal.is_scripting",
                    "torch.overrides.has_torch_function", "torch.overrides.has_torch_function_unary",
                    "torch.overrides.has_torch_function_variadic", "torch.fx._symbolic_trace.is_fx_tracing",
                    "torch.is_inference_mode_enabled_"}))
    return heap_.no;
  if (name == "torch.is_grad_enabled") return grad_mode_;
  if (one_of(name, {"torch.is_tensor"})) {
    if (!first || first->kind == Kind::Unknown || first->kind == Kind::Union) {
      auto known = first ? is_instance(first, external("torch.Tensor")) : std::nullopt;
      return known ? heap_.boolean(*known) : heap_.typed(Kind::Bool);
    }
    return heap_.boolean(first->kind == Kind::Tensor && !as<TensorObject>(first)->numpy);
  }
  if (one_of(name, {"torch.is_floating_point", "torch.is_complex"}) && first && first->kind == Kind::Tensor)
    return tensor_method(as<TensorObject>(first), plain, arguments);

  // ---- contexts
  if (one_of(name, {"torch.no_grad",
                    "torch.enable_grad",
                    "torch.inference_mode",
                    "torch.autocast",
                    "torch.amp.autocast",
                    "torch.cuda.amp.autocast",
                    "torch.cpu.amp.autocast",
                    "torch.autograd.profiler.record_function",
                    "torch.profiler.record_function",
                    "torch.nn.attention.sdpa_kernel",
                    "torch.amp.autocast_mode.autocast",
                    "torch.autograd.graph.disable_saved_tensors_hooks",
                    "torch._C.DisableTorchFunctionSubclass",
                    "torch._C.DisableTorchFunction",
                    "torch.backends.cuda.sdp_kernel",
                    "torch.device",
                    "torch.cuda.device",
                    "torch.cuda.stream",
                    "torch.autograd.set_grad_enabled",
                    "torch.set_grad_enabled"})) {
    std::string kind(plain);
    if (plain == "inference_mode") kind = "no_grad";
    auto* context = heap_.make<ContextObject>(kind);
    if (plain == "set_grad_enabled") {
      context->argument = first ? (truth(first) ? heap_.boolean(*truth(first)) : first) : heap_.unknown;
    }
    // @torch.no_grad without parentheses
    if ((plain == "no_grad" || plain == "enable_grad" || plain == "inference_mode") && first &&
        first->kind == Kind::Function)
      return call(context, arguments);
    return context;
  }
  if (name == "torch.compiler.set_stance") {
    if (traced()) {
      Event error = event(EventKind::Hazard, arguments.span);
      error.callee = "set-stance-in-region";
      error.subject = text(arguments.span);
      emit(std::move(error));
    }
    auto* context = heap_.make<ContextObject>("stance");
    if (first && first->kind == Kind::Str && as<StrObject>(first)->value == "force_eager")
      context->name = "force_eager";
    return context;
  }

  // ---- the compiler's own interface
  if (name == "torch.compile") return compile(arguments);
  if (one_of(name, {"torch.compiler.disable", "torch._dynamo.disable", "torch._disable_dynamo",
                    "torch._dynamo.decorators.disable"}))
    return disable(arguments, name);
  if (one_of(name, {"torch.compiler.assume_constant_result", "torch._dynamo.assume_constant_result",
                    "torch.compiler.allow_in_graph", "torch._dynamo.allow_in_graph", "torch._dynamo.nonstrict_trace",
                    "torch._dynamo.decorators.nonstrict_trace"})) {
    if (!first || (first->kind != Kind::Function && first->kind != Kind::Method))
      return first && first->kind != Kind::Bool ? first : external(name);
    Value function_value = first->kind == Kind::Method ? as<MethodObject>(first)->function : first;
    if (function_value->kind != Kind::Function) return first;
    auto* function = heap_.make<FunctionObject>(*as<FunctionObject>(function_value));
    if (plain == "assume_constant_result")
      function->constant_result = true;
    else
      function->allowed = true;
    if (first->kind == Kind::Method) return heap_.make<MethodObject>(as<MethodObject>(first)->self, function);
    return function;
  }
  if (one_of(name, {"torch._dynamo.comptime.graph_break", "torch._dynamo.comptime.comptime.graph_break"})) {
    graph_break(EventKind::ExplicitBreak, arguments.span, "GB0030", name);
    return heap_.none;
  }
  if (one_of(name, {"torch._dynamo.graph_break", "torch._dynamo.skip_frame", "torch.compiler.skip_frame"})) {
    if (traced()) {
      Event result = event(EventKind::ExplicitBreak, arguments.span);
      result.gb_id = plain == "graph_break" ? "GB0025" : "GB4297";
      result.callee = name;
      if (plain == "skip_frame") ++frame_->unresumable;
      graph_break(std::move(result));
      if (plain == "skip_frame") --frame_->unresumable;
    }
    return heap_.none;
  }
  if (one_of(name, {"torch.jit.ignore", "torch.jit.unused", "torch.jit.export", "torch.jit._overload_method",
                    "torch.jit.script_if_tracing", "torch.no_grad_", "torch.fx.wrap", "torch.compiler.reset"}))
    return first ? first : external("fullgraph.identity");

  // ---- checkpointing
  if (one_of(name, {"torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"}))
    return checkpoint(arguments, name);

  // ---- higher-order functions: their bodies are traced
  if (name == "torch.cond" && arguments.positional.size() >= 3) {
    Value operands = arguments.get(3, "operands");
    Value result = nullptr;
    for (std::size_t i = 1; i <= 2; ++i) {
      Arguments branch_arguments;
      branch_arguments.span = arguments.span;
      branch_arguments.module = arguments.module;
      if (operands) {
        Value items = iterate(operands, arguments.span);
        if (items->kind == Kind::Tuple && as<SequenceObject>(items)->exact)
          branch_arguments.positional = as<SequenceObject>(items)->items;
      }
      branch_arguments.positional_spans.resize(branch_arguments.positional.size());
      Value one = call(arguments.positional[i], branch_arguments);
      raised_ = nullptr;
      if (result && traced() && result->kind != one->kind && result->kind != Kind::Unknown &&
          one->kind != Kind::Unknown && result->kind != Kind::Union && one->kind != Kind::Union) {
        Event error = event(EventKind::Hazard, arguments.span);
        error.callee = "cond-branches-differ";
        error.subject = text(arguments.span);
        emit(std::move(error));
      }
      result = result ? heap_.join(result, one) : one;
    }
    return result;
  }
  if (name == "torch.autograd.graph.register_multi_grad_hook") {
    graph_break(EventKind::TensorHookBreak, arguments.span, "GB0055", name, text(arguments.span));
    return heap_.make<HandleObject>(registration(arguments.span));
  }
  if (name.starts_with("torch.nn.Module.") && first && first->kind == Kind::Instance &&
      as<InstanceObject>(first)->module) {
    Arguments rest = arguments;  // nn.Module.register_forward_hook(module, hook)
    rest.positional.erase(rest.positional.begin());
    if (!rest.positional_spans.empty()) rest.positional_spans.erase(rest.positional_spans.begin());
    bool known = true;
    Value result = module_method(as<InstanceObject>(first), plain, rest, known);
    // Named like this, nn.Module's constructor is not super()'s, which Dynamo knows: it looks into it, and fails.
    if (plain == "__init__" && traced())
      graph_break(EventKind::SkippedCall, arguments.span, "GB0007", name, text(arguments.span));
    return result;
  }
  if (one_of(name, {"torch.vmap", "torch.func.vmap", "torch.func.grad", "torch.func.functional_call", "torch.func.vjp",
                    "torch.func.jvp", "torch.func.jacrev"}))
    return heap_.unknown;

  // ---- parameters and factories
  if (name == "torch.nn.Parameter" || name == "torch.nn.Buffer") {
    auto* result = first && first->kind == Kind::Tensor ? heap_.make<TensorObject>(*as<TensorObject>(first))
                                                        : heap_.tensor(Origin::Parameter);
    bool from_input = first && first->kind == Kind::Tensor && as<TensorObject>(first)->origin == Origin::Input;
    result->parameter = plain == "Parameter";
    Value wanted = arguments.get(1, "requires_grad");
    auto grad = wanted ? truth(wanted) : std::optional(true);
    result->requires_grad = plain == "Buffer" ? Truth::No : !grad ? Truth::Unknown : *grad ? Truth::Yes : Truth::No;
    if (result->dtype == Dtype::Unknown) result->dtype = Dtype::Float;
    if (traced() && plain == "Parameter" && !from_input) {
      Event found = event(EventKind::ParameterBuilt, arguments.span);
      found.gb_id = "GB0264";
      found.subject = text(arguments.span);
      found.origin = first && first->kind == Kind::Tensor ? as<TensorObject>(first)->origin : Origin::Unknown;
      bool sure = !first || first->kind == Kind::Tensor;
      if (sure && found.origin != Origin::Unknown) graph_break(std::move(found));
    }
    if (traced() && plain == "Buffer")
      graph_break(EventKind::Unsupported, arguments.span, "GB0116", name, text(arguments.span));
    result->origin = frame_->region ? result->origin : Origin::Parameter;
    return result;
  }
  if (name.rfind('.') == 5 && std::find(std::begin(kFactories), std::end(kFactories), plain) != std::end(kFactories)) {
    if (!one_of(plain, {"from_numpy"})) {
      report_operator(name, profile_.callable(name), nullptr, arguments);
      Value result = construct_tensor(arguments, name);
      if (plain == "sparse_coo_tensor") as<TensorObject>(result)->sparse = true;
      return result;
    }
  }
  if (name == "torch.Size") {
    Value items = first ? iterate(first, arguments.span) : heap_.sequence(Kind::Tuple, {});
    auto* size = heap_.make<SequenceObject>(*as<SequenceObject>(items));
    size->type_name = Symbol::intern("Size");
    return size;
  }
  if (one_of(name, {"torch.numel", "torch.Tensor.size", "torch.Tensor.numel"}) && first && first->kind == Kind::Tensor)
    return tensor_method(as<TensorObject>(first), plain == "size" ? "size" : "numel", arguments);
  if (name == "torch._check" || name == "torch._assert_async") return heap_.none;
  if (one_of(name, {"torch._check_tensor_all", "torch._check_tensor_all_with"})) {  // reads whether all is true
    if (!is_fullgraph()) graph_break(EventKind::ScalarRead, arguments.span, "GB0124", name, text(arguments.span));
    return heap_.none;
  }
  if (one_of(name, {"torch._assert", "torch.testing.assert_close"})) {
    if (first && first->kind == Kind::Tensor && !is_fullgraph())
      graph_break(EventKind::DataDependentOperator, arguments.span, "GB0033", name, text(arguments.span));
    return heap_.none;
  }
  if (one_of(name, {"torch.nn.modules.module.register_module_full_backward_hook",
                    "torch.nn.modules.module.register_module_backward_hook",
                    "torch.nn.modules.module.register_module_full_backward_pre_hook"})) {
    auto* where = registration(arguments.span);
    global_backward_hooks_.push_back(where);
    report_registration(where, first, plain);
    return heap_.make<HandleObject>(where);
  }
  if (name.starts_with("torch.library.")) {
    if (Value result = library_call(name, arguments)) return result;
  }
  if (name == "torch.utils.cpp_extension.load") {
    if (Value result = load_native_module(arguments)) return result;
  }
  if (name.starts_with("torch.ops.")) {  // torch.ops.mine.twice, or one of its overloads
    std::string_view space = std::string_view(name).substr(10);
    std::size_t dot = space.find('.');
    if (dot != std::string_view::npos) {
      std::string_view rest = space.substr(dot + 1);
      std::string full = std::string(space.substr(0, dot)) + "::" + std::string(rest.substr(0, rest.find('.')));
      auto op = operators_.find(full);
      if (op != operators_.end() && (op->second.native || op->second.module == frame_->module))
        report_missing_fake(op->second, full, arguments.span);
    }
  }
  // ---- modules
  if (profile_.is_module_class(name) || name == "torch.nn.Module") {
    auto* cls = external_class(name);
    auto* layer = heap_.make<InstanceObject>(cls);
    layer->module.emplace();
    layer->module->arguments = arguments.positional;
    layer->module->keywords = arguments.keywords;
    bool known = true;
    module_method(layer, "__init__", arguments, known);
    auto without = [&](std::string_view option) {
      return arguments.keyword(option) && truth(arguments.keyword(option)) != std::optional(true);
    };
    if (!without("affine") && !without("elementwise_affine"))
      report_profiled(name, arguments);  // a layer without parameters is made without a break
    return layer;
  }
  if (name == "torch.distributed.algorithms._checkpoint.checkpoint_wrapper.checkpoint_wrapper")
    return first ? first : heap_.unknown;
  if (name.starts_with("torch.Tensor.") && first && first->kind == Kind::Tensor) {  // torch.Tensor.add(x, y)
    Arguments rest = arguments;
    rest.positional.erase(rest.positional.begin());
    if (!rest.positional_spans.empty()) rest.positional_spans.erase(rest.positional_spans.begin());
    return tensor_method(as<TensorObject>(first), plain, rest);
  }
  if (one_of(name, {"torch.cuda.is_available", "torch.backends.cuda.is_built", "torch.cuda.is_bf16_supported",
                    "torch.mps.is_available", "torch.distributed.is_available", "torch.distributed.is_initialized",
                    "torch.backends.mps.is_available", "torch.xpu.is_available"}))
    return heap_.typed(Kind::Bool, heap_.sym(name + "()"));

  if (Value made = external_instance(name)) {
    report_profiled(name, arguments);
    return made;
  }
  if (name.starts_with("torch.distributed.") && arguments.keyword("async_op") &&
      truth(arguments.keyword("async_op")) == std::optional(true)) {
    graph_break(EventKind::Unsupported, arguments.span, "GB0172", name, text(arguments.span));
    return opaque_instance("torch.distributed.Work");
  }
  const bool nested = one_of(name, {"torch.nested.nested_tensor", "torch.nested.as_nested_tensor"});
  if (nested && arguments.keyword("layout")) return heap_.unknown;  // jagged ones are traced
  const profile::Callable* callable = profile_.callable(name);
  report_operator(name, callable, nullptr, arguments);
  if (arguments.keyword("out")) report_out_shape(name, arguments);
  if (name.starts_with("torch.sparse_") && plain.ends_with("_tensor")) {
    auto* tensor = heap_.tensor(Origin::Intermediate);
    tensor->sparse = true;
    return tensor;
  }
  if (nested) {
    auto* tensor = heap_.tensor(Origin::Intermediate);
    tensor->strided_nested = true;
    return tensor;
  }
  if (callable && callable->treatment == profile::Treatment::Constant && callable->returns == profile::Returns::Unknown)
    return heap_.unknown;
  // Python:  torch.cuda._is_in_bad_fork()
  if (!callable && plain.starts_with('_') && !is_among_operators(name)) return heap_.unknown;
  return operator_result(callable, plain, arguments, nullptr);
}

}  // namespace fullgraph::trace
