// Pickles in protocol 0, which can be written by hand; all without the final ".".
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace samples::pickles {

inline const std::string none = "N";
inline const std::string yes = "I01\n";
inline const std::string no = "I00\n";

inline std::string number(std::int64_t value) {
  return fmt::format("I{}\n", value);
}

inline std::string text(const std::string& value) {
  std::string size(4, '\0');
  for (std::size_t index = 0; index < size.size(); ++index)
    size[index] = static_cast<char>(value.size() >> (8 * index));
  return "X" + size + value;
}

inline std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += item;
  return out;
}

inline std::string tuple(const std::vector<std::string>& items) {
  return "(" + joined(items) + "t";
}

inline std::string list(const std::vector<std::string>& items) {
  return "(" + joined(items) + "l";
}

inline std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string out = "(";
  for (const auto& [key, value] : items) out += text(key) + value;
  return out + "d";
}

inline std::string global(const std::string& module, const std::string& name) {
  return fmt::format("c{}\n{}\n", module, name);
}

inline std::string call(const std::string& callable, const std::vector<std::string>& arguments) {
  return callable + tuple(arguments) + "R";
}

// An object without its constructor, and its attributes.
inline std::string object(const std::string& type, const std::string& state) {
  return type + ")\x81" + state + "b";
}

inline std::string put(std::string value, int index) {
  return std::move(value) + fmt::format("p{}\n", index);
}

inline std::string get(int index) {
  return fmt::format("g{}\n", index);
}

// torch._utils._rebuild_tensor_v2 of a storage of this type.
inline std::string tensor(const std::vector<std::int64_t>& shape, bool requires_grad = false,
                          const std::string& storage = "FloatStorage", const std::string& device = "cpu") {
  std::vector<std::string> size;
  for (const std::int64_t extent : shape) size.push_back(number(extent));
  const std::string id = tuple({text("storage"), global("torch", storage), text("0"), text(device), number(1)});
  return call(global("torch._utils", "_rebuild_tensor_v2"),
              {id + "Q", number(0), tuple(size), tuple(size), requires_grad ? yes : no,
               call(global("collections", "OrderedDict"), {})});
}

inline std::string parameter(const std::string& tensor, bool requires_grad) {
  return call(global("torch._utils", "_rebuild_parameter"),
              {tensor, requires_grad ? yes : no, call(global("collections", "OrderedDict"), {})});
}

}  // namespace samples::pickles
