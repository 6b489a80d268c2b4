// The catalogue: the generated table of all rules, and what selectors ("FG1", "requires-grad-assignment") take in.
#include "rules/rule.h"

#include <array>
#include <string_view>

namespace fullgraph::rules {

#include "rule_table.inc"

std::span<const Rule* const> all_rules() {
  return rule_table;
}

const Rule* find_rule(std::string_view code_or_name) {
  for (const Rule* rule : rule_table) {
    if (rule->info.code == code_or_name || rule->info.name == code_or_name) return rule;
  }
  return nullptr;
}

unsigned matches(std::string_view selector, const RuleInfo& rule) {
  // "ALL" is the least specific, then the letters, then each digit; a name says as much as the whole code.
  if (selector == "ALL") return 1;
  if (selector == rule.name) return static_cast<unsigned>(rule.code.size());
  if (selector.size() < 2 || selector.size() > rule.code.size()) return 0;
  return rule.code.starts_with(selector) ? static_cast<unsigned>(selector.size()) : 0;
}

}  // namespace fullgraph::rules
