// FG303: a reentrant checkpoint (asked for or by default) none of whose inputs requires grad. Here FG301's "may" is
// certain: the parameters of the block get no gradient in eager mode, and nothing raises.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports a reentrant activation checkpoint, with `use_reentrant=True` or by default, whose tensor inputs do not require
grad: raw data, the output of frozen layers, a detached tensor.

## Why is this bad?

The reentrant form is an autograd function of its *inputs*. If none of them requires grad, its output does not either,
and the parameters inside the block silently get no gradient: they never train. Compiled code traces the non-reentrant
form and does train them, so a compiled and an eager run of one model differ.

## Example

```python
class Net(nn.Module):
    def forward(self, pixels):
        h = checkpoint(self.stem, pixels, use_reentrant=True)  # self.stem never trains
        return self.head(h)
```

## Use instead

```python
class Net(nn.Module):
    def forward(self, pixels):
        h = checkpoint(self.stem, pixels, use_reentrant=False)
        return self.head(h)
```

## Fix

Use `use_reentrant=False`; the edit is offered by `FG301` or `FG302` at the same place.

## References

- [torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html)
)";

constexpr std::array events{trace::EventKind::Checkpoint};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  using Reentrant = trace::CheckpointFacts::Reentrant;
  const trace::CheckpointFacts& facts = event.checkpoint;
  const bool reentrant = facts.reentrant == Reentrant::Yes || facts.reentrant == Reentrant::Absent;
  if (!reentrant || facts.inputs_require_grad != trace::Truth::No) return;
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = "no input of the reentrant checkpoint of " + named(event.subject, "this block") +
                       " requires grad, so its parameters get no gradient in eager mode" +
                       (facts.traced ? " while compiled code gives one" : "") + "; use `use_reentrant=False`";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule reentrant_without_grad_inputs{
    .info = {.code = "FG303",
             .name = "reentrant-without-grad-inputs",
             .summary = "No input of a reentrant checkpoint requires grad: its parameters never train",
             .severity = Severity::Hazard,
             .gb_ids = "",
             .fix = FixAvailability::None,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check};

}  // namespace fullgraph::rules
