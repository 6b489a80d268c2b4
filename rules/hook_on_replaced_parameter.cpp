// FG203: a hook on a parameter object that is replaced later. The hook lives on the object, not on the name, so it is
// lost without a word. The registration is reported and the replacement is related.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports a hook (`register_hook`, `register_post_accumulate_grad_hook`) on a parameter that is replaced by another
`nn.Parameter` afterwards: by an assignment, `setattr`, `register_parameter`, `load_state_dict(..., assign=True)` or
`to_empty`-style materialisation.

## Why is this bad?

The hook belongs to the tensor object. The parameter that takes its place has none: gradients are not reduced, clipped
or logged, and nothing says so. In a multi-process run the replicas drift apart.

## Example

```python
class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(0))
        self.weight.register_post_accumulate_grad_hook(all_reduce_grad)

    def load(self, tensor):
        self.weight = nn.Parameter(tensor)  # the hook stays on the old one
```

## Use instead

Register after the parameters are in place, or once when training really starts:

```python
class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))

    def load(self, tensor):
        self.weight = nn.Parameter(tensor)
        self.weight.register_post_accumulate_grad_hook(all_reduce_grad)
```

Copying into the existing parameter (`self.weight.data.copy_(tensor)` under `no_grad`) keeps its hooks.

## Fix

No edit is offered.

## References

- [Tensor.register_post_accumulate_grad_hook](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_post_accumulate_grad_hook.html)
)";

constexpr std::array events{trace::EventKind::ParameterReplaced};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = "the hook on parameter " + named(event.subject, "it") +
                       " is lost when the parameter is replaced later" + with_detail(event) +
                       "; register the hook after the replacement, or copy into the existing parameter";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule hook_on_replaced_parameter{
    .info = {.code = "FG203",
             .name = "hook-on-replaced-parameter",
             .summary = "A hook is registered on a parameter that is replaced later",
             .severity = Severity::Hazard,
             .gb_ids = "",
             .fix = FixAvailability::None,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check};

}  // namespace fullgraph::rules
