#include "analyzer/graphs/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace fullgraph::graphs {
namespace {

// Sorted, for the search.
constexpr std::array<std::string_view, 35> keywords{
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

// The number of bytes of the code point at `at`; 0 when they are no UTF-8.
std::size_t code_point_at(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t index) -> unsigned {
    return at + index < bytes.size() ? static_cast<unsigned char>(bytes[at + index]) : 0;
  };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : (first & 0xF0) == 0xE0        ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  for (std::size_t index = 1; index < length; ++index)
    if ((byte(index) & 0xC0) != 0x80) return 0;
  // Overlong forms, surrogates, what lies beyond Unicode.
  const unsigned second = byte(1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) || (first == 0xF0 && second < 0x90) ||
      (first == 0xF4 && second >= 0x90))
    return 0;
  return length;
}

bool is_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

}  // namespace

std::string printable(std::string_view bytes) {
  constexpr std::size_t enough = 200;
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    if (out.size() >= enough) return out + "…";
    const std::size_t length = code_point_at(bytes, at);
    const unsigned char byte = static_cast<unsigned char>(bytes[at]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
      ++at;
    } else {
      out += bytes.substr(at, length);
      at += length;
    }
  }
  return out;
}

std::string python_string(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = code_point_at(text, at);
    const unsigned char byte = static_cast<unsigned char>(text[at]);
    if (length == 0) {
      fmt::format_to(std::back_inserter(out), "\\udc{:02x}", byte);  // as Python's own "surrogateescape"
    } else if (length > 1) {
      out += text.substr(at, length);
    } else if (byte == '"' || byte == '\\') {
      out += {'\\', text[at]};
    } else if (byte == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out += text[at];
    }
    at += std::max<std::size_t>(length, 1);
  }
  return out + "\"";
}

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char byte) { return is_letter(byte) || (byte >= '0' && byte <= '9'); }) &&
         !std::ranges::binary_search(keywords, name);
}

}  // namespace fullgraph::graphs
