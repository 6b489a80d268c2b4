#include "validator/libtorch/tensor_spec.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "validator/libtorch/failure.h"

namespace fullgraph::libtorch {
namespace {

struct TypeName {
  std::string_view name;
  at::ScalarType type;
};

constexpr std::array type_names{
    TypeName{"f32", at::kFloat},     TypeName{"f64", at::kDouble},       TypeName{"f16", at::kHalf},
    TypeName{"bf16", at::kBFloat16}, TypeName{"i64", at::kLong},         TypeName{"i32", at::kInt},
    TypeName{"i16", at::kShort},     TypeName{"i8", at::kChar},          TypeName{"u8", at::kByte},
    TypeName{"bool", at::kBool},     TypeName{"c64", at::kComplexFloat}, TypeName{"c128", at::kComplexDouble}};

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

[[noreturn]] void refuse(std::string_view spec, std::string_view why) {
  throw Failure(fmt::format("input `{}`: {}; an input is written like `f32[2,16000]`, `i64[2,8]<1000`, `0.5` or `true`",
                            spec, why));
}

std::optional<c10::IValue> plain_value(std::string_view spec) {
  if (spec == "none") return c10::IValue();
  if (spec == "true") return c10::IValue(true);
  if (spec == "false") return c10::IValue(false);
  if (const auto integer = number<std::int64_t>(spec)) return c10::IValue(*integer);
  if (const auto real = number<double>(spec)) return c10::IValue(*real);
  return std::nullopt;
}

std::vector<std::int64_t> shape_of(std::string_view spec, std::string_view list) {
  std::vector<std::int64_t> shape;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const auto size = number<std::int64_t>(list.substr(0, comma));
    if (!size || *size < 0) refuse(spec, "a size is a number that is not negative");
    shape.push_back(*size);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return shape;
}

}  // namespace

at::Tensor random_tensor(at::ScalarType type, at::IntArrayRef shape, std::int64_t bound) {
  if (at::isFloatingType(type)) return at::randn(shape, at::kFloat).to(type);
  if (at::isComplexType(type)) return at::randn(shape, at::kComplexFloat).to(type);
  return at::randint(0, type == at::kBool ? 2 : bound, shape, at::kLong).to(type);
}

c10::IValue make_input(std::string_view spec) {
  if (auto plain = plain_value(spec)) return *plain;
  const std::size_t open = spec.find('[');
  const std::size_t close = spec.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    refuse(spec, "neither a number nor a type with a shape");
  const std::string_view name = spec.substr(0, open);
  const TypeName* found = nullptr;
  for (const TypeName& entry : type_names) {
    if (entry.name == name) found = &entry;
  }
  if (found == nullptr) refuse(spec, fmt::format("no type `{}`", name));
  std::int64_t bound = 2;
  if (const std::string_view rest = spec.substr(close + 1); !rest.empty()) {
    const auto given = rest.front() == '<' ? number<std::int64_t>(rest.substr(1)) : std::nullopt;
    if (!given || *given < 1) refuse(spec, "what follows the shape must be `<` and a number above 0");
    bound = *given;
  }
  return random_tensor(found->type, shape_of(spec, spec.substr(open + 1, close - open - 1)), bound);
}

std::string short_name(at::ScalarType type) {
  for (const TypeName& entry : type_names) {
    if (entry.type == type) return std::string(entry.name);
  }
  return c10::toString(type);
}

std::string describe(const at::Tensor& tensor) {
  return fmt::format("{}[{}]", short_name(tensor.scalar_type()), fmt::join(tensor.sizes(), ","));
}

std::string describe(const c10::IValue& value) {
  if (value.isTensor()) return describe(value.toTensor());
  if (value.isNone()) return "none";
  if (value.isBool()) return value.toBool() ? "true" : "false";
  if (value.isInt()) return std::to_string(value.toInt());
  if (value.isDouble()) return fmt::format("{}", value.toDouble());
  return value.tagKind();
}

}  // namespace fullgraph::libtorch
