// FG504: code that only runs outside the compiler and changes gradients. A guard like that is the usual repair for a
// break (FG101), and it is a wrong one where the guarded line matters for training.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports a condition on `torch.compiler.is_compiling()` (or its relatives) that keeps something out of compiled code which
changes gradients: setting `requires_grad`, registering a tensor hook, detaching.

## Why is this bad?

The break is gone and so is the behaviour: the eager model and the compiled model compute different gradients, and
nothing says so.

## Example

```python
def forward(self, x):
    h = self.encoder(x)
    if not torch.compiler.is_compiling():
        h.register_hook(lambda g: g * 0.5)  # gradients are halved in eager mode only
    return self.head(h)
```

## Use instead

Do it in both, in a form that Dynamo traces (a tensor hook on an intermediate is traced since torch 2.11), or do it
outside of the model for both:

```python
def forward(self, x):
    h = self.encoder(x)
    h.register_hook(lambda g: g * 0.5)
    return self.head(h)
```

## Fix

No edit is offered.

## References

- [torch.compiler.is_compiling](https://docs.pytorch.org/docs/stable/generated/torch.compiler.is_compiling.html)
)";

constexpr std::array events{trace::EventKind::CompileDivergence};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  const std::string what = one_line(event.detail);
  diagnostic.message = "code that runs only outside the compiler changes gradients" +
                       (what.empty() ? std::string() : " (" + what + ")") +
                       ", so eager and compiled training differ; do the same in both";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule compile_divergence{
    .info = {.code = "FG504",
             .name = "compile-divergence",
             .summary = "Code guarded by `is_compiling()` changes gradients in eager mode only",
             .severity = Severity::Hazard,
             .gb_ids = "",
             .fix = FixAvailability::None,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check};

}  // namespace fullgraph::rules
