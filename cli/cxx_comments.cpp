#include "cli/cxx_comments.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>

namespace fullgraph::cli {
namespace {

std::size_t end_of(std::string_view text, std::string_view what, std::size_t from) {
  const std::size_t found = text.find(what, from);
  return found == std::string_view::npos ? text.size() : found + what.size();
}

// Behind the closing quote of the literal that begins at `at`; a quote that is not closed ends with its line.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      return at + 1;
    } else if (text[at] == '\n') {
      return at;
    }
  }
  return text.size();
}

// R"name( … )name"
std::size_t end_of_raw_string(std::string_view text, std::size_t quote) {
  const std::size_t open = text.find('(', quote);
  if (open == std::string_view::npos) return text.size();
  return end_of(text, ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"", open);
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

std::vector<ir::Span> comments_of_cxx(std::string_view text) {
  std::vector<ir::Span> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    std::size_t end = at + 1;
    if (rest.starts_with("//") || rest.starts_with("/*")) {
      end = rest[1] == '/' ? std::min(text.find('\n', at), text.size()) : end_of(text, "*/", at + 2);
      std::size_t last = end;
      while (last > at && (text[last - 1] == '\r' || text[last - 1] == ' ')) --last;
      out.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(last)});
    } else if (rest.starts_with("R\"") && (at == 0 || !is_word(text[at - 1]))) {
      end = end_of_raw_string(text, at + 1);
    } else if (rest[0] == '"' || (rest[0] == '\'' && (at == 0 || !is_word(text[at - 1])))) {  // not in 1'000
      end = end_of_literal(text, at);
    }
    at = end;
  }
  return out;
}

}  // namespace fullgraph::cli
