// FG619: a tensor that autograd has not computed has no gradient to keep, and says so with an exception
// (torch/csrc/autograd/variable.cpp, retain_grad). Python's `retain_grad()` breaks the graph before that.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports, in C++, `h.retain_grad()` on what `forward` has computed, where nothing asks before whether there are gradients.

## Why is this bad?

Under `torch::NoGradGuard`, and wherever nothing before it requires a gradient, `retain_grad()` throws: the model trains and
fails when it is evaluated. While it trains, the gradient of each such tensor is kept for as long as the tensor is.

## Example

```cpp
auto h = torch::relu(fc(x));
h.retain_grad();
```

## Use instead

```cpp
auto h = torch::relu(fc(x));
if (h.requires_grad()) h.retain_grad();  // or let the caller ask for it, who reads the gradient
```

## Fix

No edit is offered.

## References

- [Tensor::retain_grad](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.retain_grad.html)
)";

constexpr std::array events{trace::EventKind::RetainedGradient};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message =
      "`retain_grad()` of " + named(event.subject, "a tensor") +
      " throws when forward runs without gradients; ask `requires_grad()` before, or leave it to whoever "
      "reads the gradient";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule retained_gradient{.info = {.code = "FG619",
                                             .name = "retain-grad-in-forward",
                                             .summary = "A C++ forward keeps a gradient that may not exist",
                                             .severity = Severity::Hazard,
                                             .gb_ids = "",
                                             .fix = FixAvailability::None,
                                             .since = "0.1.0",
                                             .documentation = documentation},
                                    .events = events,
                                    .check = check,
                                    .speaks_of_cxx = true};

}  // namespace fullgraph::rules
