// FG611: a backward pass that starts another one: what a checkpoint made by hand does. The engine runs the inner pass
// inside of the outer one, which costs a thread's stack for each level and does not go together with much of what came
// later.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports, in C++, calls of `torch::autograd::backward`, `torch::autograd::grad` and `Tensor::backward` inside of the
`backward` of a `torch::autograd::Function`, or of a hook of a tensor: a reentrant backward pass, as in a checkpoint made by hand.

## Why is this bad?

The engine has to run the inner pass while the outer one waits, one level of the stack for each. `torch::autograd::backward`
adds to `.grad` of every leaf it reaches, whatever the outer pass was asked for, so `torch::autograd::grad` of the whole
leaves wrong gradients behind. Nothing of it can be captured in one graph.

## Example

```cpp
static variable_list backward(AutogradContext* ctx, variable_list grads) {
  auto x = ctx->get_saved_variables()[0].detach().requires_grad_();
  torch::AutoGradMode on(true);
  auto y = block(x);
  torch::autograd::backward({y}, {grads[0]});
  return {x.grad()};
}
```

## Use instead

Save what the derivative needs and write the derivative, or leave the recomputation to saved-tensor hooks
(`torch::autograd::SavedVariableHooks`), which unpack without a second pass.

## Fix

No edit is offered.

## References

- [Autograd mechanics](https://docs.pytorch.org/docs/stable/notes/autograd.html)
)";

constexpr std::array events{trace::EventKind::NestedBackward};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message =
      named(event.subject, "this call") +
      " starts a backward pass inside of another one (a reentrant checkpoint); compute the derivative, "
      "or recompute in saved-tensor hooks";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule nested_backward{.info = {.code = "FG611",
                                           .name = "nested-backward",
                                           .summary = "The backward of a C++ autograd function starts a backward pass",
                                           .severity = Severity::Hazard,
                                           .gb_ids = "",
                                           .fix = FixAvailability::None,
                                           .since = "0.1.0",
                                           .documentation = documentation},
                                  .events = events,
                                  .check = check,
                                  .speaks_of_cxx = true};

}  // namespace fullgraph::rules
