// The places of findings as all formats print them: path, first and last line and column, counted from 1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "rules/diagnostic.h"

namespace fullgraph::reports {

struct Position {
  std::string_view file;  // lives as long as the place's source
  unsigned line = 1, column = 1, end_line = 1, end_column = 1;
};

inline Position position_of(const Place& place) {
  if (place.source == nullptr) return {};
  const ir::LineColumn begin = place.source->position(place.span.begin);
  const ir::LineColumn end = place.source->position(place.span.end);
  return {place.source->path(), begin.line, begin.column, end.line, end.column};
}

// The other way. A column behind the end of its line, or a line behind the last, is the end of it.
inline std::uint32_t offset_of(const ir::SourceFile& source, ir::LineColumn at) {
  if (at.line > source.line_count()) return static_cast<std::uint32_t>(source.text().size());
  const std::uint32_t line = std::max(at.line, 1u), start = source.line_start(line);
  const std::string_view text = source.line_text(line);
  const auto continues = [&](std::size_t byte) { return (static_cast<unsigned char>(text[byte]) & 0xC0) == 0x80; };
  std::size_t byte = line == 1 && text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (std::uint32_t passed = 1; passed < at.column && byte < text.size(); ++passed) {
    do ++byte;
    while (byte < text.size() && continues(byte));
  }
  return start + static_cast<std::uint32_t>(byte);
}

}  // namespace fullgraph::reports
