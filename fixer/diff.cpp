#include "fixer/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <dtl/dtl.hpp>
#include <vector>

namespace fullgraph::fixer {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

// Names with control characters, quotes or backslashes are quoted as git does; behind one with blanks stands a tab,
// which keeps `patch` from taking the rest for a date.
std::string header_name(std::string_view side, std::string_view name) {
  std::string quoted;
  bool plain = true, blank = false;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    blank = blank || c == ' ';
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
      plain = false;
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\{:03o}", byte);
      plain = false;
    } else {
      quoted += c;
    }
  }
  if (!plain) return fmt::format("\"{}/{}\"", side, quoted);
  return fmt::format("{}/{}{}", side, name, blank ? "\t" : "");
}

std::string range(long long first, long long count) {
  return count == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, count);
}

void add_line(std::string& out, char mark, std::string_view line) {
  out += mark;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

// The shortest edit script as lines of the two sides: dtl finds it, and knows nothing of missing line ends.
struct Step {
  char mark;  // ' ', '-' or '+'
  std::string_view line;
};

std::vector<Step> steps_of(std::string_view before, std::string_view after) {
  using Lines = std::vector<std::string_view>;
  dtl::Diff<std::string_view, Lines> diff(lines_of(before), lines_of(after));
  diff.compose();
  std::vector<Step> out;
  for (const auto& [line, info] : diff.getSes().getSequence()) {
    out.push_back({info.type == dtl::SES_DELETE ? '-' : info.type == dtl::SES_ADD ? '+' : ' ', line});
  }
  // What goes stands before what comes.
  const auto common = [](const Step& step) { return step.mark == ' '; };
  for (auto at = out.begin(); at != out.end();) {
    at = std::find_if_not(at, out.end(), common);
    const auto end = std::find_if(at, out.end(), common);
    std::stable_partition(at, end, [](const Step& step) { return step.mark == '-'; });
    at = end;
  }
  return out;
}

constexpr std::size_t context = 3;

}  // namespace

std::string unified_diff(std::string_view name, std::string_view before, std::string_view after) {
  if (before == after) return {};
  const std::vector<Step> steps = steps_of(before, after);
  std::string out = fmt::format("--- {}\n+++ {}\n", header_name("a", name), header_name("b", name));
  long long old_line = 1, new_line = 1;  // of steps[at]
  for (std::size_t at = 0; at < steps.size();) {
    const auto is_change = [](const Step& step) { return step.mark != ' '; };
    const auto change = static_cast<std::size_t>(
        std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(at), steps.end(), is_change) - steps.begin());
    if (change == steps.size()) break;
    const std::size_t first = std::max(at, change - std::min(change, context));
    old_line += static_cast<long long>(first - at);
    new_line += static_cast<long long>(first - at);
    // The hunk goes on until more common lines follow than the context of two hunks.
    std::size_t last = change;
    for (std::size_t next = change; next < steps.size() && next - last <= 2 * context + 1; ++next) {
      if (is_change(steps[next])) last = next;
    }
    const std::size_t end = std::min(steps.size(), last + 1 + context);
    std::string body;
    long long old_count = 0, new_count = 0;
    for (std::size_t i = first; i < end; ++i) {
      add_line(body, steps[i].mark, steps[i].line);
      if (steps[i].mark != '+') ++old_count;
      if (steps[i].mark != '-') ++new_count;
    }
    // Of an empty side the line before is named.
    out += fmt::format("@@ -{} +{} @@\n{}", range(old_line - (old_count == 0), old_count),
                       range(new_line - (new_count == 0), new_count), body);
    old_line += old_count;
    new_line += new_count;
    at = end;
  }
  return out;
}

}  // namespace fullgraph::fixer
