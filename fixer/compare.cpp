#include "fixer/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "rules/fingerprint.h"

namespace fullgraph::fixer {
namespace {

const std::string& path_of(const Diagnostic& finding) {
  static const std::string none;
  return finding.place.source == nullptr ? none : finding.place.source->path();
}

// The identity without the text of the line.
std::string region_of(const Diagnostic& finding) {
  return path_of(finding) + '\0' + finding.code + '\0' + finding.function;
}

std::string shown(const Diagnostic& finding) {
  if (finding.place.source == nullptr) return finding.code;
  return fmt::format("{} at {}:{}", finding.code, path_of(finding),
                     finding.place.source->position(finding.place.span.begin).line);
}

class Comparison {
 public:
  Comparison(const std::vector<Diagnostic>& candidates, const std::vector<const Chosen*>& fixes)
      : candidates_(candidates), fixes_(fixes) {
    for (std::size_t i = 0; i < fixes.size(); ++i) {
      for (const Edit& edit : fixes[i]->fix().edits) edits_[file_of(edit)].push_back({&edit, i});
      for (const Offer& offer : fixes[i]->offers) {
        repaired_by_[rules::identity(candidates[offer.finding])].push_back(i);
        repaired_in_[region_of(candidates[offer.finding])].push_back(i);
      }
    }
  }

  std::vector<Complaint> run(const std::vector<Diagnostic>& before, const std::vector<Diagnostic>& after,
                             const std::function<bool(const Diagnostic&)>& may_follow) {
    std::unordered_map<std::string, long long> left;  // by identity: how many of them may still be there
    for (const Diagnostic& finding : before) ++left[rules::identity(finding)];
    for (const auto& [identity, by] : repaired_by_) left[identity] -= static_cast<long long>(by.size());

    std::vector<const Diagnostic*> surplus;
    for (const Diagnostic& finding : after) {
      if (--left[rules::identity(finding)] < 0) surplus.push_back(&finding);
    }
    // What is gone although no fix was about it, on lines that changed: it may be there under another text.
    std::unordered_map<std::string, std::size_t> changed;
    for (const Diagnostic& finding : before) {
      auto& count = left[rules::identity(finding)];
      if (count <= 0) continue;
      --count;
      if (on_edited_line(finding)) ++changed[region_of(finding)];
    }
    for (const Diagnostic* finding : surplus) {
      if (auto still = repaired_by_.find(rules::identity(*finding)); still != repaired_by_.end()) {
        complain(still->second, fmt::format("it does not remove {}", finding->code));
        continue;
      }
      auto& known = changed[region_of(*finding)];
      if (known > 0) {
        --known;
      } else if (was_hidden(*finding) || is_left(*finding)) {
        continue;
      } else if (auto same = repaired_in_.find(region_of(*finding)); same != repaired_in_.end()) {
        complain(same->second, fmt::format("it leaves {}", shown(*finding)));
      } else if (!may_follow || !may_follow(*finding)) {
        complain(authors_of(*finding), fmt::format("it adds {}", shown(*finding)));
      }
    }
    return std::move(out_);
  }

 private:
  struct Made {
    const Edit* edit;
    std::size_t fix;
  };

  // A line as it was before: something in front of it kept the analysis from it, a graph break after which a loop is
  // not compiled, an exception.
  bool was_hidden(const Diagnostic& finding) const {
    const auto found = edits_.find(path_of(finding));
    if (found == edits_.end()) return true;
    const ir::SourceFile& before = *found->second.front().edit->place.source;
    const ir::SourceFile& now = *finding.place.source;
    const std::string_view text = now.line_text(now.position(finding.place.span.begin).line);
    for (unsigned line = 1; line <= before.line_count(); ++line) {
      if (before.line_text(line) == text) return true;
    }
    return false;
  }

  // What a fix says that it leaves to a person.
  bool is_left(const Diagnostic& finding) const {
    return std::ranges::any_of(fixes_, [&](const Chosen* fix) { return fix->fix().leaves == finding.code; });
  }

  bool on_edited_line(const Diagnostic& finding) const {
    const auto found = edits_.find(path_of(finding));
    if (found == edits_.end()) return false;
    const ir::SourceFile& source = *finding.place.source;
    const unsigned line = source.position(finding.place.span.begin).line;
    const ir::Span lines{source.line_start(line), source.line_start(line + 1)};
    return std::ranges::any_of(found->second, [&](const Made& made) {
      const ir::Span span = made.edit->place.span;
      return span.begin < lines.end && lines.begin <= span.end;
    });
  }

  // Who may have brought a new finding about: fixes in the same function, else in the same file, else in the files
  // that it mentions, else any.
  std::vector<std::size_t> authors_of(const Diagnostic& finding) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < fixes_.size(); ++i) {
      const bool here = std::ranges::any_of(fixes_[i]->offers, [&](const Offer& offer) {
        const Diagnostic& repaired = candidates_[offer.finding];
        return path_of(repaired) == path_of(finding) && repaired.function == finding.function;
      });
      if (here) out.push_back(i);
    }
    if (out.empty()) add_editors(path_of(finding), out);
    if (out.empty()) {
      for (const PathStep& step : finding.path) add_editors_of(step.place, out);
      for (const Related& related : finding.related) add_editors_of(related.place, out);
    }
    if (out.empty()) {
      for (std::size_t i = 0; i < fixes_.size(); ++i) out.push_back(i);
    }
    return out;
  }

  void add_editors_of(const Place& place, std::vector<std::size_t>& out) const {
    if (place.source != nullptr) add_editors(place.source->path(), out);
  }

  void add_editors(const std::string& file, std::vector<std::size_t>& out) const {
    const auto found = edits_.find(file);
    if (found == edits_.end()) return;
    for (const Made& made : found->second) out.push_back(made.fix);
  }

  void complain(std::vector<std::size_t> suspects, std::string why) {
    std::ranges::sort(suspects);
    suspects.erase(std::ranges::unique(suspects).begin(), suspects.end());
    out_.push_back({std::move(suspects), std::move(why)});
  }

  const std::vector<Diagnostic>& candidates_;
  const std::vector<const Chosen*>& fixes_;
  std::map<std::string, std::vector<Made>> edits_;
  std::unordered_map<std::string, std::vector<std::size_t>> repaired_by_, repaired_in_;
  std::vector<Complaint> out_;
};

}  // namespace

std::vector<Complaint> compare(const std::vector<Diagnostic>& before, const std::vector<Diagnostic>& after,
                               const std::vector<Diagnostic>& candidates, const std::vector<const Chosen*>& fixes,
                               const std::function<bool(const Diagnostic&)>& may_follow) {
  return Comparison(candidates, fixes).run(before, after, may_follow);
}

}  // namespace fullgraph::fixer
