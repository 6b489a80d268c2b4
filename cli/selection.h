// Which rules hold for which file, and how severe their findings are.
#pragma once

#include <bitset>
#include <string_view>
#include <unordered_map>

#include "cli/config.h"
#include "cli/settings.h"
#include "rules/diagnostic.h"
#include "rules/rule.h"

namespace fullgraph::cli {

constexpr std::size_t most_rules = 256;
using RuleSet = std::bitset<most_rules>;  // by position in rules::all_rules()

// The rules that a file's configuration and then the command line choose. In one layer the more specific of select and
// ignore wins; a `select` on the command line begins anew. Without any `select` all rules but those of severity info.
RuleSet choose(const Selection& file, const Selection& flags);

// The same for the rules whose fixes may be made; without any `fixable` they are all.
RuleSet choose_fixable(const Selection& file, const Selection& flags);

// The position of a code in the table; most_rules when it is unknown.
std::size_t rule_index(std::string_view code);

// What one configuration and the flags come to.
class RuleChoice {
 public:
  RuleChoice(const Settings& file, const Settings& flags, bool error_on_warning);

  // Is the rule reported for this absolute path?
  [[nodiscard]] bool enabled(std::string_view code, std::string_view path) const;
  // The severity to report; nothing when the configuration says "ignore".
  [[nodiscard]] std::optional<Severity> severity(const Diagnostic& finding) const;
  // What the configuration makes of a fix of this rule: one that must not be made is only shown.
  [[nodiscard]] Applicability applicability(std::string_view code, Applicability applicability) const;
  [[nodiscard]] const RuleSet& rules() const { return rules_; }
  [[nodiscard]] const RuleSet& fixable() const { return fixable_; }

 private:
  RuleSet rules_, fixable_;
  std::vector<PerFileIgnore> per_file_ignores_;
  std::map<std::string, std::optional<Severity>> severities_;
  Names safe_, unsafe_;
  bool error_on_warning_;
};

}  // namespace fullgraph::cli
