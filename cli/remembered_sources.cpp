#include "cli/remembered_sources.h"

#include <algorithm>

#include "cli/discovery.h"

namespace fullgraph::cli {
namespace {

// Larger numbers are made up: the text between would be all line ends.
constexpr std::uint32_t most_lines = 1'000'000;
constexpr std::size_t most_lines_in_all = 16'000'000;

bool is_continuation(char byte) {
  return (byte & 0xC0) == 0x80;
}

// The offset of a column, which counts code points, in a line.
std::uint32_t offset_of_column(std::string_view line, std::uint32_t column) {
  std::size_t at = 0;
  for (std::uint32_t passed = 1; passed < column && at < line.size(); ++passed) {
    ++at;
    while (at < line.size() && is_continuation(line[at])) ++at;
  }
  return static_cast<std::uint32_t>(at);
}

}  // namespace

Place place_of_line(std::shared_ptr<const ir::SourceFile> source, std::uint32_t line, std::uint32_t column) {
  const std::string_view text = source->line_text(line);
  const std::uint32_t start = source->line_start(line), end = start + static_cast<std::uint32_t>(text.size());
  const auto blanks = static_cast<std::uint32_t>(std::min(text.find_first_not_of(" \t"), text.size()));
  const std::uint32_t first = column > 1 ? offset_of_column(text, column) : blanks;
  return {std::move(source), {start + first, end}};
}

void RememberedSources::remember(const ir::Origin& origin) {
  if (origin.line == 0 || origin.line > most_lines) return;
  Remembered& file = files_[origin.file];
  std::string& line = file.lines[origin.line];
  std::string code = origin.code;
  std::ranges::replace_if(
      code, [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  if (code.size() > line.size()) line = std::move(code);
  file.source.reset();
}

std::optional<Place> RememberedSources::place_of(const ir::Origin& origin) {
  const auto found = files_.find(origin.file);
  if (found == files_.end() || origin.line == 0 || origin.line > most_lines) return std::nullopt;
  Remembered& file = found->second;
  if (file.source == nullptr) {
    const std::uint32_t last = file.lines.rbegin()->first;
    if (lines_ + last > most_lines_in_all) return std::nullopt;
    lines_ += last;
    std::string text;
    std::uint32_t at = 1;
    for (const auto& [number, code] : file.lines) {
      text.append(number - at, '\n');
      text += code;
      at = number;
    }
    text += '\n';
    file.source = std::make_shared<const ir::SourceFile>(shown_path(origin.file, working_directory_), std::move(text));
  }
  if (origin.line > file.source->line_count()) return std::nullopt;
  return place_of_line(file.source, origin.line, origin.column);
}

}  // namespace fullgraph::cli
