// Texts taken apart by lines. Header only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace fullgraph::graphs {

// Takes the first line off a text, and returns it without its "\n".
inline std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Without blanks and line ends in front and behind.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace fullgraph::graphs
