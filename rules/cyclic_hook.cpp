// FG615: a lambda that is the hook of a tensor has that tensor among what it captured by value. The tensor holds the
// hook and the hook the tensor, so neither is ever freed (torch/csrc/autograd/variable.cpp, _register_hook).
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports, in C++, `h.register_hook([h](…) { … })` in code that `forward` reaches: a hook that captures by value the tensor that it
is registered on.

## Why is this bad?

The tensor keeps its hooks, and this hook keeps the tensor, so the count of neither gets to zero. Each call of forward leaks the
tensor and all that its graph holds.

## Example

```cpp
auto h = torch::relu(fc(x));
h.register_hook([h](torch::Tensor g) { return g * (h > 0); });
```

## Use instead

```cpp
auto h = torch::relu(fc(x));
auto mask = (h > 0).detach();
h.register_hook([mask](torch::Tensor g) { return g * mask; });
```

## Fix

No edit is offered.

## References

- [Tensor::register_hook](https://docs.pytorch.org/cppdocs/api/classat_1_1_tensor.html)
)";

constexpr std::array events{trace::EventKind::CyclicHook};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = "the hook on " + named(event.subject, "a tensor") +
                       " holds that tensor, so neither is ever freed; capture what the hook needs of it "
                       "(`detach()`ed), not the tensor itself";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule cyclic_hook{.info = {.code = "FG615",
                                       .name = "hook-holds-its-tensor",
                                       .summary = "A C++ hook holds the tensor that it is on",
                                       .severity = Severity::Hazard,
                                       .gb_ids = "",
                                       .fix = FixAvailability::None,
                                       .since = "0.1.0",
                                       .documentation = documentation},
                              .events = events,
                              .check = check,
                              .speaks_of_cxx = true};

}  // namespace fullgraph::rules
