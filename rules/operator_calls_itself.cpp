// FG618: the dispatcher gives a call to the highest kernel that has not been left out. The autograd kernel of an
// operator that calls the operator again, and leaves nothing out, is given its own call
// (ATen/core/LegacyTypeDispatch.h).
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports, in C++, a call of an operator through the dispatcher (`c10::Dispatcher::singleton().findSchemaOrThrow("mine::twice", "")…call(x)`)
in what is registered as this operator's autograd kernel (`TORCH_LIBRARY_IMPL(mine, Autograd, m)`), or is reached from there,
where no `at::AutoDispatchBelowADInplaceOrView` (or `at::AutoDispatchBelowAutograd`) stands in between.

## Why is this bad?

The dispatcher hands the call to the autograd kernel again, which calls the operator again, until the stack is full. The `forward`
of a `torch::autograd::Function` turns gradients off, but not the dispatch to autograd kernels.

## Example

```cpp
struct Twice : torch::autograd::Function<Twice> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x) { return twice(x); }  // calls mine::twice
  …
};
torch::Tensor twice_autograd(const torch::Tensor& x) { return Twice::apply(x); }
TORCH_LIBRARY_IMPL(mine, Autograd, m) { m.impl("twice", twice_autograd); }
```

## Use instead

```cpp
static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x) {
  at::AutoDispatchBelowADInplaceOrView below;
  return twice(x);
}
```

## Fix

No edit is offered: the guard belongs in `forward` or in the kernel, by what else is done there.

## References

- [Registering a dispatched operator in C++: autograd](https://docs.pytorch.org/tutorials/advanced/dispatcher.html#for-operators-that-need-autograd)
)";

constexpr std::array events{trace::EventKind::OperatorCallsItself};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = "the autograd kernel of " + named(event.callee, "an operator") +
                       " calls the operator, which calls the kernel again without end; put "
                       "`at::AutoDispatchBelowADInplaceOrView` in front of the call";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule operator_calls_itself{
    .info = {.code = "FG618",
             .name = "operator-calls-itself",
             .summary = "The autograd kernel of a C++ operator calls the operator without a guard",
             .severity = Severity::Hazard,
             .gb_ids = "",
             .fix = FixAvailability::None,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check,
    .speaks_of_cxx = true};

}  // namespace fullgraph::rules
