#include "fixer/merge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace fullgraph::fixer {
namespace {

bool same(const Edit& a, const Edit& b) {
  return a.place.span == b.place.span && a.text == b.text;
}

bool inserts(const Edit& edit) {
  return edit.place.span.begin == edit.place.span.end;
}

bool inserts_lines(const Edit& edit) {
  return inserts(edit) && (edit.text.ends_with('\n') || edit.text.starts_with('\n') || edit.text.starts_with('\r'));
}

// Would making the edit once do for both fixes?
bool shared(const Edit& a, const Edit& b) {
  return same(a, b) && (!inserts(a) || inserts_lines(a));
}

bool overlap(const Edit& a, const Edit& b) {
  return a.place.span.begin < b.place.span.end && b.place.span.begin < a.place.span.end;
}

// Of two fixes. An insertion at the border of what another fix replaces counts: in which order, nobody can say.
bool touch(const Edit& a, const Edit& b) {
  const ir::Span x = a.place.span, y = b.place.span;
  if (inserts(a) || inserts(b)) return x.begin <= y.end && y.begin <= x.end;
  return overlap(a, b);
}

std::optional<std::string> flaw_of(const Fix& fix) {
  for (const Edit& edit : fix.edits) {
    const ir::Span span = edit.place.span;
    if (edit.place.source == nullptr || span.begin > span.end || span.end > edit.place.source->text().size())
      return "one of its edits is out of bounds";
  }
  for (std::size_t i = 0; i < fix.edits.size(); ++i) {
    for (std::size_t j = i + 1; j < fix.edits.size(); ++j) {
      const Edit &a = fix.edits[i], &b = fix.edits[j];
      if (file_of(a) != file_of(b)) continue;
      const bool same_insertion = inserts(a) && inserts(b) && a.place.span == b.place.span;
      if (overlap(a, b) || same_insertion) return "two of its edits are about the same place";
    }
  }
  return std::nullopt;
}

// All of its edits in one text: two findings may offer the same fix.
std::string key_of(const Fix& fix) {
  std::vector<const Edit*> edits;
  for (const Edit& edit : fix.edits) edits.push_back(&edit);
  std::ranges::sort(edits, {}, [](const Edit* edit) {
    return std::make_tuple(std::string_view(file_of(*edit)), edit->place.span.begin, edit->place.span.end);
  });
  std::string out;
  for (const Edit* edit : edits) {
    out += file_of(*edit) + '\0' + std::to_string(edit->place.span.begin) + ' ' + std::to_string(edit->place.span.end) +
           ' ' + std::to_string(edit->text.size()) + ' ' + edit->text + '\0';
  }
  return out;
}

const Fix* first_of(const Diagnostic& finding, bool unsafe, const Skip& skip) {
  for (const Fix& fix : finding.fixes) {
    if (is_applicable(fix, unsafe) && !(skip && skip(finding, fix))) return &fix;
  }
  return nullptr;
}

}  // namespace

const std::string& file_of(const Edit& edit) {
  return edit.place.source->path();
}

Merged merge(const std::vector<Diagnostic>& findings, bool unsafe, const Skip& skip) {
  Merged out;
  std::unordered_map<std::string, std::size_t> known;
  std::map<std::string, std::vector<const Edit*>> taken;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Fix* fix = first_of(findings[i], unsafe, skip);
    if (fix == nullptr) continue;
    if (auto why = flaw_of(*fix)) {
      out.flawed.push_back({{i, fix}, std::move(*why)});
      continue;
    }
    std::string key = key_of(*fix);
    if (const auto same_fix = known.find(key); same_fix != known.end()) {
      out.fixes[same_fix->second].offers.push_back({i, fix});
      continue;
    }
    const bool fits = std::ranges::all_of(fix->edits, [&](const Edit& edit) {
      const std::vector<const Edit*>& others = taken[file_of(edit)];
      return std::ranges::any_of(others, [&](const Edit* other) { return shared(edit, *other); }) ||
             std::ranges::none_of(others, [&](const Edit* other) { return touch(edit, *other); });
    });
    if (!fits) {
      out.waiting = true;
      continue;
    }
    for (const Edit& edit : fix->edits) taken[file_of(edit)].push_back(&edit);
    known.emplace(std::move(key), out.fixes.size());
    out.fixes.push_back({{{i, fix}}});
  }
  return out;
}

}  // namespace fullgraph::fixer
