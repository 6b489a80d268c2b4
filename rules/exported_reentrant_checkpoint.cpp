// FG702: non-strict export runs CheckpointFunction.forward, which works without gradients, and records just that. The
// program trains nothing inside of the region and says so nowhere.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports regions without gradients in an exported program that were a reentrant checkpoint
(`torch.utils.checkpoint.checkpoint(…, use_reentrant=True)`) when the model was exported.

## Why is this bad?

The export succeeds and the outputs are right. But no parameter inside of the region, and none before it, gets a gradient
from the exported program any more: nothing fails, the model stops learning there.

## Example

```python
def forward(self, x):
    return checkpoint(self.block, x, use_reentrant=True)
```

## Use instead

```python
def forward(self, x):
    return checkpoint(self.block, x, use_reentrant=False)
```

and export again, or export without checkpointing: it is the program that trains which decides what is recomputed.

## Fix

None: a recording is not repaired, it is made again from the repaired source.

## References

- [torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html)
)";

constexpr std::array events{trace::EventKind::ExportedCheckpoint};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = context.diagnostic(info, event);
  diagnostic.message =
      "the reentrant checkpoint called here was exported as a region without gradients, so nothing in it or "
      "before it learns from the exported program; pass `use_reentrant=False` and export again";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule exported_reentrant_checkpoint{
    .info = {.code = "FG702",
             .name = "exported-reentrant-checkpoint",
             .summary = "A reentrant checkpoint was exported as a region without gradients",
             .severity = Severity::Error,
             .gb_ids = "",
             .fix = FixAvailability::None,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check};

}  // namespace fullgraph::rules
