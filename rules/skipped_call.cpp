// FG503: a call of a function on Dynamo's skip list, by the profile (`torch._dynamo.trace_rules`) and not by a list
// kept here.
#include <array>

#include "rules/eager_only.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports a call, in code that `torch.compile` traces, of a function that Dynamo does not trace by decision: C functions
without a rule, much of the standard library's I/O, time and random modules, and parts of torch that are meant to run
outside of graphs (`torch.save`, `torch.manual_seed`, …). The list belongs to the torch version of the profile.

## Why is this bad?

The graph ends at the call, the function runs in eager mode, and a second graph begins behind it.

## Example

```python
def forward(self, x):
    torch.manual_seed(self.seed)
    return self.net(x + torch.randn_like(x))
```

## Use instead

```python
def forward(self, x, noise):
    return self.net(x + noise)

torch.manual_seed(seed)
y = compiled(x, torch.randn_like(x))
```

Do it outside of the compiled region, once, and pass the result in. Where the function computes something on tensors
that Dynamo cannot see into, wrap it as a custom operator with `torch.library.custom_op`.

## Fix

Safe, where the call only tells somebody something (warnings, a logger): it is made only outside compiled code, under
`not torch.compiler.is_compiling()`. Elsewhere no edit is offered.

## References

- [GB0007: attempted to call function marked as skipped](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0007.html)
- [torch.library.custom_op](https://docs.pytorch.org/docs/stable/library.html)
)";

constexpr std::array events{trace::EventKind::SkippedCall};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  diagnostic.message = named(event.callee.empty() ? event.subject : event.callee, "this function") +
                       " is on Dynamo's skip list, so the graph ends at its call" + with_detail(event) +
                       "; call it outside the compiled region";
  if (context.is_first(info, event)) offer_eager_only(diagnostic, event);
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule skipped_call{.info = {.code = "FG503",
                                        .name = "skipped-call",
                                        .summary = "A function that Dynamo skips is called in compiled code",
                                        .severity = Severity::Error,
                                        .gb_ids = "GB0007 GB0008",
                                        .fix = FixAvailability::Sometimes,
                                        .since = "0.1.0",
                                        .documentation = documentation},
                               .events = events,
                               .check = check};

}  // namespace fullgraph::rules
