#include "analyzer/graphs/break_log.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/graphs/frames.h"
#include "analyzer/graphs/lines.h"
#include "analyzer/graphs/log_lines.h"

namespace fullgraph::graphs {
namespace {

// Where a record begins, and what of it stands in front of the place or of the frames.
//
//     Graph break in user code at m.py:12
// since 2.5; a repetition has words in between.
//
//     Graph break: call to print from user code at:
// before, and in warnings; the reason may take lines.
//
//     Graph break: torch.compile cannot … in the following user code:
// of a frame that is skipped as a whole.
constexpr std::string_view starts = "Graph break", starts_with_reason = "Graph break:", in_code = "in user code at ";
constexpr std::array<std::string_view, 2> before_frames = {"from user code at:", "in the following user code:"};

// Makes one record after the other of the lines that one process has written.
class Records {
 public:
  // A record that ends with this line, or in front of it.
  std::optional<RecordedBreak> take(std::string_view line) {
    if (line.starts_with(starts)) {
      if (auto next = begin(line)) {
        std::optional<RecordedBreak> done = finish();
        found_ = std::move(next->found);
        part_ = next->part;
        return done;
      }
    }
    switch (part_) {
      case Part::None:
        break;
      case Part::Lead:
        if (std::ranges::any_of(before_frames, [&](auto end) { return line.find(end) != std::string_view::npos; }))
          part_ = Part::Frames;
        break;
      case Part::Reason:
        take_reason(trimmed(line));
        break;
      case Part::Words:
        if (trimmed(line).starts_with("User code traceback:")) part_ = Part::Frames;
        note_id(line);
        break;
      case Part::Frames:
        if (trimmed(line).empty() || line.starts_with("Traceback")) return finish();
        frames_ += std::string(line) + "\n";
        break;
    }
    return std::nullopt;
  }

  std::optional<RecordedBreak> finish() {
    part_ = Part::None;
    if (!found_) return std::nullopt;
    RecordedBreak found = std::move(*found_);
    found_.reset();
    std::vector<ir::Origin> frames = frames_of(std::exchange(frames_, {}));
    std::erase_if(frames, [](const ir::Origin& frame) { return is_torch_source(frame.file); });
    if (!frames.empty() &&
        (found.where.line == 0 || (frames.back().file == found.where.file && frames.back().line == found.where.line))) {
      found.where = std::move(frames.back());
      frames.pop_back();
    }
    if (found.where.line == 0) return std::nullopt;
    found.stack = std::move(frames);
    return found;
  }

 private:
  enum class Part { None, Lead, Reason, Words, Frames };
  struct Begun {
    RecordedBreak found;
    Part part;
  };

  static std::optional<Begun> begin(std::string_view line) {
    Begun out;
    if (const std::size_t at = line.find(in_code); at != std::string_view::npos) {
      const std::string_view place = trimmed(line.substr(at + in_code.size()));
      const std::size_t colon = place.rfind(':');
      if (colon == std::string_view::npos) return std::nullopt;
      const auto [end, error] =
          std::from_chars(place.data() + colon + 1, place.data() + place.size(), out.found.where.line);
      if (error != std::errc{} || out.found.where.line == 0) return std::nullopt;
      out.found.where.file = place.substr(0, colon);
      out.part = Part::Reason;
      return out;
    }
    if (!line.starts_with(starts_with_reason)) return std::nullopt;
    std::string_view said = line.substr(starts_with_reason.size());
    out.part = Part::Lead;
    for (const std::string_view end : before_frames) {
      const std::size_t at = said.find(end);
      if (at == std::string_view::npos) continue;
      said = said.substr(0, at);
      out.part = Part::Frames;
    }
    out.found.reason = trimmed(said);
    return out;
  }

  // "Graph Break Reason: Encountered graph break when …:", an empty line, and then what it is in one line.
  // Before 2.9 "Reason: Unsupported: …".
  void take_reason(std::string_view line) {
    constexpr std::array<std::string_view, 3> labels = {"Graph Break Reason:", "Reason:", "Unsupported:"};
    constexpr std::string_view general = "Encountered graph break when";
    for (const std::string_view label : labels) {
      if (line.starts_with(label)) line = trimmed(line.substr(label.size()));
    }
    if (line.empty() || line.starts_with(general)) return;
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

  Part part_ = Part::None;
  std::optional<RecordedBreak> found_;
  std::string frames_;
};

// The breaks of a log, in the order in which their records end.
class Reader {
 public:
  std::vector<RecordedBreak> run(std::string_view text) {
    while (!text.empty()) {
      LogLine line = log_line(next_line(text));
      keep(processes_[std::move(line.writer)].take(line.text));
    }
    for (auto& [writer, records] : processes_) keep(records.finish());
    return std::move(out_);
  }

 private:
  // Of several records of one place the one that says most; a warning has no id.
  void keep(std::optional<RecordedBreak> found) {
    if (!found) return;
    std::map<std::string, std::size_t>& here = known_[{found->where.file, found->where.line}];
    const auto vague = here.find("");
    if (!here.empty() && (found->gb_id.empty() || here.contains(found->gb_id))) return;
    if (vague == here.end()) {
      here.emplace(found->gb_id, out_.size());
      out_.push_back(std::move(*found));
    } else {
      auto known = here.extract(vague);
      known.key() = found->gb_id;
      out_[known.mapped()] = std::move(*found);
      here.insert(std::move(known));
    }
  }

  std::map<std::string, Records, std::less<>> processes_;
  std::map<std::pair<std::string, std::uint32_t>, std::map<std::string, std::size_t>> known_;  // id → index, by place
  std::vector<RecordedBreak> out_;
};

}  // namespace

bool is_log_of_torch(std::string_view text) {
  while (!text.empty()) {
    if (log_line(next_line(text)).is_torch) return true;
  }
  return false;
}

bool holds_graph_breaks(std::string_view text) {
  return !read_graph_breaks(text).empty();
}

std::vector<RecordedBreak> read_graph_breaks(std::string_view text) {
  return Reader().run(text);
}

bool is_structured_trace(std::string_view text) {
  const LogLine line = log_line(next_line(text));
  return line.is_torch && line.text.starts_with("{\"");
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
