#include "analyzer/graphs/break_log.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "analyzer/graphs/frames.h"
#include "analyzer/graphs/fx_text.h"

namespace fullgraph::graphs {
namespace {

// Since 2.5; `suppressed` repetitions have words in between. Before, and in warnings: the frames follow.
constexpr std::string_view starts = "Graph break", in_code = "in user code at ", from_code = "from user code at:";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Takes the log's lines one by one and makes a record of those between two starts.
class Reader {
 public:
  std::vector<RecordedBreak> run(std::string_view text) {
    while (!text.empty()) {
      std::string_view artifact;
      take(without_log_prefix(next_line(text), artifact));
    }
    finish();
    return std::move(out_);
  }

 private:
  enum class Part { None, Reason, Words, Frames };

  void take(std::string_view line) {
    if (line.starts_with(starts) && begin(line)) return;
    switch (part_) {
      case Part::None:
        return;
      case Part::Reason:
        take_reason(trimmed(line));
        return;
      case Part::Words:
        if (trimmed(line).starts_with("User code traceback:")) part_ = Part::Frames;
        note_id(line);
        return;
      case Part::Frames:
        if (trimmed(line).empty() || line.starts_with("Traceback")) {
          finish();
        } else {
          frames_ += std::string(line) + "\n";
        }
        return;
    }
  }

  // "Graph break in user code at m.py:12", "Graph break: call to print from user code at:"
  bool begin(std::string_view line) {
    if (const std::size_t at = line.find(in_code); at != std::string_view::npos) {
      const std::string_view place = trimmed(line.substr(at + in_code.size()));
      const std::size_t colon = place.rfind(':');
      std::uint32_t number = 0;
      if (colon == std::string_view::npos) return false;
      const auto [end, error] = std::from_chars(place.data() + colon + 1, place.data() + place.size(), number);
      if (error != std::errc{} || number == 0) return false;
      finish();
      found_.emplace();
      found_->where.file = place.substr(0, colon);
      found_->where.line = number;
      part_ = Part::Reason;
      return true;
    }
    const std::size_t at = line.find(from_code);
    if (at == std::string_view::npos) return false;
    finish();
    found_.emplace();
    const std::string_view said = line.substr(starts.size(), at - starts.size());
    found_->reason = trimmed(said.substr(said.starts_with(':') ? 1 : 0));
    part_ = Part::Frames;
    return true;
  }

  // "Graph Break Reason: Encountered graph break when …:", an empty line, and then what it is in one line.
  void take_reason(std::string_view line) {
    constexpr std::string_view label = "Graph Break Reason:", general = "Encountered graph break when";
    if (line.starts_with(label)) {
      line = trimmed(line.substr(label.size()));
      if (line.starts_with(general)) return;
    }
    if (line.empty()) return;
    found_->reason = line;
    part_ = Part::Words;
  }

  // "…compile-graph-break-site/gb/gb0124.html"
  void note_id(std::string_view line) {
    constexpr std::string_view page = "/gb/gb";
    constexpr std::size_t digits = 4;
    const std::size_t at = line.find(page);
    if (at == std::string_view::npos || line.size() < at + page.size() + digits) return;
    const std::string_view number = line.substr(at + page.size(), digits);
    if (std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c) != 0; }))
      found_->gb_id = "GB" + std::string(number);
  }

  void finish() {
    part_ = Part::None;
    if (!found_) return;
    RecordedBreak found = std::move(*found_);
    found_.reset();
    std::vector<ir::Origin> frames = frames_of(std::exchange(frames_, {}));
    std::erase_if(frames, [](const ir::Origin& frame) { return is_torch_source(frame.file); });
    if (!frames.empty() &&
        (found.where.line == 0 || (frames.back().file == found.where.file && frames.back().line == found.where.line))) {
      found.where = std::move(frames.back());
      frames.pop_back();
    }
    if (found.where.line == 0) return;
    found.stack = std::move(frames);
    keep(std::move(found));
  }

  // Of several records of one place the one that says most; a warning has no id.
  void keep(RecordedBreak found) {
    for (RecordedBreak& known : out_) {
      if (known.where.file != found.where.file || known.where.line != found.where.line) continue;
      if (known.gb_id.empty() || found.gb_id.empty() || known.gb_id == found.gb_id) {
        if (known.gb_id.empty() && !found.gb_id.empty()) known = std::move(found);
        return;
      }
    }
    out_.push_back(std::move(found));
  }

  Part part_ = Part::None;
  std::optional<RecordedBreak> found_;
  std::string frames_;
  std::vector<RecordedBreak> out_;
};

}  // namespace

bool holds_graph_breaks(std::string_view text) {
  while (!text.empty()) {
    std::string_view artifact;
    const std::string_view line = without_log_prefix(next_line(text), artifact);
    if (line.starts_with(starts) &&
        (line.find(in_code) != std::string_view::npos || line.find(from_code) != std::string_view::npos))
      return true;
  }
  return false;
}

std::vector<RecordedBreak> read_graph_breaks(std::string_view text) {
  return Reader().run(text);
}

bool is_structured_trace(std::string_view text) {
  std::string_view artifact;
  const std::string_view line = next_line(text);
  const std::string_view record = without_log_prefix(line, artifact);
  return record.size() < line.size() && record.starts_with("{\"");
}

std::string payloads_of(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.starts_with('\t')) out += line.substr(1);
    out += '\n';
  }
  return out;
}

}  // namespace fullgraph::graphs
