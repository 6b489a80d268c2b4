#include "validator/html_text.h"

#include <fmt/format.h>

#include <cstdint>

namespace fullgraph::validator {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// The length of the UTF-8 sequence at the beginning, its code point in `code`; 0: there is none.
std::size_t sequence(std::string_view text, std::uint32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80         ? 1
                             : first >> 5 == 0x6  ? 2
                             : first >> 4 == 0xE  ? 3
                             : first >> 3 == 0x1E ? 4
                                                  : 0;
  if (length == 0 || length > text.size()) return 0;
  code = length == 1 ? first : first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 0x2) return 0;
    code = code << 6 | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return 0;
  return length;
}

bool is_hidden(std::uint32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0) ||
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0x200E || code == 0x200F;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::uint32_t code = 0;
    const std::size_t length = sequence(text, code);
    if (length == 0) {
      out += replacement;
      text.remove_prefix(1);
      continue;
    }
    switch (code) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += is_hidden(code) ? fmt::format("[U+{:04X}]", code) : std::string(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace fullgraph::validator
