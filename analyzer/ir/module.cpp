// Values of literals.
#include <charconv>

#include "analyzer/ir/ir.h"

namespace fullgraph::ir {

std::optional<std::int64_t> Module::int_value(ExprId id) const {
  std::string digits;
  for (const char c : text(id)) {
    if (c != '_') digits += c;
  }
  std::string_view rest = digits;
  int base = 10;
  if (rest.size() > 2 && rest[0] == '0') {
    const char letter = static_cast<char>(rest[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
    if (base != 10) rest.remove_prefix(2);
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (error != std::errc{} || end != rest.data() + rest.size()) return std::nullopt;
  return value;
}

}  // namespace fullgraph::ir
