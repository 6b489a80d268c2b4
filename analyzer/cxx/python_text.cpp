#include "analyzer/cxx/python_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

namespace fullgraph::cxx {

void PythonText::line(const Piece& piece) {
  text_.append(static_cast<std::size_t>(depth_) * 4, ' ');
  const auto base = static_cast<unsigned>(text_.size());
  for (const TextSpan& span : piece.spans()) spans_.push_back({base + span.begin, base + span.end, span.range});
  text_ += piece.text();
  text_ += '\n';
}

void PythonText::statement(Piece piece, clang::SourceRange range) {
  piece.stands_for(0, range);
  line(piece);
}

void PythonText::open(const Piece& head) {
  line(head);
  ++depth_;
  blocks_.push_back(text_.size());
}

void PythonText::close() {
  if (text_.size() == blocks_.back()) line("pass");
  blocks_.pop_back();
  --depth_;
}

std::string python_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      std::array<char, 5> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\x%02x", byte);
      out += escaped.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string python_name(std::string_view name) {
  constexpr std::array<std::string_view, 27> taken = {"False", "None",   "True",     "and",  "as",    "assert", "async",
                                                      "await", "def",    "del",      "elif", "from",  "global", "in",
                                                      "is",    "lambda", "nonlocal", "not",  "or",    "pass",   "print",
                                                      "self",  "super",  "torch",    "with", "yield", "len"};
  std::string out(name);
  std::ranges::replace_if(
      out, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '_');  // operators
  if (std::ranges::find(taken, name) != taken.end()) out += '_';
  return out;
}

}  // namespace fullgraph::cxx
