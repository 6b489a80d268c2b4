// FG502: breaks that somebody asked for: `torch._dynamo.graph_break()` and calls of functions that are disabled for the
// compiler. Reported because they cost the same as any other; the disabling is often far from the call, and then the
// related place shows it.
#include <array>

#include "rules/edits.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports breaks that the code asks for, where compiled code reaches them: `torch._dynamo.graph_break()`,
`torch._dynamo.skip_frame()`, `torch._dynamo.step_unsupported()`, and calls of functions, methods or modules under
`torch.compiler.disable`.

A disabled function that no compiled code calls is not reported.

## Why is this bad?

Such a line is a break on each run, and stays one after its reason is gone: many were put around code that later versions
of torch trace.

## Example

```python
@torch.compiler.disable
def normalise(x):
    return x / x.norm()

def forward(self, x):
    return self.head(normalise(x))
```

## Use instead

Remove the decorator where the body traces by now; where it does not, call the function outside the compiled region, or
wrap it as a custom operator (`torch.library.custom_op`), which stays in the graph.

## Fix

Unsafe: a statement `torch._dynamo.graph_break()` is removed; somebody wrote it on purpose. Suppress the finding where the
break is meant to stay. For disabled functions no edit is offered.

## References

- [GB0025: torch._dynamo.graph_break()](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0025.html)
- [GB0098: skip calling torch.compiler.disable()d function](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0098.html)
- [torch.compiler.disable](https://docs.pytorch.org/docs/stable/generated/torch.compiler.disable.html)
)";

constexpr std::array events{trace::EventKind::ExplicitBreak, trace::EventKind::DisabledCall};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  const std::string name = named(event.callee.empty() ? event.subject : event.callee, "this call");
  if (event.kind == trace::EventKind::DisabledCall) {
    diagnostic.message = name + " is disabled for the compiler, so the graph ends at its call" + with_detail(event) +
                         "; remove the `disable` or call it outside the compiled region";
  } else if (event.gb_id == "GB4297") {
    diagnostic.message = name + " makes Dynamo run the whole frame in eager mode; remove the call";
  } else {
    diagnostic.message = name + " ends the graph on purpose; remove the call";
    if (event.gb_id == "GB0025" && context.is_first(info, event) &&
        is_call_statement(*event.where.module, event.where.span)) {
      offer(diagnostic, Applicability::Unsafe, "Remove the graph break that was put here on purpose",
            remove_statement(*event.where.module, event.where.span));
    }
  }
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule explicit_graph_break{
    .info = {.code = "FG502",
             .name = "explicit-graph-break",
             .summary = "An explicit graph break or a disabled function in compiled code",
             .severity = Severity::Error,
             .gb_ids = "GB0025 GB0030 GB0098 GB0099 GB0148 GB4297",
             .fix = FixAvailability::Sometimes,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check};

}  // namespace fullgraph::rules
