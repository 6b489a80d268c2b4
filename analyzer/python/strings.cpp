// String escapes, as Python's tokenizer reads them.
#include "analyzer/python/strings.h"

#include <cstdint>

namespace fullgraph::python {
namespace {

// Lone surrogates are legal in Python strings; they are stored as three bytes, like any other code point of that size.
void append_code_point(std::string& result, std::uint32_t point) {
  if (point < 0x80) {
    result += static_cast<char>(point);
  } else if (point < 0x800) {
    result += static_cast<char>(0xC0 | point >> 6);
    result += static_cast<char>(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    result += static_cast<char>(0xE0 | point >> 12);
    result += static_cast<char>(0x80 | (point >> 6 & 0x3F));
    result += static_cast<char>(0x80 | (point & 0x3F));
  } else {
    result += static_cast<char>(0xF0 | point >> 18);
    result += static_cast<char>(0x80 | (point >> 12 & 0x3F));
    result += static_cast<char>(0x80 | (point >> 6 & 0x3F));
    result += static_cast<char>(0x80 | (point & 0x3F));
  }
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The simple escapes; '\0' for all others.
char simple_escape(char c) {
  switch (c) {
    case '\\':
    case '\'':
    case '"':
      return c;
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return '\0';
  }
}

// Reads one escape; `rest` begins with the backslash. Returns the number of bytes used.
std::size_t append_escape(std::string& result, std::string_view rest, bool bytes) {
  if (rest.size() < 2) {
    result += '\\';
    return 1;
  }
  const char c = rest[1];
  if (const char simple = simple_escape(c); simple != '\0') {
    result += simple;
    return 2;
  }
  if (c == '\n') return 2;
  if (c == '\r') return rest.size() > 2 && rest[2] == '\n' ? 3 : 2;
  if (c >= '0' && c <= '7') {
    std::uint32_t value = 0;
    std::size_t used = 1;
    for (; used < rest.size() && used < 4 && rest[used] >= '0' && rest[used] <= '7'; ++used) {
      value = value * 8 + static_cast<std::uint32_t>(rest[used] - '0');
    }
    if (bytes) {
      result += static_cast<char>(value);
    } else {
      append_code_point(result, value);
    }
    return used;
  }
  const std::size_t digits = c == 'x' ? 2 : bytes ? 0 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (digits != 0 && rest.size() >= 2 + digits) {
    std::uint32_t value = 0;
    std::size_t read = 0;
    for (; read < digits && hex_digit(rest[2 + read]) >= 0; ++read) {
      value = value * 16 + static_cast<std::uint32_t>(hex_digit(rest[2 + read]));
    }
    if (read == digits && value < 0x110000) {
      if (bytes) {
        result += static_cast<char>(value);
      } else {
        append_code_point(result, value);
      }
      return 2 + digits;
    }
  }
  if (c == 'N' && !bytes && rest.size() > 2 && rest[2] == '{') {
    if (const std::size_t close = rest.find('}'); close != std::string_view::npos) {
      append_code_point(result, 0xFFFD);
      return close + 1;
    }
  }
  result += '\\';  // an unknown escape stands for itself
  return 1;
}

}  // namespace

StringPrefix string_prefix(std::string_view start) {
  StringPrefix prefix;
  for (const char c : start) {
    if (c == 'r' || c == 'R') prefix.raw = true;
    if (c == 'b' || c == 'B') prefix.bytes = true;
    if (c == 'f' || c == 'F' || c == 't' || c == 'T') prefix.format = true;
  }
  return prefix;
}

void append_decoded(std::string& result, std::string_view content, StringPrefix prefix) {
  const std::string_view special = prefix.format ? std::string_view("\\\r{}") : std::string_view("\\\r");
  for (;;) {
    const std::size_t plain = content.find_first_of(special);
    result += content.substr(0, plain);
    if (plain == std::string_view::npos) return;
    content.remove_prefix(plain);
    std::size_t used = 1;
    if (content[0] == '\r') {
      result += '\n';
      if (content.size() > 1 && content[1] == '\n') used = 2;
    } else if (content[0] == '\\' && !prefix.raw) {
      used = append_escape(result, content, prefix.bytes);
    } else {
      result += content[0];
      if (content[0] != '\\' && content.size() > 1 && content[1] == content[0]) used = 2;
    }
    content.remove_prefix(used);
  }
}

}  // namespace fullgraph::python
