// FG304: a compiled function that runs under a checkpoint with a selective policy. What goes wrong changed with torch
// 2.10, so the message follows the profile's version: before, the compiled code is not used; since, the policy does not
// see the operators that it names.
#include <algorithm>
#include <array>

#include "rules/compile_outside.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports a function or module compiled by `torch.compile` that is called under
`checkpoint(..., context_fn=create_selective_checkpoint_contexts(...))`: directly, through a wrapper function, or with a
`functools.partial`.

## Why is this bad?

Selective checkpointing decides operator by operator what to save, by a dispatch mode around the block.

- Up to torch 2.9 Dynamo does not run compiled code under such a mode: the block is bypassed to eager kernels.
- From torch 2.10 on the compiled code runs, but the policy no longer sees inside of it: under Inductor it is asked about
  the few operators that leak out (`aten.mm.out`), never about those it was written for. What should be saved is
  recomputed, and nothing says so.

## Example

```python
block = torch.compile(block)

def forward(x):
    context = functools.partial(create_selective_checkpoint_contexts, save_matmuls)
    return checkpoint(block, x, use_reentrant=False, context_fn=context)
```

## Use instead

Compile outside of the checkpoint, so that the policy is traced together with the block:

```python
@torch.compile
def forward(x):
    context = functools.partial(create_selective_checkpoint_contexts, save_matmuls)
    return checkpoint(block, x, use_reentrant=False, context_fn=context)
```

Or, from torch 2.10 on, let the policy see the compiled region as one operator with
`options={"wrap_inductor_compiled_regions": True}`. A plain checkpoint without `context_fn` around compiled code is fine.

## Fix

Unsafe, where both stand in one file and the compiled function is used nowhere else in it: what is under `torch.compile` is
compiled no longer, and the function that makes the checkpoint is compiled instead, with all that it does.

## References

- [torch.utils.checkpoint.create_selective_checkpoint_contexts](https://docs.pytorch.org/docs/stable/checkpoint.html)
)";

constexpr std::array events{trace::EventKind::CompiledUnderPolicy};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  const std::string subject = named(event.subject.empty() ? event.callee : event.subject, "a compiled function");
  diagnostic.message =
      at_least(context.profile().version(), 2, 10)
          ? "the checkpoint policy does not see the operators inside the compiled " + subject +
                ", so what it should save is recomputed; compile outside the checkpoint"
          : "the compiled " + subject +
                " is bypassed under a checkpoint with a selective policy (torch 2.9 and earlier); compile outside the "
                "checkpoint";
  if (context.is_first(info, event)) {
    const auto compiled =
        std::ranges::find(event.related, event.where.module, [](const auto& related) { return related.where.module; });
    if (compiled != event.related.end())
      offer(diagnostic, Applicability::Unsafe, "Compile the function that makes the checkpoint, with all that it does",
            compile_outside(*event.where.module, compiled->where.span, event.where.span));
  }
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule compiled_under_selective_checkpoint{
    .info = {.code = "FG304",
             .name = "compiled-under-selective-checkpoint",
             .summary = "Compiled code runs under a checkpoint with a selective policy",
             .severity = Severity::Hazard,
             .gb_ids = "",
             .fix = FixAvailability::Sometimes,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check};

}  // namespace fullgraph::rules
