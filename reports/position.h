// The places of findings as all formats print them: path, first and last line and column, counted from 1.
#pragma once

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

}  // namespace fullgraph::reports
