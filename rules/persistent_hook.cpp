// FG612: forward hooks a parameter or a buffer. These outlive the pass, so each call of forward adds one hook more.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports, in C++, `register_hook` on a parameter or a buffer in code that `forward` reaches.

A hook on a tensor that forward has computed goes away with that tensor and is not reported.

## Why is this bad?

The tensor outlives the call, and so does the hook: after a hundred steps a hundred hooks run, each of which scales or
records the gradient once more, and whatever they captured is kept alive.

## Example

```cpp
torch::Tensor forward(torch::Tensor x) {
  weight.register_hook([](torch::Tensor g) { return g * 0.5; });
  return torch::mm(x, weight);
}
```

## Use instead

Register it once, in the constructor:

```cpp
explicit ScaledImpl(int64_t d) {
  weight = register_parameter("weight", torch::randn({d, d}));
  weight.register_hook([](torch::Tensor g) { return g * 0.5; });
}
```

## Fix

No edit is offered.

## References

- [Tensor::register_hook](https://docs.pytorch.org/cppdocs/api/classat_1_1_tensor.html)
)";

constexpr std::array events{trace::EventKind::PersistentHook};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = "each call of forward adds a hook to " + named(event.subject, "a tensor of the model") +
                       ", which keeps them all; register it once, in the constructor";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule persistent_hook{.info = {.code = "FG612",
                                           .name = "persistent-hook-in-forward",
                                           .summary = "A C++ forward adds a hook to a parameter in each call",
                                           .severity = Severity::Hazard,
                                           .gb_ids = "",
                                           .fix = FixAvailability::None,
                                           .since = "0.1.0",
                                           .documentation = documentation},
                                  .events = events,
                                  .check = check,
                                  .speaks_of_cxx = true};

}  // namespace fullgraph::rules
