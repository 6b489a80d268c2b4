// FG620: autograd is a key of the dispatcher above the devices. What a kernel for a device does with autograd is seen
// in eager mode, by accident; compiled code knows of an operator only what is registered for it.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports, in C++, `F::apply(…)` of a `torch::autograd::Function` in what is registered as an operator's kernel for a device (`CPU`,
`CUDA`), or is reached from there.

## Why is this bad?

In eager mode the operator has a gradient all the same, with a warning. Under `torch.compile` (every backend that goes through
AOTAutograd, so the default one too) the operator is one node, for which no derivative is registered: the gradient of its
inputs is `None`, and training goes on without it.

## Example

```cpp
torch::Tensor twice(const torch::Tensor& x) { return Twice::apply(x); }
TORCH_LIBRARY_IMPL(mine, CPU, m) { m.impl("twice", twice); }
```

## Use instead

```cpp
torch::Tensor twice_autograd(const torch::Tensor& x) { return Twice::apply(x); }  // its forward calls the operator, guarded
TORCH_LIBRARY_IMPL(mine, CPU, m) { m.impl("twice", twice_cpu); }
TORCH_LIBRARY_IMPL(mine, Autograd, m) { m.impl("twice", twice_autograd); }
```

## Fix

No edit is offered.

## References

- [Registering a dispatched operator in C++: autograd](https://docs.pytorch.org/tutorials/advanced/dispatcher.html#for-operators-that-need-autograd)
)";

constexpr std::array events{trace::EventKind::HiddenAutograd};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = named(event.callee, "the operator") + " applies " +
                       named(last_name(event.subject), "an autograd function") +
                       " in its kernel for a device, where compiled code does not see it and loses the gradient; "
                       "register what applies it for `Autograd`";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule hidden_autograd{
    .info = {.code = "FG620",
             .name = "autograd-in-device-kernel",
             .summary = "A C++ operator's derivative is hidden in its kernel for a device",
             .severity = Severity::Hazard,
             .gb_ids = "",
             .fix = FixAvailability::None,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check,
    .speaks_of_cxx = true};

}  // namespace fullgraph::rules
