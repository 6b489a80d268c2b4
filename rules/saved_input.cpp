// FG617: an autograd function keeps a tensor that it was given in `ctx->saved_data`, where autograd does not see it
// (torch/csrc/autograd/custom_function.h: "should be used for non-tensor").
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports `ctx->saved_data["x"] = x` in the `forward` of a `torch::autograd::Function` where `x` is an argument of it.

## Why is this bad?

`save_for_backward` keeps the version of each tensor: when somebody changes one in place before the backward pass, that throws.
What is in `saved_data` is used as it is by then, and the gradient is silently wrong. Saved-tensor hooks (offloading,
checkpoints) do not see it either, and it is kept until the context goes.

## Example

```cpp
static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x, torch::Tensor w) {
  ctx->saved_data["x"] = x;
  ctx->saved_data["w"] = w;
  return x * w;
}
```

## Use instead

```cpp
ctx->save_for_backward({x, w});
```

and `ctx->get_saved_variables()` in `backward`.

## Fix

No edit is offered.

## References

- [Custom autograd functions in C++](https://docs.pytorch.org/tutorials/advanced/cpp_autograd.html)
)";

constexpr std::array events{trace::EventKind::SavedInput};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = named(event.subject, "an input") +
                       " is kept in saved_data, so changes in place before the backward pass go unnoticed and give "
                       "wrong gradients; use save_for_backward";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule saved_input{.info = {.code = "FG617",
                                       .name = "input-in-saved-data",
                                       .summary = "A C++ autograd function keeps an input in saved_data",
                                       .severity = Severity::Hazard,
                                       .gb_ids = "",
                                       .fix = FixAvailability::None,
                                       .since = "0.1.0",
                                       .documentation = documentation},
                              .events = events,
                              .check = check,
                              .speaks_of_cxx = true};

}  // namespace fullgraph::rules
