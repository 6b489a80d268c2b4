#include "reports/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/width.h"

namespace fullgraph::reports {
namespace {

constexpr unsigned shown_span_lines = 6;  // of a span of more lines only the first four and the last are shown
constexpr unsigned lead = 24;             // columns kept before the underlined part of a line that is cut

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\f") == std::string_view::npos;
}

// The columns [from, to) of a line that are underlined, and its cells.
struct Row {
  std::vector<Cell> cells;
  unsigned from = 0, to = 0;
  unsigned width = 0;
};

Row row_of(const ir::SourceFile& source, unsigned number, ir::Span span) {
  const std::string_view whole = source.line_text(number);
  const std::string_view line = without_byte_order_mark(whole, number);
  const auto start = static_cast<std::uint32_t>(source.line_start(number) + (whole.size() - line.size()));
  Row row;
  row.cells = cells_of(line);
  bool any = false;
  unsigned column = 0;
  for (const Cell& cell : row.cells) {
    const std::uint32_t offset = start + cell.offset;
    if (offset >= span.begin && offset < span.end) {
      if (!any) row.from = column;
      any = true;
      row.to = column + cell.width;
    }
    column += cell.width;
  }
  row.width = column;
  if (!any) {
    // An empty span, or one at the end of the line: one mark where it stands.
    column = 0;
    for (const Cell& cell : row.cells) {
      if (start + cell.offset >= span.begin) break;
      column += cell.width;
    }
    row.from = column;
    row.to = column + 1;
  }
  return row;
}

// Blanks at the begin of the continued lines of a span are not part of what is meant.
void skip_indentation(Row& row) {
  unsigned column = 0;
  for (const Cell& cell : row.cells) {
    if (cell.text.find_first_not_of(' ') != std::string::npos) break;
    column += cell.width;
  }
  row.from = std::max(row.from, column);
}

struct Window {
  unsigned from = 0, to = 0;
};

Window window_of(const Row& row) {
  if (row.width <= frame_width) return {0, row.width};
  unsigned from = row.from > lead ? row.from - lead : 0;
  if (row.to <= frame_width - 1) from = 0;
  // A "…" takes a column at each end that is cut.
  return {from, from + frame_width - (from > 0 ? 2 : 1)};
}

std::string cut(const Row& row, Window window) {
  std::string out;
  if (window.from > 0) out += "…";
  unsigned column = 0;
  for (const Cell& cell : row.cells) {
    if (column >= window.from && column + cell.width <= window.to) out += cell.text;
    column += cell.width;
  }
  if (column > window.to) out += "…";
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

class Writer {
 public:
  Writer(const FrameOptions& options, const Palette& palette, unsigned gutter)
      : options_(options), palette_(palette), gutter_(gutter) {}

  void bar() { out_ += fmt::format("{}{:>{}} |{}\n", palette_.gutter, "", gutter_, palette_.reset); }
  void gap() { out_ += fmt::format("{}...{}\n", palette_.gutter, palette_.reset); }
  void line(unsigned number, std::string_view text) {
    out_ += fmt::format("{}{:>{}} |{}", palette_.gutter, number, gutter_, palette_.reset);
    if (!text.empty()) out_ += fmt::format(" {}", text);
    out_ += '\n';
  }
  void underline(unsigned from, unsigned to) {
    out_ += fmt::format("{}{:>{}} |{} {}{}{}{}\n", palette_.gutter, "", gutter_, palette_.reset, std::string(from, ' '),
                        options_.emphasis, std::string(to - from, options_.mark), palette_.reset);
  }
  std::string take() { return std::move(out_); }

 private:
  const FrameOptions& options_;
  const Palette& palette_;
  unsigned gutter_;
  std::string out_;
};

}  // namespace

FrameLines frame_lines(const ir::SourceFile& source, ir::Span span, unsigned context) {
  const unsigned begin = source.position(span.begin).line;
  unsigned end = source.position(span.end).line;
  // A span that ends with a line break does not reach into the next line.
  if (end > begin && source.line_start(end) == span.end) --end;
  const unsigned first = begin > context ? begin - context : 1;
  unsigned last = std::min<unsigned>(end + context, source.line_count());
  // The "line" after the last line break is none.
  if (last > end && last == source.line_count() && source.line_text(last).empty()) --last;
  return {first, std::max(last, end), begin, end};
}

std::string_view without_byte_order_mark(std::string_view line, unsigned number) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return number == 1 && line.starts_with(mark) ? line.substr(mark.size()) : line;
}

unsigned gutter_width(const ir::SourceFile& source, ir::Span span, unsigned context) {
  return static_cast<unsigned>(std::to_string(frame_lines(source, span, context).last).size());
}

std::string frame(const ir::SourceFile& source, ir::Span span, const FrameOptions& options, const Palette& palette) {
  const FrameLines lines = frame_lines(source, span, options.context);
  Writer writer(options, palette, std::max(options.gutter, gutter_width(source, span, options.context)));
  const unsigned span_lines = lines.span_last - lines.span_first + 1;

  writer.bar();
  for (unsigned number = lines.first; number <= lines.last; ++number) {
    const bool inside = number >= lines.span_first && number <= lines.span_last;
    if (inside && span_lines > shown_span_lines && number == lines.span_first + 4) {
      writer.gap();
      number = lines.span_last;
    }
    Row row = row_of(source, number, inside ? span : ir::Span{});
    if (inside && number != lines.span_first) skip_indentation(row);
    if (!inside) row.from = row.to = 0;
    const Window window = window_of(row);
    writer.line(number, cut(row, window));
    if (!inside || (number != lines.span_first && is_blank(source.line_text(number)))) continue;
    const unsigned shift = window.from > 0 ? window.from - 1 : 0;  // the "…" takes a column
    const unsigned to = std::min(row.to, window.from + frame_width);
    if (row.from < to) writer.underline(row.from - shift, to - shift);
  }
  writer.bar();
  return writer.take();
}

std::string excerpt(const ir::SourceFile& source, ir::Span span, unsigned width) {
  const unsigned number = source.position(span.begin).line;
  std::string_view line = without_byte_order_mark(source.line_text(number), number);
  const std::size_t text = line.find_first_not_of(" \t\f");
  line = text == std::string_view::npos ? std::string_view() : line.substr(text);
  std::string out;
  unsigned column = 0;
  for (const Cell& cell : cells_of(line)) {
    if (column + cell.width > width - 1) return out + "…";
    out += cell.text;
    column += cell.width;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace fullgraph::reports
