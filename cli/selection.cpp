#include "cli/selection.h"

#include <algorithm>

#include "cli/glob.h"

namespace fullgraph::cli {
namespace {

unsigned specificity(const Names& selectors, const rules::RuleInfo& info) {
  unsigned out = 0;
  for (const std::string& selector : selectors) out = std::max(out, rules::matches(selector, info));
  return out;
}

void apply(RuleSet& set, const Selection& layer) {
  const auto table = rules::all_rules();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const rules::RuleInfo& info = table[i]->info;
    if (layer.select) set[i] = false;
    unsigned chosen = specificity(layer.extend_select, info);
    if (layer.select) chosen = std::max(chosen, specificity(*layer.select, info));
    const unsigned ignored = specificity(layer.ignore, info);
    if (chosen > ignored) set[i] = true;
    if (ignored != 0 && ignored >= chosen) set[i] = false;
  }
}

}  // namespace

RuleSet choose(const Selection& file, const Selection& flags) {
  RuleSet set;
  const auto table = rules::all_rules();
  for (std::size_t i = 0; i < table.size(); ++i) set[i] = table[i]->info.severity != Severity::Info;
  apply(set, file);
  apply(set, flags);
  return set;
}

RuleSet choose_fixable(const Selection& file, const Selection& flags) {
  RuleSet set;
  set.set();
  apply(set, file);
  apply(set, flags);
  return set;
}

std::size_t rule_index(std::string_view code) {
  const auto table = rules::all_rules();
  const auto found = std::ranges::lower_bound(table, code, {}, [](const rules::Rule* rule) { return rule->info.code; });
  if (found == table.end() || (*found)->info.code != code) return most_rules;
  return static_cast<std::size_t>(found - table.begin());
}

RuleChoice::RuleChoice(const Settings& file, const Settings& flags, bool error_on_warning)
    : rules_(choose(file.rules, flags.rules)),
      fixable_(choose_fixable(file.fixable, flags.fixable)),
      error_on_warning_(error_on_warning) {
  Settings merged = file;
  overlay(merged, flags);
  per_file_ignores_ = std::move(merged.per_file_ignores);
  severities_ = std::move(merged.severity);
  safe_ = std::move(merged.extend_safe_fixes);
  unsafe_ = std::move(merged.extend_unsafe_fixes);
}

bool RuleChoice::enabled(std::string_view code, std::string_view path) const {
  const std::size_t index = rule_index(code);
  if (index == most_rules || !rules_[index]) return false;
  const rules::RuleInfo& info = rules::all_rules()[index]->info;
  return std::ranges::none_of(per_file_ignores_, [&](const PerFileIgnore& ignore) {
    return specificity(ignore.selectors, info) != 0 && matches_path(ignore.pattern, path) != ignore.negated;
  });
}

std::optional<Severity> RuleChoice::severity(const Diagnostic& finding) const {
  std::optional<Severity> out = finding.severity;
  const std::size_t index = rule_index(finding.code);
  if (index != most_rules) {
    unsigned best = 0;
    for (const auto& [selector, severity] : severities_) {
      const unsigned match = rules::matches(selector, rules::all_rules()[index]->info);
      if (match <= best) continue;
      best = match;
      out = severity;
    }
  }
  if (error_on_warning_ && out == Severity::Warning) out = Severity::Error;
  return out;
}

Applicability RuleChoice::applicability(std::string_view code, Applicability applicability) const {
  const std::size_t index = rule_index(code);
  if (applicability == Applicability::Display || index == most_rules) return applicability;
  if (!fixable_[index]) return Applicability::Display;
  const rules::RuleInfo& info = rules::all_rules()[index]->info;
  const unsigned safe = specificity(safe_, info), unsafe = specificity(unsafe_, info);
  if (safe == 0 && unsafe == 0) return applicability;
  return safe > unsafe ? Applicability::Safe : Applicability::Unsafe;
}

}  // namespace fullgraph::cli
