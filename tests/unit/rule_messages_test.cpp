// Rules one by one: which events they report, how severe, in which words. The tracer is not needed, since an event is
// plain data.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ir/ir.h"
#include "analyzer/profile/profile.h"
#include "analyzer/trace/event.h"
#include "rules/rule.h"
#include "rules/wording.h"

using namespace fullgraph;
using trace::EventKind;
using Reentrant = trace::CheckpointFacts::Reentrant;

namespace {

const profile::Profile& profile_of(std::string_view version) {
  const auto found = profile::Profile::find(version);
  REQUIRE(found.has_value());
  return **found;
}

std::vector<Diagnostic> judge_one(const trace::Event& event) {
  return rules::judge(std::span(&event, 1), profile_of("2.13.0"));
}

trace::Event event_of(EventKind kind, std::string gb_id = "", std::string subject = "hidden_states") {
  trace::Event event;
  event.kind = kind;
  event.gb_id = std::move(gb_id);
  event.subject = std::move(subject);
  return event;
}

trace::Event checkpoint_of(Reentrant reentrant, trace::Truth inputs) {
  trace::Event event = event_of(EventKind::Checkpoint, "", "layer");
  event.checkpoint.reentrant = reentrant;
  event.checkpoint.inputs_require_grad = inputs;
  return event;
}

std::set<std::string> codes(const std::vector<Diagnostic>& found) {
  std::set<std::string> out;
  for (const Diagnostic& diagnostic : found) out.insert(diagnostic.code);
  return out;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("every kind of event has a rule that reports it") {
  for (int i = 0; i < static_cast<int>(EventKind::Count_); ++i) {
    trace::Event event = event_of(static_cast<EventKind>(i), "GB0007");
    event.checkpoint.reentrant = Reentrant::Yes;
    CAPTURE(i);
    CHECK_FALSE(judge_one(event).empty());
  }
}

TEST_CASE("a message is one line without a trailing period and names its subject") {
  for (int i = 0; i < static_cast<int>(EventKind::Count_); ++i) {
    for (const char* id : {"", "GB0125", "GB8985", "GB0083", "GB0067", "GB0291", "GB4297", "GB0170"}) {
      trace::Event event = event_of(static_cast<EventKind>(i), id, "first(\n        second)");
      event.checkpoint.reentrant = Reentrant::Absent;
      event.checkpoint.inputs_require_grad = trace::Truth::No;
      for (const Diagnostic& found : judge_one(event)) {
        CAPTURE(found.message);
        CHECK_FALSE(found.message.empty());
        CHECK_FALSE(found.message.ends_with('.'));
        CHECK_FALSE(contains(found.message, "\n"));
        CHECK_FALSE(contains(found.message, "  "));
        CHECK_FALSE(contains(found.message, "``"));
        CHECK(std::ranges::count(found.message, '`') % 2 == 0);
      }
    }
  }
}

TEST_CASE("a hazard is never an error, whatever its condition") {
  const EventKind hazards[] = {EventKind::RequiresGradFlag,
                               EventKind::ParameterReplaced,
                               EventKind::HookReadsParamGrad,
                               EventKind::LateHook,
                               EventKind::CompiledUnderPolicy,
                               EventKind::CompileDivergence,
                               EventKind::Hazard};
  for (const EventKind kind : hazards) {
    trace::Event event = event_of(kind);
    event.condition = "training";
    const auto found = judge_one(event);
    REQUIRE(found.size() == 1);
    CHECK(found.front().severity == Severity::Hazard);
  }
}

TEST_CASE("a break is an error, and a warning under a condition") {
  trace::Event event = event_of(EventKind::RequiresGradAssigned, "GB0206");
  CHECK(judge_one(event).front().severity == Severity::Error);
  event.condition = "training and self._requires_grad";
  const Diagnostic found = judge_one(event).front();
  CHECK(found.severity == Severity::Warning);
  CHECK(found.condition == event.condition);
  CHECK_FALSE(contains(found.message, "training"));  // the condition is shown beside the message
}

TEST_CASE("FG101 advises by the tensor's origin") {
  trace::Event event = event_of(EventKind::RequiresGradAssigned, "GB0206");
  event.value = trace::Truth::Yes;
  event.origin = trace::Origin::Input;
  CHECK(contains(judge_one(event).front().message, "in the caller"));
  event.origin = trace::Origin::Parameter;
  CHECK(contains(judge_one(event).front().message, "freeze"));
  event.origin = trace::Origin::Intermediate;
  CHECK(contains(judge_one(event).front().message, "non-reentrant"));
  CHECK(contains(judge_one(event).front().message, "`hidden_states` to True"));
}

TEST_CASE("FG102 says for which versions it holds") {
  trace::Event event = event_of(EventKind::RequiresGradCalled, "GB8985", "leaf");
  event.origin = trace::Origin::Intermediate;
  CHECK(contains(judge_one(event).front().message, "torch 2.12 and later"));
  event.gb_id = "GB0125";
  event.origin = trace::Origin::Input;
  CHECK(contains(judge_one(event).front().message, "graph input `leaf`"));
  event.origin = trace::Origin::Parameter;
  CHECK(contains(judge_one(event).front().message, "parameter `leaf`"));
}

TEST_CASE("FG201 tells the registration from the broken call") {
  trace::Event registration = event_of(EventKind::ModuleBackwardHook, "", "self.norm");
  registration.callee = "torch.nn.Module.register_full_backward_hook";
  const Diagnostic at_registration = judge_one(registration).front();
  CHECK(at_registration.severity == Severity::Hazard);
  CHECK(contains(at_registration.message, "`register_full_backward_hook`"));

  const Diagnostic at_call = judge_one(event_of(EventKind::ModuleBackwardHook, "GB0083", "self.norm")).front();
  CHECK(at_call.severity == Severity::Error);
  CHECK(contains(at_call.message, "the call of `self.norm`"));
  CHECK(at_call.gb_id == "GB0083");
}

TEST_CASE("which checkpoint events are findings") {
  using trace::Truth;
  CHECK(codes(judge_one(checkpoint_of(Reentrant::No, Truth::No))).empty());
  CHECK(codes(judge_one(checkpoint_of(Reentrant::Unknown, Truth::No))).empty());
  CHECK(codes(judge_one(checkpoint_of(Reentrant::Yes, Truth::Yes))) == std::set<std::string>{"FG301"});
  CHECK(codes(judge_one(checkpoint_of(Reentrant::Yes, Truth::Unknown))) == std::set<std::string>{"FG301"});
  CHECK(codes(judge_one(checkpoint_of(Reentrant::Yes, Truth::No))) == std::set<std::string>{"FG301", "FG303"});
  CHECK(codes(judge_one(checkpoint_of(Reentrant::Absent, Truth::Unknown))) == std::set<std::string>{"FG302"});
  CHECK(codes(judge_one(checkpoint_of(Reentrant::Absent, Truth::No))) == std::set<std::string>{"FG302", "FG303"});
}

TEST_CASE("FG301 edits the literal, and only the literal") {
  auto module = std::make_unique<ir::Module>();
  module->source = std::make_shared<ir::SourceFile>("model.py", "checkpoint(f, x, use_reentrant=True)\n");
  trace::Event event = checkpoint_of(Reentrant::Yes, trace::Truth::Yes);
  event.where = {module.get(), {0, 36}};
  CHECK(judge_one(event).front().fixes.front().applicability == Applicability::Display);
  CHECK(judge_one(event).front().fixes.front().edits.empty());

  event.checkpoint.argument = {31, 35};
  event.checkpoint.argument_module = module.get();
  const Fix fix = judge_one(event).front().fixes.front();
  CHECK(fix.applicability == Applicability::Unsafe);
  REQUIRE(fix.edits.size() == 1);
  CHECK(module->source->text(fix.edits.front().place.span) == "True");
  CHECK(fix.edits.front().text == "False");
}

TEST_CASE("FG500 quotes the registry, FG505 knows its hazards") {
  trace::Event event = event_of(EventKind::Unsupported, "GB4198", "copy.deepcopy(h)");
  CHECK(contains(judge_one(event).front().message, "deepcopy a tensor"));
  event.detail = "h is a tensor";
  CHECK(judge_one(event).front().message.ends_with("(h is a tensor)"));

  trace::Event hazard = event_of(EventKind::Hazard, "", "fast");
  hazard.callee = "wrapper-hook-ignored";
  CHECK(contains(judge_one(hazard).front().message, "`fast`"));
  hazard.callee = "something-new";
  hazard.detail = "it is new";
  CHECK(judge_one(hazard).front().message.ends_with("it is new"));
}

TEST_CASE("the catalogue's documentation is complete") {
  std::set<std::string_view> seen;
  for (const rules::Rule* rule : rules::all_rules()) {
    const rules::RuleInfo& info = rule->info;
    CAPTURE(info.code);
    CHECK(seen.insert(info.code).second);
    CHECK(seen.insert(info.name).second);
    CHECK_FALSE(info.summary.empty());
    CHECK_FALSE(info.summary.ends_with('.'));
    CHECK_FALSE(info.since.empty());
    std::size_t at = 0;
    for (const std::string_view heading : {"## What it does", "## Why is this bad?"}) {
      const std::size_t found = info.documentation.find(heading, at);
      REQUIRE_MESSAGE(found != std::string_view::npos, std::string(heading));
      at = found;
    }
    // Rules about the lint run itself have no page of torch's to refer to.
    if (info.code.starts_with("FG9")) continue;
    for (const std::string_view heading : {"## Example", "## Use instead", "## Fix", "## References"}) {
      const std::size_t found = info.documentation.find(heading, at);
      REQUIRE_MESSAGE(found != std::string_view::npos, std::string(heading));
      at = found;
    }
  }
}

TEST_CASE("every id that a rule claims is in Dynamo's registry") {
  const profile::Profile& profile = profile_of("2.13.0");
  for (const rules::Rule* rule : rules::all_rules()) {
    std::string_view rest = rule->info.gb_ids;
    while (!rest.empty()) {
      const std::size_t space = rest.find(' ');
      const std::string_view id = rest.substr(0, space);
      CAPTURE(rule->info.code);
      CAPTURE(std::string(id));
      CHECK(profile.graph_break(id) != nullptr);
      rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
    }
  }
}

TEST_CASE("wording: source text in a message") {
  CHECK(rules::one_line("  a(\n    b,\tc) ") == "a( b, c)");
  CHECK(rules::one_line("f(`x`)") == "f('x')");
  CHECK(rules::one_line(std::string(59, 'a') + "äöü").size() <= 63);
  CHECK(rules::one_line(std::string(58, 'a') + "äöü") == std::string(58, 'a') + "…");
  CHECK(rules::named("", "a tensor") == "a tensor");
  CHECK(rules::last_name("torch.Tensor.item") == "item");
  CHECK(rules::at_least("2.13.0", 2, 12));
  CHECK(rules::at_least("2.12", 2, 12));
  CHECK_FALSE(rules::at_least("2.9.1", 2, 12));
  CHECK(rules::at_least("3.0", 2, 12));
}
