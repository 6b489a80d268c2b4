// Byte offsets to lines and columns. Line starts are found once; a column is counted when it is asked for, which is
// rare (only for what is reported).
#include "analyzer/ir/source.h"

#include <algorithm>
#include <cstring>

namespace fullgraph::ir {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::vector<std::uint32_t> find_line_starts(std::string_view text) {
  std::vector<std::uint32_t> starts{0};
  const bool has_carriage_return = text.find('\r') != std::string_view::npos;
  if (!has_carriage_return) {
    starts.reserve(1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
      starts.push_back(static_cast<std::uint32_t>(at + 1));
    }
    return starts;
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') continue;
    if (text[at] == '\n' || text[at] == '\r') starts.push_back(static_cast<std::uint32_t>(at + 1));
  }
  starts.shrink_to_fit();
  return starts;
}

}  // namespace

SourceFile::SourceFile(std::string path, std::string text)
    : path_(std::move(path)), text_(std::move(text)), line_starts_(find_line_starts(text_)) {}

std::string_view SourceFile::text(Span span) const {
  const std::size_t begin = std::min<std::size_t>(span.begin, text_.size());
  const std::size_t end = std::clamp<std::size_t>(span.end, begin, text_.size());
  return std::string_view(text_).substr(begin, end - begin);
}

LineColumn SourceFile::position(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<std::uint32_t>(after - line_starts_.begin());
  std::string_view before = text({line_starts_[line - 1], offset});
  if (line == 1 && before.starts_with(byte_order_mark)) before.remove_prefix(byte_order_mark.size());
  const auto points = std::count_if(before.begin(), before.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return {line, static_cast<std::uint32_t>(points) + 1};
}

std::uint32_t SourceFile::line_count() const {
  return static_cast<std::uint32_t>(line_starts_.size());
}

std::uint32_t SourceFile::line_start(std::uint32_t line) const {
  if (line == 0) return 0;
  if (line > line_starts_.size()) return static_cast<std::uint32_t>(text_.size());
  return line_starts_[line - 1];
}

std::string_view SourceFile::line_text(std::uint32_t line) const {
  if (line == 0 || line > line_starts_.size()) return {};
  std::string_view result = text({line_start(line), line_start(line + 1)});
  while (!result.empty() && (result.back() == '\n' || result.back() == '\r')) result.remove_suffix(1);
  return result;
}

std::string_view SourceFile::line_end(std::uint32_t offset) const {
  const std::uint32_t line = position(offset).line;
  for (const std::uint32_t candidate : {line, line - 1}) {
    if (candidate == 0) break;
    const std::string_view end = text(
        {line_start(candidate) + static_cast<std::uint32_t>(line_text(candidate).size()), line_start(candidate + 1)});
    if (!end.empty()) return end;
  }
  return "\n";
}

}  // namespace fullgraph::ir
