#include "analyzer/graphs/fx_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/graphs/frames.h"
#include "analyzer/graphs/fx_graph_lines.h"
#include "analyzer/graphs/lines.h"
#include "analyzer/graphs/log_lines.h"

namespace fullgraph::graphs {
namespace {

constexpr std::size_t step = 4;  // blanks that FX indents by

std::size_t indentation(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// `class GraphModule(torch.nn.Module):`, behind blanks or the name of the file that the graph's code pretends to be.
std::optional<std::size_t> class_start(std::string_view line) {
  constexpr std::string_view keyword = "class ", end = "(torch.nn.Module):";
  const std::size_t last = line.rfind(end);
  if (last == std::string_view::npos || !is_blank(line.substr(last + end.size()))) return std::nullopt;
  const std::size_t start = line.substr(0, last).rfind(keyword);
  if (start == std::string_view::npos || (start != 0 && line[start - 1] != ' ')) return std::nullopt;
  const std::string_view name = line.substr(start + keyword.size(), last - start - keyword.size());
  if (name.empty() || name.find_first_of(" ()'\"") != std::string_view::npos) return std::nullopt;
  return start;
}

bool starts_function(std::string_view line) {
  const std::size_t blanks = indentation(line);
  return line.substr(blanks).starts_with("def forward(self") && line.find(':') != std::string_view::npos;
}

bool starts_graph_lines(std::string_view line) {
  return line.substr(indentation(line)).starts_with("graph():");
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.push_back(line);
  }
  return out;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : lines_(lines_of(text)) {
    for (std::string_view& line : lines_) line = log_line(line).text;
  }

  Graphs run() {
    out_.format = Format::FxText;
    for (std::size_t at = 0; at < lines_.size();) at = read_block(at);
    out_.texts.push_back({"graph", "", std::move(text_), std::move(map_)});
    return std::move(out_);
  }

 private:
  // The lines of one graph, or one line that belongs to none. Returns the index behind them.
  std::size_t read_block(std::size_t at) {
    const std::string_view line = lines_[at];
    if (const auto start = class_start(line)) {
      if (const auto dedent = class_indentation(at)) {
        keep(line.substr(*start));
        return read_body(at + 1, *dedent);
      }
    } else if (starts_function(line)) {
      keep(line.substr(indentation(line)));
      return read_body(at + 1, indentation(line));
    } else if (starts_graph_lines(line)) {
      const std::size_t end = end_of_body(at + 1, indentation(line));
      for (const std::string& written : python_of_graph_lines(std::span(lines_).subspan(at, end - at))) keep(written);
      return end;
    }
    keep({});
    return at + 1;
  }

  // How far the class is indented, told by what stands in it.
  std::optional<std::size_t> class_indentation(std::size_t at) const {
    for (++at; at < lines_.size(); ++at) {
      if (is_blank(lines_[at])) continue;
      const std::size_t inside = indentation(lines_[at]);
      return inside < step ? std::nullopt : std::optional(inside - step);
    }
    return std::nullopt;
  }

  std::size_t end_of_body(std::size_t at, std::size_t dedent) const {
    while (at < lines_.size() && (is_blank(lines_[at]) || indentation(lines_[at]) > dedent)) ++at;
    return at;
  }

  std::size_t read_body(std::size_t at, std::size_t dedent) {
    const std::size_t end = end_of_body(at, dedent);
    for (; at < end; ++at) {
      const std::string_view line = lines_[at];
      if (is_blank(line)) {
        keep({});
        continue;
      }
      const std::string_view content = line.substr(std::min(dedent, line.size()));
      const std::string_view bare = content.substr(indentation(content));
      if (bare.starts_with('#')) {
        read_comment(bare);
      } else if (bare.starts_with("def ") || bare.starts_with("class ")) {
        map_.add_unknown(static_cast<std::uint32_t>(text_.size()));
      }
      keep(content);
    }
    map_.add_unknown(static_cast<std::uint32_t>(text_.size()));
    return end;
  }

  void read_comment(std::string_view comment) {
    const auto offset = static_cast<std::uint32_t>(text_.size());
    ir::Origin origin;
    if (read_file_comment(comment, origin)) {
      note_resumption(origin);
      map_.add(offset, std::move(origin));
    } else if (comment.starts_with("# No stacktrace found")) {
      map_.add_unknown(offset);
    }
  }

  // The function that goes on behind a graph break has the place of the break in its name.
  void note_resumption(ir::Origin& origin) {
    constexpr std::string_view start = "torch_dynamo_resume_in_", before_line = "_at_";
    if (!origin.function.starts_with(start)) return;
    const std::size_t at = origin.function.rfind(before_line);
    if (at == std::string::npos || at < start.size()) return;
    std::uint32_t line = 0;
    const char* const last = origin.function.data() + origin.function.size();
    const auto [end, error] = std::from_chars(origin.function.data() + at + before_line.size(), last, line);
    if (error != std::errc{} || end != last || line == 0) return;
    origin.function = origin.function.substr(start.size(), at - start.size());
    if (!seen_.emplace(origin.file, line).second) return;
    RecordedBreak found;
    found.where.file = origin.file;
    found.where.line = line;
    found.where.function = origin.function;
    found.reason = "the recorded graph goes on behind a graph break on this line";
    out_.breaks.push_back(std::move(found));
  }

  void keep(std::string_view line) {
    text_ += line;
    text_ += '\n';
  }

  std::vector<std::string_view> lines_;
  std::string text_;
  ir::SourceMap map_;
  std::set<std::pair<std::string, std::uint32_t>> seen_;
  Graphs out_;
};

}  // namespace

bool holds_fx_text(std::string_view text) {
  for (std::string_view line : lines_of(text)) {
    line = log_line(line).text;
    if (class_start(line) || starts_function(line) || starts_graph_lines(line)) return true;
  }
  return false;
}

Graphs read_fx_text(std::string_view text) {
  return Reader(text).run();
}

}  // namespace fullgraph::graphs
