// One input text and the way from byte offsets to lines and columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fullgraph::ir {

// A half-open range of byte offsets in one SourceFile.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  [[nodiscard]] bool contains(Span other) const { return begin <= other.begin && other.end <= end; }
  friend bool operator==(Span, Span) = default;
};
static_assert(sizeof(Span) == 8);

// Line and column count from 1; the column counts Unicode code points, as editors and json reports do.
struct LineColumn {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

class SourceFile {
 public:
  // `path` as it shall be shown (relative to the working directory when below it), `text` is valid UTF-8.
  // A byte order mark stays in `text`; it does not count as a column. "\n", "\r\n" and "\r" end lines.
  SourceFile(std::string path, std::string text);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::string_view text(Span span) const;
  [[nodiscard]] LineColumn position(std::uint32_t offset) const;
  [[nodiscard]] std::uint32_t line_count() const;
  // The line without its end; `line` counts from 1.
  [[nodiscard]] std::string_view line_text(std::uint32_t line) const;
  // Byte offset of the first byte of `line`.
  [[nodiscard]] std::uint32_t line_start(std::uint32_t line) const;
  // How lines end around this offset: as the line itself does, the one before when it is the last, else "\n".
  [[nodiscard]] std::string_view line_end(std::uint32_t offset) const;

 private:
  std::string path_;
  std::string text_;
  std::vector<std::uint32_t> line_starts_;
};

}  // namespace fullgraph::ir
