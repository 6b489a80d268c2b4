// FG701: a break that a run has recorded, and that nothing in the sources given told. The one rule whose events come
// from logs and dumps: there is no code to look at, only what Dynamo said.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports graph breaks that a log or a dump tells of and that no other finding covers: lines of `TORCH_LOGS=graph_breaks`,
records of `TORCH_TRACE` (what tlparse reads), and names of resumed functions in dumps of graphs
(`torch_dynamo_resume_in_forward_at_12`: the graph broke on line 12).

Given together with the sources, breaks that the linter found as well are not reported twice: those findings say that a run
confirms them, and carry the repair.

## Why is this bad?

It happened: this line ended a graph, in that run, under its inputs.

## Example

```console
$ TORCH_LOGS=graph_breaks python train.py 2> breaks.log
$ fullgraph check src/ breaks.log
```

## Use instead

Give the sources together with the log, as above: most breaks are then findings of the rule that is about them.

## Fix

None by itself; with the sources, that of the rule which finds the break in them.

## References

- [Graph breaks](https://meta-pytorch.github.io/compile-graph-break-site/)
)";

constexpr std::array events{trace::EventKind::RecordedBreak};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = context.diagnostic(info, event);
  diagnostic.message =
      "a run broke the graph here" + (event.detail.empty() ? std::string() : ": " + one_line(event.detail));
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule recorded_graph_break{.info = {.code = "FG701",
                                                .name = "recorded-graph-break",
                                                .summary = "A run broke the graph here",
                                                .severity = Severity::Error,
                                                .gb_ids = "",
                                                .fix = FixAvailability::None,
                                                .since = "0.1.0",
                                                .documentation = documentation},
                                       .events = events,
                                       .check = check};

}  // namespace fullgraph::rules
