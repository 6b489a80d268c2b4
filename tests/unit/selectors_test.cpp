#include <doctest/doctest.h>

#include "cli/nearest.h"
#include "cli/selection.h"
#include "rules/rule.h"

using namespace fullgraph;
using namespace fullgraph::cli;

namespace {

Selection selection(std::optional<Names> select, Names extend = {}, Names ignore = {}) {
  return {std::move(select), std::move(extend), std::move(ignore)};
}

bool chosen(const RuleSet& set, std::string_view code) {
  return set[rule_index(code)];
}

}  // namespace

TEST_CASE("selectors: codes, prefixes, names and ALL") {
  const rules::RuleInfo& rule = rules::find_rule("FG101")->info;
  CHECK(rules::matches("FG101", rule) > rules::matches("FG10", rule));
  CHECK(rules::matches("FG10", rule) > rules::matches("FG1", rule));
  CHECK(rules::matches("FG1", rule) > rules::matches("FG", rule));
  CHECK(rules::matches("FG", rule) > rules::matches("ALL", rule));
  CHECK(rules::matches("ALL", rule) > 0);
  CHECK(rules::matches(rule.name, rule) == rules::matches("FG101", rule));
  for (const char* other : {"FG2", "FG102", "FG1011", "F", "", "requires"}) CHECK(rules::matches(other, rule) == 0);
}

TEST_CASE("selectors: the table is sorted, so that codes are found") {
  for (const rules::Rule* rule : rules::all_rules()) {
    CHECK(rules::all_rules()[rule_index(rule->info.code)] == rule);
    CHECK(rules::find_rule(rule->info.name) == rule);
  }
  CHECK(rule_index("FG000") == most_rules);
  CHECK(rules::find_rule("nonsense") == nullptr);
}

TEST_CASE("selection: everything by default but what only informs") {
  const RuleSet set = choose({}, {});
  for (const rules::Rule* rule : rules::all_rules())
    CHECK(chosen(set, rule->info.code) == (rule->info.severity != Severity::Info));
}

TEST_CASE("selection: the more specific of select and ignore wins, whatever the order") {
  const RuleSet narrow = choose(selection(Names{"FG1"}, {}, {"FG101"}), {});
  CHECK(!chosen(narrow, "FG101"));
  CHECK(chosen(narrow, "FG102"));
  CHECK(!chosen(narrow, "FG201"));
  const RuleSet wide = choose(selection(Names{"FG101"}, {}, {"FG1"}), {});
  CHECK(chosen(wide, "FG101"));
  CHECK(!chosen(wide, "FG102"));
}

TEST_CASE("selection: a select on the command line begins anew, an ignore there adds to the file's") {
  const Selection file = selection(Names{"FG1"}, {}, {"FG101"});
  CHECK(chosen(choose(file, selection(Names{"FG101"})), "FG101"));
  CHECK(!chosen(choose(file, selection(Names{"FG101"})), "FG102"));
  const RuleSet less = choose(file, selection(std::nullopt, {}, {"FG102"}));
  CHECK(!chosen(less, "FG101"));
  CHECK(!chosen(less, "FG102"));
  CHECK(chosen(less, "FG103"));
  CHECK(chosen(choose(file, selection(std::nullopt, {"FG201"})), "FG201"));
}

TEST_CASE("selection: per-file ignores, also negated ones") {
  Settings settings;
  settings.per_file_ignores = {{{"tests/*", "/p"}, false, {"FG1"}}, {{"src/**", "/p"}, true, {"FG2"}}};
  const RuleChoice choice(settings, {}, false);
  CHECK(!choice.enabled("FG101", "/p/tests/a.py"));
  CHECK(choice.enabled("FG101", "/p/src/a.py"));
  CHECK(!choice.enabled("FG201", "/p/tests/a.py"));  // not in src
  CHECK(choice.enabled("FG201", "/p/src/deep/a.py"));
}

TEST_CASE("selection: severities by the most specific selector") {
  Settings settings;
  settings.severity = {{"FG1", Severity::Hazard}, {"FG101", Severity::Error}, {"FG102", std::nullopt}};
  const RuleChoice choice(settings, {}, false);
  const auto severity = [&](const char* code) {
    Diagnostic finding;
    finding.code = code;
    finding.severity = Severity::Warning;
    return choice.severity(finding);
  };
  CHECK(severity("FG101") == Severity::Error);
  CHECK(severity("FG103") == Severity::Hazard);
  CHECK(severity("FG102") == std::nullopt);
  CHECK(severity("FG201") == Severity::Warning);
  Diagnostic finding;
  finding.code = "FG201";
  finding.severity = Severity::Warning;
  CHECK(RuleChoice({}, {}, true).severity(finding) == Severity::Error);
}

TEST_CASE("nearest: typing errors are found, nonsense is not") {
  const Names known = {"select", "ignore", "per-file-ignores", "python-path"};
  CHECK(distance("selcet", "select") == 1);  // neighbours exchanged
  CHECK(nearest("selcet", known) == "select");
  CHECK(nearest("per_file_ignore", known) == "per-file-ignores");
  CHECK(nearest("PYTHON-PATH", known) == "python-path");
  CHECK(nearest("banana", known) == std::nullopt);
  CHECK(suggestion("ignroe", known) == ", did you mean `ignore`?");
  CHECK(suggestion("zzz", known).empty());
}
