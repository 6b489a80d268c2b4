#include "reports/fix_diff.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "reports/frame.h"

namespace fullgraph::reports {
namespace {

// Lines of one file that are rewritten together.
struct Region {
  const ir::SourceFile* source;
  unsigned first, last;
  std::vector<const Edit*> edits;
};

std::vector<const Edit*> sorted_edits(const Fix& fix) {
  std::vector<const Edit*> out;
  for (const Edit& edit : fix.edits) out.push_back(&edit);
  const auto key = [](const Edit* edit) {
    const ir::SourceFile* source = edit->place.source.get();
    return std::make_tuple(source == nullptr ? std::string_view() : std::string_view(source->path()),
                           edit->place.span.begin, edit->place.span.end, std::string_view(edit->text));
  };
  std::ranges::sort(out, {}, key);
  const auto equal = std::ranges::unique(out, {}, key);
  out.erase(equal.begin(), equal.end());
  return out;
}

// False: an edit lies outside its file or over another.
bool go_together(const std::vector<const Edit*>& edits) {
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const Place& place = edits[i]->place;
    if (place.source == nullptr || place.span.begin > place.span.end || place.span.end > place.source->text().size())
      return false;
    if (i != 0 && edits[i - 1]->place.source == place.source && edits[i - 1]->place.span.end > place.span.begin)
      return false;
  }
  return true;
}

std::vector<Region> regions_of(const std::vector<const Edit*>& edits) {
  std::vector<Region> out;
  for (const Edit* edit : edits) {
    const ir::SourceFile* source = edit->place.source.get();
    const unsigned first = source->position(edit->place.span.begin).line;
    const unsigned last = source->position(edit->place.span.end).line;
    // With a line of context on each side, what is closer would show lines twice.
    if (!out.empty() && out.back().source == source && first <= out.back().last + 2) {
      out.back().last = std::max(out.back().last, last);
      out.back().edits.push_back(edit);
    } else {
      out.push_back({source, first, last, {edit}});
    }
  }
  return out;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (text[i] == '\n' || text[i] == '\r') {
      out.emplace_back();
    } else {
      out.back() += text[i];
    }
  }
  return out;
}

std::string line_of(const ir::SourceFile& source, unsigned number) {
  return std::string(without_byte_order_mark(source.line_text(number), number));
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\f") == std::string_view::npos;
}

std::vector<std::string> lines_after(const Region& region) {
  const std::string_view text = region.source->text();
  std::uint32_t at = region.source->line_start(region.first);
  std::string out;
  for (const Edit* edit : region.edits) {
    out += text.substr(at, edit->place.span.begin - at);
    out += edit->text;
    at = edit->place.span.end;
  }
  const auto end = region.source->line_start(region.last) + region.source->line_text(region.last).size();
  out += text.substr(at, end - at);
  return split(without_byte_order_mark(out, region.first));
}

Hunk hunk_of(const Region& region) {
  std::vector<std::string> before;
  for (unsigned number = region.first; number <= region.last; ++number)
    before.push_back(line_of(*region.source, number));
  const std::vector<std::string> after = lines_after(region);

  // What is alike at both ends is context, of which one line is shown where it says something.
  std::size_t head = 0, tail = 0;
  const std::size_t least = std::min(before.size(), after.size());
  while (head < least && before[head] == after[head]) ++head;
  while (tail < least - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;

  const auto first = static_cast<unsigned>(region.first + head);                 // that is changed
  const auto last = static_cast<unsigned>(region.first + before.size() - tail);  // the line behind the change
  Hunk out{region.source, first, {}};
  const auto is_there = [&](unsigned number) {
    return number >= 1 && number <= region.source->line_count() && !is_blank(line_of(*region.source, number));
  };
  if (is_there(first - 1)) {
    out.line = first - 1;
    out.lines.push_back({' ', line_of(*region.source, first - 1)});
  }
  for (std::size_t i = head; i < before.size() - tail; ++i) out.lines.push_back({'-', before[i]});
  for (std::size_t i = head; i < after.size() - tail; ++i) out.lines.push_back({'+', after[i]});
  if (is_there(last)) out.lines.push_back({' ', line_of(*region.source, last)});
  return out;
}

}  // namespace

std::vector<Hunk> diff_of(const Fix& fix) {
  const std::vector<const Edit*> edits = sorted_edits(fix);
  std::vector<Hunk> out;
  if (!go_together(edits)) return out;
  for (const Region& region : regions_of(edits)) out.push_back(hunk_of(region));
  return out;
}

}  // namespace fullgraph::reports
