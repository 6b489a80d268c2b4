// A rule: one file in rules/, with its documentation, and one folder in fixtures/rules/.
//
// A rule file defines exactly one `const Rule` named like the file (rules/requires_grad_assignment.cpp:
// `extern const Rule requires_grad_assignment`). CMake finds the files and generates the table; a code or a name that
// is used twice does not build. No rule sees a parser, an IR node to walk or another rule.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyzer/profile/profile.h"
#include "analyzer/trace/event.h"
#include "rules/diagnostic.h"

namespace fullgraph::rules {

enum class FixAvailability : std::uint8_t { None, Sometimes, Always };

// Documentation in Markdown. The same text makes `fullgraph rule`, the SARIF rule help, the editor's hover and the
// site. Headings: "## What it does", "## Why is this bad?", "## Example", "## Use instead", "## Fix", "## References".
struct RuleInfo {
  std::string_view code;                // "FG101"
  std::string_view name;                // kebab-case name of the bad pattern
  std::string_view summary;             // one line
  Severity severity = Severity::Error;  // when nothing in the event says otherwise
  std::string_view gb_ids;              // Dynamo's ids, separated by spaces; empty for hazards
  FixAvailability fix = FixAvailability::None;
  std::string_view since;  // version of fullgraph
  std::string_view documentation;
};

// Is it about C++? Dynamo compiles none, so there is no graph break: what breaks is a capture as a CUDA graph or a
// trace, and what it costs without one is the wait for the device.
inline bool is_cxx(const trace::Event& event) {
  return event.where.module != nullptr && event.where.module->recording == ir::Recording::Cxx;
}

class Context {
 public:
  Context(const profile::Profile& profile, std::vector<Diagnostic>& out) : profile_(profile), out_(out) {}
  [[nodiscard]] const profile::Profile& profile() const { return profile_; }

  // A diagnostic at the event's place with everything that the event and the rule's information say already filled
  // in: code, name, severity (a Severity::Error with a condition becomes a Warning), place, function, condition,
  // gb_id and its url, root, path, related places. The rule sets the message, then hands it to `report`.
  [[nodiscard]] Diagnostic diagnostic(const RuleInfo& info, const trace::Event& event) const;
  void report(Diagnostic diagnostic) { out_.push_back(std::move(diagnostic)); }

  // Is this the first event at its place that the rule sees? Of what several roots say about one place the fixes of
  // the first are kept; to write them for each would cost more than all the rest.
  [[nodiscard]] bool is_first(const RuleInfo& info, const trace::Event& event) {
    const trace::Location& where = event.where;
    return where.module != nullptr && seen_.emplace(info.code, where.module, where.span.begin, where.span.end).second;
  }

 private:
  const profile::Profile& profile_;
  std::vector<Diagnostic>& out_;
  std::set<std::tuple<std::string_view, const ir::Module*, std::uint32_t, std::uint32_t>> seen_;
};

struct Rule {
  RuleInfo info;
  std::span<const trace::EventKind> events;  // the kinds that `check` wants to see
  void (*check)(const trace::Event& event, const RuleInfo& info, Context& context);
  bool speaks_of_cxx = false;  // whether what `check` says holds for C++, which nothing compiles; else it is not asked
};

// All rules, sorted by code (generated).
std::span<const Rule* const> all_rules();
// By code or name; null when there is none.
const Rule* find_rule(std::string_view code_or_name);

// Runs every rule on the events it wants. The result is sorted by path, position and code; findings of one rule at one
// place from several roots are merged into one (roots united; of the conditions and paths the weakest and shortest).
std::vector<Diagnostic> judge(std::span<const trace::Event> events, const profile::Profile& profile,
                              unsigned threads = 1);

// "FG", "FG1", "FG101", a rule's name or "ALL": does the selector take this rule in? Specificity of the match
// (longer is more specific), or 0.
unsigned matches(std::string_view selector, const RuleInfo& rule);

}  // namespace fullgraph::rules
