#include "fixer/repair.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>

#include "analyzer/python/parse.h"
#include "fixer/apply.h"
#include "fixer/compare.h"
#include "fixer/merge.h"
#include "rules/fingerprint.h"

namespace fullgraph::fixer {
namespace {

using Set = std::vector<std::size_t>;  // positions in the round's fixes, ascending

// How many complaints the parser has.
std::size_t syntax_errors(const std::string& bytes, const std::string& file) {
  auto source = python::make_source(bytes, file);
  if (!source) return std::numeric_limits<std::size_t>::max();
  return python::parse(std::move(*source), "module", false)->errors.size();
}

Set joined(const Set& a, const Set& b) {
  Set out;
  std::ranges::set_union(a, b, std::back_inserter(out));
  return out;
}

Set without(const Set& a, const Set& b) {
  Set out;
  std::ranges::set_difference(a, b, std::back_inserter(out));
  return out;
}

std::string key_of(const Diagnostic& finding, const Fix& fix) {
  return rules::identity(finding) + '\0' + fix.message;
}

class Repair {
 public:
  Repair(std::vector<Diagnostic> findings, const Request& request) : request_(request) {
    out_.findings = std::move(findings);
  }

  Result<Outcome> run() {
    for (unsigned round = 0; round < request_.most_rounds; ++round) {
      before_ = out_.findings;
      candidates_ = request_.wanted ? request_.wanted(before_) : before_;
      Merged merged = merge(candidates_, request_.unsafe, [&](const Diagnostic& finding, const Fix& fix) {
        return rejected_.contains(key_of(finding, fix));
      });
      for (const Flawed& flawed : merged.flawed) {
        reject(flawed.offer);
        report(flawed.offer, flawed.why);
      }
      if (merged.fixes.empty() && merged.flawed.empty()) return finish();
      fixes_ = std::move(merged.fixes);
      if (auto read = read_files(); !read) return std::unexpected(read.error());
      make_round();
      if (looks_ >= request_.most_looks) break;
    }
    out_.settled = false;
    return finish();
  }

 private:
  Result<Outcome> finish() {
    for (auto at = out_.after.begin(); at != out_.after.end();) {
      const auto original = out_.before.find(at->first);
      at = original->second == at->second ? out_.after.erase(at) : std::next(at);
    }
    std::erase_if(out_.before, [&](const auto& entry) { return !out_.after.contains(entry.first); });
    return std::move(out_);
  }

  // The bytes of the files that this round changes, checked against the text that the findings speak of.
  Result<void> read_files() {
    base_.clear();
    for (const Chosen& chosen : fixes_) {
      for (const Edit& edit : chosen.fix().edits) {
        const std::string& file = file_of(edit);
        const auto known = base_.find(file);
        if (known == base_.end()) {
          if (auto read = read_file(file); !read) return read;
        }
        Base& base = base_.at(file);
        if (base.source == nullptr) {
          const auto now = python::make_source(base.bytes, file);
          if (!now || (*now)->text() != edit.place.source->text()) return changed_meanwhile(file);
          base.source = edit.place.source;
        } else if (base.source != edit.place.source && base.source->text() != edit.place.source->text()) {
          return changed_meanwhile(file);
        }
      }
    }
    return {};
  }

  Result<void> read_file(const std::string& file) {
    if (const auto changed = out_.after.find(file); changed != out_.after.end()) {
      base_[file] = {changed->second, nullptr};
      return {};
    }
    auto bytes = request_.read(file);
    if (!bytes) return std::unexpected(bytes.error());
    out_.before.try_emplace(file, *bytes);
    base_[file] = {std::move(*bytes), nullptr};
    return {};
  }

  static std::unexpected<Error> changed_meanwhile(const std::string& file) {
    return std::unexpected(
        Error{ErrorKind::Io, "the file has changed while it was looked at; nothing was written", ErrorLocation{file}});
  }

  void make_round() {
    kept_.clear();
    texts_ = out_.after;
    findings_ = before_;
    Set all;
    for (std::size_t i = 0; i < fixes_.size(); ++i) all.push_back(i);
    settle(parsable(all));
    for (const std::size_t i : kept_) {
      for (const Offer& offer : fixes_[i].offers) {
        const Diagnostic& repaired = candidates_[offer.finding];
        out_.repaired.push_back({repaired.place.source->path(), repaired.code, repaired.name});
      }
    }
    out_.after = std::move(texts_);
    out_.findings = std::move(findings_);
  }

  // Makes the fixes of `set` on top of the base; nothing when the coding forbids one of them.
  std::optional<std::string> file_with(const std::string& file, const Set& set) const {
    std::vector<const Edit*> edits;
    for (const std::size_t i : set) {
      for (const Edit& edit : fixes_[i].fix().edits) {
        if (file_of(edit) == file) edits.push_back(&edit);
      }
    }
    const Base& base = base_.at(file);
    if (edits.empty()) return base.bytes;
    auto applied = apply(base.bytes, *base.source, std::move(edits));
    if (!applied) return std::nullopt;
    return std::move(*applied);
  }

  std::set<std::string> files_of(const Set& set) const {
    std::set<std::string> out;
    for (const std::size_t i : set) {
      for (const Edit& edit : fixes_[i].fix().edits) out.insert(file_of(edit));
    }
    return out;
  }

  bool parses(const std::string& file, const Set& set) {
    if (request_.is_foreign && request_.is_foreign(file)) return file_with(file, set).has_value();
    auto [known, added] = errors_before_.try_emplace(base_.at(file).bytes, 0);
    if (added) known->second = syntax_errors(known->first, file);
    const auto text = file_with(file, set);
    return text && syntax_errors(*text, file) <= known->second;
  }

  // The largest part of `set` that leaves Python, taken greedily. A fix that breaks a file by itself is rejected, one
  // that does so together with others (each removes one of a block's two statements) waits for the next round.
  Set parsable(Set set) {
    for (bool again = true; again;) {
      again = false;
      for (const std::string& file : files_of(set)) {
        if (parses(file, set)) continue;
        Set good, bad;
        for (const std::size_t i : set) {
          const auto touches = [&](const Edit& edit) { return file_of(edit) == file; };
          if (std::ranges::none_of(fixes_[i].fix().edits, touches) || parses(file, joined(good, {i}))) {
            good.push_back(i);
          } else {
            bad.push_back(i);
            if (!parses(file, {i})) reject(i, "the result is no valid Python");
          }
        }
        set = std::move(good);
        again = true;
        break;
      }
    }
    return set;
  }

  std::vector<Diagnostic> look(const Texts& texts) {
    ++looks_;
    return request_.look(texts, careful_);
  }

  // Adds to `kept_` what of `set` holds. Afterwards `texts_` and `findings_` are those of what was kept.
  void settle(const Set& set) {
    if (set.empty()) return;
    if (looks_ >= request_.most_looks) {
      out_.settled = false;
      return;
    }
    const Set tried = joined(kept_, set);
    Texts texts = out_.after;
    std::vector<const Chosen*> made;
    for (const std::string& file : files_of(tried)) texts[file] = *file_with(file, tried);
    for (const std::size_t i : tried) made.push_back(&fixes_[i]);
    std::vector<Diagnostic> findings = look(texts);
    const auto complaints = compare(before_, findings, candidates_, made, request_.may_follow);
    if (complaints.empty()) {
      kept_ = tried;
      texts_ = std::move(texts);
      findings_ = std::move(findings);
      return;
    }
    if (!careful_) {
      careful_ = true;
      before_ = look(out_.after);
      findings_ = before_;
      return settle(set);
    }
    if (set.size() == 1) return reject(set.front(), complaints.front().why);
    Set suspects;
    for (const Complaint& complaint : complaints) {
      Set these;
      for (const std::size_t position : complaint.suspects) these.push_back(tried[position]);
      suspects = joined(suspects, these);
    }
    // Where only what was confirmed before is under suspicion, the new ones have set it off.
    suspects = without(suspects, kept_);
    if (suspects.empty()) suspects = set;
    settle(without(set, suspects));
    const auto middle = suspects.begin() + static_cast<std::ptrdiff_t>((suspects.size() + 1) / 2);
    settle(Set(suspects.begin(), middle));
    settle(Set(middle, suspects.end()));
  }

  void reject(std::size_t fix, const std::string& why) {
    for (const Offer& offer : fixes_[fix].offers) reject(offer);
    report(fixes_[fix].offers.front(), why);
  }

  void reject(const Offer& offer) { rejected_.insert(key_of(candidates_[offer.finding], *offer.fix)); }

  void report(const Offer& offer, const std::string& why) {
    const Diagnostic& finding = candidates_[offer.finding];
    out_.rolled_back.push_back({finding.place.source->path(),
                                finding.place.source->position(finding.place.span.begin).line, finding.code, why});
  }

  struct Base {
    std::string bytes;
    std::shared_ptr<const ir::SourceFile> source;
  };

  const Request& request_;
  Outcome out_;
  unsigned looks_ = 0;
  bool careful_ = false;
  std::unordered_set<std::string> rejected_;
  std::map<std::string, std::size_t> errors_before_;  // by the text
  // Of the present round
  std::vector<Diagnostic> before_, candidates_;
  std::vector<Chosen> fixes_;
  std::map<std::string, Base> base_;
  Set kept_;
  Texts texts_;
  std::vector<Diagnostic> findings_;
};

}  // namespace

Result<Outcome> repair(std::vector<Diagnostic> findings, const Request& request) {
  return Repair(std::move(findings), request).run();
}

}  // namespace fullgraph::fixer
