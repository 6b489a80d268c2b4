#include "analyzer/graphs/export_values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "analyzer/graphs/printable.h"

namespace fullgraph::graphs {
namespace {

using Json = nlohmann::json;

// torch/_export/serde/schema.py, ScalarType: the number, the attribute of torch, the abbreviation of FX text.
struct Dtype {
  int number;
  std::string_view name, shorthand;
};
constexpr std::array<Dtype, 22> dtypes = {{{1, "uint8", "u8"},
                                           {2, "int8", "i8"},
                                           {3, "int16", "i16"},
                                           {4, "int32", "i32"},
                                           {5, "int64", "i64"},
                                           {6, "float16", "f16"},
                                           {7, "float32", "f32"},
                                           {8, "float64", "f64"},
                                           {9, "complex32", "c32"},
                                           {10, "complex64", "c64"},
                                           {11, "complex128", "c128"},
                                           {12, "bool", "b8"},
                                           {13, "bfloat16", "bf16"},
                                           {28, "uint16", "u16"},
                                           {29, "float8_e4m3fn", "f8e4m3fn"},
                                           {30, "float8_e5m2", "f8e5m2"},
                                           {31, "float8_e4m3fnuz", "f8e4m3fnuz"},
                                           {32, "float8_e5m2fnuz", "f8e5m2fnuz"},
                                           {33, "float8_e8m0fnu", "f8e8m0fnu"},
                                           {34, "uint32", "u32"},
                                           {35, "uint64", "u64"},
                                           {0, "", ""}}};

const Dtype* dtype_of(const Json& number) {
  if (!number.is_number_integer()) return nullptr;
  const auto found = std::ranges::find(dtypes, number.get<std::int64_t>(), &Dtype::number);
  return found == dtypes.end() || found->name.empty() ? nullptr : &*found;
}

const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string name_in(const Json& object, const char* key) {
  const Json* const name = member(object, key);
  if (name == nullptr || !name->is_string()) return {};
  auto text = name->get<std::string>();
  return is_identifier(text) ? text : std::string();
}

std::string or_unknown(std::string text) {
  return text.empty() ? "..." : text;
}

std::string python_of_scalar(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_number_integer()) return value.dump();
  if (value.is_string()) return python_string(value.get<std::string>());
  if (!value.is_number_float()) return "None";
  const auto number = value.get<double>();
  if (std::isfinite(number)) {
    std::string out = fmt::format("{}", number);
    return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;  // not an int
  }
  return fmt::format("float('{}')", std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
}

// {"as_name": "sym_size_int"} or {"as_int": 4}
std::string python_of_symbol(const Json& value) {
  if (const std::string name = name_in(value, "as_name"); !name.empty()) return name;
  for (const char* key : {"as_int", "as_float", "as_bool"}) {
    if (const Json* const known = member(value, key)) return python_of_scalar(*known);
  }
  return "...";
}

std::string python_of_device(const Json& value) {
  const Json* const type = member(value, "type");
  if (type == nullptr || !type->is_string()) return "...";
  auto text = type->get<std::string>();
  if (const Json* const index = member(value, "index"); index != nullptr && index->is_number_integer())
    text += ":" + index->dump();
  return "torch.device(" + python_string(text) + ")";
}

std::string python_of_optional_tensor(const Json& value) {
  if (const Json* const tensor = member(value, "as_tensor")) return or_unknown(name_in(*tensor, "name"));
  return "None";
}

template <class Item>
std::string list_of(const Json& value, const Item& item) {
  if (!value.is_array()) return "...";
  std::string out = "[";
  for (const Json& one : value) out += (out.size() > 1 ? ", " : "") + item(one);
  return out + "]";
}

std::string python_of_memory_format(const Json& value) {
  constexpr std::array<std::string_view, 5> names = {"", "contiguous_format", "channels_last", "channels_last_3d",
                                                     "preserve_format"};
  const std::int64_t number = value.is_number_integer() ? value.get<std::int64_t>() : 0;
  if (number < 1 || number >= std::ssize(names)) return "...";
  return "torch." + std::string(names[static_cast<std::size_t>(number)]);
}

std::string python_of(std::string_view kind, const Json& value) {
  const auto named = [](const Json& one) { return or_unknown(name_in(one, "name")); };
  const auto scalars = [](const Json& one) { return list_of(one, python_of_scalar); };
  if (kind == "as_none") return "None";
  if (kind == "as_tensor" || kind == "as_graph") return named(value);
  if (kind == "as_tensors") return list_of(value, named);
  if (kind == "as_nested_tensors") return list_of(value, [&](const Json& one) { return list_of(one, named); });
  if (kind == "as_optional_tensor") return python_of_optional_tensor(value);
  if (kind == "as_optional_tensors") return list_of(value, python_of_optional_tensor);
  if (kind == "as_int" || kind == "as_float" || kind == "as_bool" || kind == "as_string")
    return python_of_scalar(value);
  if (kind == "as_ints" || kind == "as_floats" || kind == "as_bools" || kind == "as_strings") return scalars(value);
  if (kind == "as_int_lists" || kind == "as_float_lists") return list_of(value, scalars);
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") return python_of_symbol(value);
  if (kind == "as_sym_ints" || kind == "as_sym_floats" || kind == "as_sym_bools")
    return list_of(value, python_of_symbol);
  if (kind == "as_device") return python_of_device(value);
  if (kind == "as_memory_format") return python_of_memory_format(value);
  if (kind == "as_scalar_type") {
    const Dtype* const dtype = dtype_of(value);
    return dtype == nullptr ? "..." : "torch." + std::string(dtype->name);
  }
  constexpr int strided = 7;
  if (kind == "as_layout") return value == strided ? "torch.strided" : "...";
  return "...";
}

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isalpha(c) != 0; });
}

// An argument is an object with one member that says what it is.
std::optional<std::pair<std::string, const Json*>> only_member(const Json& argument) {
  if (!argument.is_object() || argument.size() != 1) return std::nullopt;
  return std::pair(argument.begin().key(), &argument.begin().value());
}

}  // namespace

std::string python_of_argument(const Json& argument) {
  const auto only = only_member(argument);
  return only ? python_of(only->first, *only->second) : "...";
}

std::vector<std::string> names_of_output(const Json& output) {
  const auto only = only_member(output);
  if (!only || only->first == "as_none") return {};
  const Json& value = *only->second;
  if (only->first == "as_optional_tensors") {
    std::vector<std::string> out;
    for (const Json& one : value) {
      const Json* const tensor = member(one, "as_tensor");
      out.push_back(tensor == nullptr ? std::string() : name_in(*tensor, "name"));
    }
    return out;
  }
  if (value.is_array()) {
    std::vector<std::string> out;
    for (const Json& one : value) out.push_back(name_in(one, "name"));
    return out;
  }
  std::string name = name_in(value, "name");
  if (name.empty()) name = name_in(value, "as_name");
  return {name};
}

bool is_list_output(const Json& output) {
  const auto only = only_member(output);
  return only && only->second->is_array();
}

std::string tensor_annotation(const Json& meta) {
  const Json* const dtype_number = member(meta, "dtype");
  const Json* const sizes = member(meta, "sizes");
  const Dtype* const dtype = dtype_number == nullptr ? nullptr : dtype_of(*dtype_number);
  if (dtype == nullptr || sizes == nullptr || !sizes->is_array()) return {};
  std::string out = "\"" + std::string(dtype->shorthand) + "[";
  bool first = true;
  for (const Json& size : *sizes) {
    if (!std::exchange(first, false)) out += ", ";
    const Json* const expression = member(size, "as_expr");
    const Json* const text = expression == nullptr ? nullptr : member(*expression, "expr_str");
    const Json* const number = member(size, "as_int");
    std::string written = text != nullptr && text->is_string() ? text->get<std::string>()
                          : number != nullptr                  ? number->dump()
                                                               : "?";
    std::erase_if(written, [](unsigned char c) { return c < 0x20 || c >= 0x7F || c == '"' || c == '\\'; });
    out += written;
  }
  return out + "]\"";
}

std::string python_of_target(std::string_view target) {
  std::string out;
  if (target.starts_with("_operator.")) target.remove_prefix(1);  // the module's public name
  while (true) {
    const std::size_t dot = target.find('.');
    const std::string part(target.substr(0, dot));
    if (is_identifier(part)) {
      out += out.empty() ? part : "." + part;
    } else if (!out.empty() && is_word(part)) {
      out = "getattr(" + out + ", \"" + part + "\")";
    } else {
      return {};
    }
    if (dot == std::string_view::npos) return out;
    target.remove_prefix(dot + 1);
  }
}

}  // namespace fullgraph::graphs
