// FG204: a module backward hook that works on `param.grad`. Such a hook runs when the gradients with respect to the
// module's inputs are computed, which says nothing about when parameter gradients are accumulated: a guard on
// `grad is not None` then skips the work without a word.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports the registration of a module backward hook that reads `.grad` of a parameter, itself or in a function that it
calls.

## Why is this bad?

A module backward hook runs when the gradients of the module's *inputs* are known. Whether the parameters' `.grad` has
been accumulated by then is not defined: on the first step it is often still `None`, and with gradient accumulation it
is the sum of the steps before. A hook that checks `if p.grad is not None` then silently skips its reduction, or reduces
an old gradient twice.

## Example

```python
def sync(module, grad_input, grad_output):
    for p in module.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad)

norm.register_full_backward_hook(sync)
```

## Use instead

```python
def sync(p):
    dist.all_reduce(p.grad)

for p in norm.parameters():
    p.register_post_accumulate_grad_hook(sync)
```

`register_post_accumulate_grad_hook` runs after the gradient has been accumulated, and does not break compiled code
(`FG201`).

## Fix

No edit is offered: the hook's signature changes.

## References

- [Tensor.register_post_accumulate_grad_hook](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_post_accumulate_grad_hook.html)
- [Module.register_full_backward_hook](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html)
)";

constexpr std::array events{trace::EventKind::HookReadsParamGrad};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = "the backward hook on " + named(event.subject, "a module") +
                       " reads `.grad` of parameters, which may not be accumulated yet when it runs; use "
                       "`register_post_accumulate_grad_hook` on the parameters";
  advise(diagnostic, "Move the body into a hook registered with `Tensor.register_post_accumulate_grad_hook`");
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule hook_reads_param_grad{.info = {.code = "FG204",
                                                 .name = "hook-reads-param-grad",
                                                 .summary = "A module backward hook relies on `param.grad` being there",
                                                 .severity = Severity::Hazard,
                                                 .gb_ids = "",
                                                 .fix = FixAvailability::None,
                                                 .since = "0.1.0",
                                                 .documentation = documentation},
                                        .events = events,
                                        .check = check};

}  // namespace fullgraph::rules
