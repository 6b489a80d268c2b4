// FG616: a hook runs in the backward pass, when `forward` has long returned; what it captured by reference is gone.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports, in C++, hooks that capture a local variable by reference (`[&]`, `[&scale]`), in code that `forward` reaches.

## Why is this bad?

The hook runs during `backward()`. The function that registered it has returned by then, and with it went its variables: the
hook reads memory that belongs to something else, which is undefined behaviour. It often seems to work.

## Example

```cpp
auto scale = x.abs().mean();
h.register_hook([&](torch::Tensor g) { return g * scale; });
```

## Use instead

```cpp
auto scale = x.abs().mean().detach();
h.register_hook([scale](torch::Tensor g) { return g * scale; });
```

## Fix

No edit is offered.

## References

- [Lambda expressions: captures](https://en.cppreference.com/w/cpp/language/lambda)
)";

constexpr std::array events{trace::EventKind::DanglingHook};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = "the hook on " + named(event.subject, "a tensor") +
                       " refers to local variables, which are gone when the backward pass runs it; capture by value";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule dangling_hook{.info = {.code = "FG616",
                                         .name = "hook-refers-to-local",
                                         .summary = "A C++ hook refers to variables that are gone when it runs",
                                         .severity = Severity::Hazard,
                                         .gb_ids = "",
                                         .fix = FixAvailability::None,
                                         .since = "0.1.0",
                                         .documentation = documentation},
                                .events = events,
                                .check = check,
                                .speaks_of_cxx = true};

}  // namespace fullgraph::rules
