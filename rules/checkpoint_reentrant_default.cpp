// FG302: a checkpoint that does not say `use_reentrant`. In every torch so far the default is the reentrant form plus a
// warning that a later version will raise; it never did, so the message promises no exception.
#include <array>

#include "rules/non_reentrant.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports a call of `torch.utils.checkpoint.checkpoint` or `checkpoint_sequential`, or a
`gradient_checkpointing_enable()` that leads to one, where `use_reentrant` is not given.

## Why is this bad?

Without the argument the *reentrant* form is used, with a warning at run time: a block whose inputs do not require grad
gets no gradients (`FG303`). Libraries override the default in different directions, so the same line means different
things in different versions of them. Say which form is meant.

## Example

```python
hidden = checkpoint(layer, hidden)
```

## Use instead

```python
hidden = checkpoint(layer, hidden, use_reentrant=False)
```

## Fix

Unsafe: `use_reentrant=False` is passed. Gradients that were missing appear where the block's inputs do not require grad.

## References

- [torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html)
)";

constexpr std::array events{trace::EventKind::Checkpoint};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  const trace::CheckpointFacts& facts = event.checkpoint;
  if (facts.reentrant != trace::CheckpointFacts::Reentrant::Absent) return;
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message =
      facts.through_settings
          ? "checkpointing is switched on without `use_reentrant`, so torch's reentrant default may apply; say "
            "`use_reentrant=False`"
          : "`use_reentrant` is not given, so this checkpoint of " + named(event.subject, "a block") +
                " is reentrant by default; say `use_reentrant=False`";
  // A wrapper that passes `use_reentrant=None` on has a literal to edit.
  if (context.is_first(info, event))
    offer_non_reentrant(diagnostic, event,
                        facts.through_settings ? "Pass `gradient_checkpointing_kwargs={\"use_reentrant\": False}`"
                                               : "Pass `use_reentrant=False`",
                        "gradients that were missing appear");
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule checkpoint_reentrant_default{.info = {.code = "FG302",
                                                        .name = "checkpoint-reentrant-default",
                                                        .summary = "Activation checkpointing without `use_reentrant`",
                                                        .severity = Severity::Hazard,
                                                        .gb_ids = "",
                                                        .fix = FixAvailability::Sometimes,
                                                        .since = "0.1.0",
                                                        .documentation = documentation},
                                               .events = events,
                                               .check = check};

}  // namespace fullgraph::rules
