#include "page/foreign_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace fullgraph::page {
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
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0x200E || code == 0x200F ||
         code == 0x061C;
}

// Calls `take(bytes, code)` for each character; the bytes are empty for a byte that belongs to none.
template <class Take>
void each_character(std::string_view text, Take take) {
  while (!text.empty()) {
    std::uint32_t code = 0;
    const std::size_t length = sequence(text, code);
    take(text.substr(0, length), code);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  each_character(text, [&](std::string_view bytes, std::uint32_t code) {
    if (bytes.empty()) {
      out += replacement;
    } else if (code == '&') {
      out += "&amp;";
    } else if (code == '<') {
      out += "&lt;";
    } else if (code == '>') {
      out += "&gt;";
    } else if (code == '"') {
      out += "&quot;";
    } else if (code == '\'') {
      out += "&#39;";
    } else {
      out += is_hidden(code) ? fmt::format("[U+{:04X}]", code) : std::string(bytes);
    }
  });
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  each_character(text, [&](std::string_view bytes, std::uint32_t code) {
    if (bytes.empty() || is_hidden(code)) {
      out += '?';
    } else if (code == '\t') {
      out += ' ';
    } else {
      out += bytes;
    }
  });
  return out;
}

}  // namespace fullgraph::page
