// Python text that stands for C++ source, and which part of it stands for what.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clang/Basic/SourceLocation.h"

namespace fullgraph::cxx {

// Bytes of a text, and the C++ that they stand for.
struct TextSpan {
  unsigned begin = 0, end = 0;
  clang::SourceRange range;
};

// A part of a line while it is put together.
class Piece {
 public:
  Piece& operator<<(std::string_view text) {
    text_ += text;
    return *this;
  }
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(text_.size()); }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<TextSpan>& spans() const { return spans_; }
  // What was written from `begin` on stands for `range`.
  void stands_for(unsigned begin, clang::SourceRange range) { spans_.push_back({begin, size(), range}); }

 private:
  std::string text_;
  std::vector<TextSpan> spans_;
};

class PythonText {
 public:
  void line(const Piece& piece);
  void line(std::string_view text) { line(Piece() << text); }
  // The same, as a statement that stands for `range`.
  void statement(Piece piece, clang::SourceRange range);

  // A block must not be empty: `open` notes where it begins, `close` writes what is missing.
  void open(const Piece& head);
  void close();

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<TextSpan>& spans() const { return spans_; }

 private:
  std::string text_;
  std::vector<TextSpan> spans_;
  std::vector<std::size_t> blocks_;  // length of the text where each open block begins
  int depth_ = 0;
};

// In quotes, with what cannot stand there escaped.
std::string python_string(std::string_view text);
// The name, changed where Python has another use for it.
std::string python_name(std::string_view name);

}  // namespace fullgraph::cxx
