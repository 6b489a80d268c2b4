#include "analyzer/graphs/tensor_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <utility>

#include "analyzer/graphs/printable.h"

namespace fullgraph::graphs {
namespace {

using Kind = Value::Kind;

// torch/_utils.py and torch/storage.py: the classes of typed storages and the type of their elements.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> storage_types{{
    {"torch.FloatStorage", "float32"},
    {"torch.DoubleStorage", "float64"},
    {"torch.HalfStorage", "float16"},
    {"torch.BFloat16Storage", "bfloat16"},
    {"torch.LongStorage", "int64"},
    {"torch.IntStorage", "int32"},
    {"torch.ShortStorage", "int16"},
    {"torch.CharStorage", "int8"},
    {"torch.ByteStorage", "uint8"},
    {"torch.BoolStorage", "bool"},
    {"torch.ComplexFloatStorage", "complex64"},
    {"torch.ComplexDoubleStorage", "complex128"},
}};

std::string dtype_of_storage(const Value* type) {
  if (type == nullptr || !type->is(Kind::Global)) return {};
  for (const auto& [storage, dtype] : storage_types)
    if (type->text == storage) return std::string(dtype);
  return {};
}

// A dtype is pickled as the global it is.
std::string dtype_of_global(const Value* dtype) {
  if (dtype == nullptr || !dtype->is(Kind::Global) || !dtype->text.starts_with("torch.")) return {};
  const std::string_view name = dtype->text.substr(6);
  return is_identifier(name) ? std::string(name) : std::string{};
}

std::optional<std::vector<std::int64_t>> shape_of(const Value* size) {
  if (size != nullptr && size->is_made_by("torch.Size")) size = size->argument(0);
  if (size == nullptr || (!size->is(Kind::Tuple) && !size->is(Kind::List)) || size->items.size() > 64)
    return std::nullopt;
  std::vector<std::int64_t> shape;
  for (const Value* extent : size->items) {
    if (!extent->is(Kind::Int)) return std::nullopt;
    shape.push_back(extent->integer);
  }
  return shape;
}

// ("storage", type, key, device, number of elements), shape and the rest beside it.
TensorDescription stored(const Value& arguments) {
  TensorDescription tensor;
  if (const Value* storage = arguments.at(0); storage != nullptr && storage->is(Kind::Persistent)) {
    tensor.dtype = dtype_of_storage(storage->arguments->at(1));
    if (const Value* device = storage->arguments->at(3); device != nullptr && device->is(Kind::String))
      tensor.device = device->text;
  }
  tensor.shape = shape_of(arguments.at(2));
  if (const Value* grad = arguments.at(4)) tensor.requires_grad = grad->is_true();
  return tensor;
}

std::optional<TensorDescription> described_by(std::string_view function, const Value& arguments) {
  if (function == "torch._utils._rebuild_tensor" || function == "torch._utils._rebuild_tensor_v2")
    return stored(arguments);
  if (function == "torch._utils._rebuild_tensor_v3") {
    TensorDescription tensor = stored(arguments);
    tensor.dtype = dtype_of_global(arguments.at(6));
    return tensor;
  }
  if (function == "torch._utils._rebuild_meta_tensor_no_storage") {
    const Value* const grad = arguments.at(3);
    return TensorDescription{shape_of(arguments.at(1)), dtype_of_global(arguments.at(0)), "meta",
                             grad != nullptr && grad->is_true(), false};
  }
  if (function == "torch._utils._rebuild_parameter" || function == "torch._utils._rebuild_parameter_with_state") {
    const Value* const data = arguments.at(0);
    // A parameter is no parameter of a parameter: one step at most.
    if (data == nullptr || data->is_made_by("torch._utils._rebuild_parameter") ||
        data->is_made_by("torch._utils._rebuild_parameter_with_state") ||
        data->is_made_by("torch._tensor._rebuild_from_type_v2"))
      return std::nullopt;
    auto tensor = describe_tensor(*data);
    if (!tensor) return std::nullopt;
    tensor->is_parameter = true;
    tensor->requires_grad = arguments.at(1) != nullptr && arguments.at(1)->is_true();
    return tensor;
  }
  return std::nullopt;
}

}  // namespace

std::optional<TensorDescription> describe_tensor(const Value& value) {
  if (!value.is(Kind::Object) || value.callable == nullptr || !value.callable->is(Kind::Global) ||
      value.arguments == nullptr)
    return std::nullopt;
  // Tensors with attributes or of a subclass: (function, class, arguments, state).
  if (value.is_made_by("torch._tensor._rebuild_from_type_v2")) {
    const Value* const function = value.argument(0);
    const Value* const arguments = value.argument(2);
    if (function == nullptr || !function->is(Kind::Global) || arguments == nullptr) return std::nullopt;
    return described_by(function->text, *arguments);
  }
  return described_by(value.callable->text, *value.arguments);
}

std::string tensor_expression(const TensorDescription& tensor) {
  std::string out = "torch.empty(";
  out += tensor.shape ? fmt::format("[{}]", fmt::join(*tensor.shape, ", ")) : "...";
  if (tensor.dtype != "float32") out += tensor.dtype.empty() ? ", dtype=..." : ", dtype=torch." + tensor.dtype;
  if (!tensor.device.empty() && tensor.device != "cpu") out += ", device=" + python_string(tensor.device);
  if (tensor.is_parameter)
    return fmt::format("torch.nn.Parameter({}), requires_grad={})", out, tensor.requires_grad ? "True" : "False");
  if (tensor.requires_grad) out += ", requires_grad=True";
  return out + ")";
}

}  // namespace fullgraph::graphs
