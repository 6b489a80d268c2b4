// FG301: reentrant activation checkpointing, asked for by name. No break by itself (Dynamo traces the non-reentrant
// form whatever the argument says), and that is the point: eager and compiled code then differ in which gradients
// exist.
#include <array>

#include "rules/non_reentrant.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports activation checkpointing with `use_reentrant=True`: in a call of `torch.utils.checkpoint.checkpoint` or
`checkpoint_sequential`, through wrappers, `functools.partial` and keyword dictionaries, and in
`gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})`.

## Why is this bad?

The reentrant form runs the block under `no_grad` and starts a second backward inside the first one. It gives no
gradients unless an input of the block requires grad, does not work with `torch.autograd.grad`, loses the grad flag
of outputs inside data classes, and is the reason for workarounds that mark activations (`FG101`) or inputs
(`enable_input_require_grads`). Inside compiled code Dynamo ignores the argument and traces the non-reentrant form: the
compiled model then has gradients that the eager model has not.

## Example

```python
hidden = checkpoint(layer, hidden, use_reentrant=True)
```

## Use instead

```python
hidden = checkpoint(layer, hidden, use_reentrant=False)
```

## Fix

Unsafe: the literal `True` becomes `False`, also in a dictionary that is written at a call of
`gradient_checkpointing_enable`. Gradients that were missing appear, recomputation stops as soon as
all that backward needs is there, and peak memory may change a little. Remove workarounds that were
built for the reentrant form as well.

## References

- [torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html)
)";

constexpr std::array events{trace::EventKind::Checkpoint};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  const trace::CheckpointFacts& facts = event.checkpoint;
  if (facts.reentrant != trace::CheckpointFacts::Reentrant::Yes) return;
  Diagnostic diagnostic = begin_hazard(info, event, context);
  if (facts.through_settings) {
    diagnostic.message =
        "reentrant checkpointing is switched on for the whole model, which gives no gradients to a "
        "block whose inputs do not require grad; use `use_reentrant=False`";
  } else if (facts.traced) {
    diagnostic.message =
        "Dynamo ignores `use_reentrant=True` and traces the non-reentrant form, so compiled and eager "
        "code can differ in which gradients exist; use `use_reentrant=False`";
  } else {
    diagnostic.message = "reentrant checkpointing of " + named(event.subject, "this block") +
                         " gives no gradients unless one of its inputs requires grad; use `use_reentrant=False`";
  }
  if (context.is_first(info, event))
    offer_non_reentrant(diagnostic, event,
                        "Pass `use_reentrant=False` where the arguments of the checkpoint are put together",
                        "gradients that were missing appear; memory may change");
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule reentrant_checkpoint{.info = {.code = "FG301",
                                                .name = "reentrant-checkpoint",
                                                .summary = "Activation checkpointing with `use_reentrant=True`",
                                                .severity = Severity::Hazard,
                                                .gb_ids = "",
                                                .fix = FixAvailability::Sometimes,
                                                .since = "0.1.0",
                                                .documentation = documentation},
                                       .events = events,
                                       .check = check};

}  // namespace fullgraph::rules
