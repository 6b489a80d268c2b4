// Source frames: the lines around a place with the place underlined.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/ir/source.h"
#include "reports/palette.h"

namespace fullgraph::reports {

struct FrameOptions {
  unsigned context = 2;  // lines before and after
  unsigned gutter = 0;   // columns of the line numbers; 0: as many as this frame needs
  char mark = '^';
  std::string_view emphasis;  // colour of the underline
};

// Columns that a source line may take; what is longer is cut around the underlined part.
constexpr unsigned frame_width = 120;

// The lines of a frame, counted from 1.
struct FrameLines {
  unsigned first, last;            // with context
  unsigned span_first, span_last;  // of the span itself
};
FrameLines frame_lines(const ir::SourceFile& source, ir::Span span, unsigned context);

// A line as it is shown: the mark at the begin of a file is no part of it.
std::string_view without_byte_order_mark(std::string_view line, unsigned number);

// Columns that line numbers need in the frame of this span.
unsigned gutter_width(const ir::SourceFile& source, ir::Span span, unsigned context);

// Lines like " 41 |     x.requires_grad = True" and "    |     ^^^^^^^^^", each with its line feed, an empty gutter
// line before and after. A span of many lines shows its first and last ones.
std::string frame(const ir::SourceFile& source, ir::Span span, const FrameOptions& options, const Palette& palette);

// One line of source without indentation, cut to `width` columns.
std::string excerpt(const ir::SourceFile& source, ir::Span span, unsigned width);

}  // namespace fullgraph::reports
