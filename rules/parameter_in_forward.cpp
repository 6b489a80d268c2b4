// FG104: `nn.Parameter(...)` built in traced code from something that is not a graph input. Lazily built layers hide
// one in their constructor; the tracer follows it there, and the path shows the way.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports an `nn.Parameter(...)` that is built in code that `torch.compile` traces, directly or by the constructor of a
layer that is created there. `nn.Parameter(x)` of a graph input `x` is traced and not reported.

## Why is this bad?

A parameter made in the middle of a graph is an autograd leaf that Dynamo cannot represent: the graph ends at the call,
and with `fullgraph=True` compilation fails. Optimizers do not know such a parameter either, since they were built
before it existed.

## Example

```python
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = None

    def forward(self, x):
        if self.gain is None:
            self.gain = nn.Parameter(torch.ones(x.shape[-1]))
        return x * self.gain
```

## Use instead

```python
class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * self.gain
```

Where the width is known only from the first batch, run one eager forward before compiling (a lazy module), or build
the parameter in a `build()` method that is called outside compiled code. A constant needs no parameter: use a tensor.

## Fix

No edit is offered: the size of the parameter has to come from somewhere.

## References

- [GB0264: torch.nn.Parameter() constructor](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0264.html)
)";

constexpr std::array events{trace::EventKind::ParameterBuilt};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  const std::string_view callee = event.callee.empty() ? std::string_view("torch.nn.Parameter") : event.callee;
  const bool itself = last_name(callee) == "Parameter";
  diagnostic.message = (itself ? "a parameter is built in compiled code, on which Dynamo breaks"
                               : named(callee, "a layer") +
                                     " builds its parameters in compiled code, on which Dynamo "
                                     "breaks") +
                       std::string("; build it in `__init__` or before the model is compiled");
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule parameter_in_forward{.info = {.code = "FG104",
                                                .name = "parameter-in-forward",
                                                .summary = "An `nn.Parameter` is built in compiled code",
                                                .severity = Severity::Error,
                                                .gb_ids = "GB0264",
                                                .fix = FixAvailability::None,
                                                .since = "0.1.0",
                                                .documentation = documentation},
                                       .events = events,
                                       .check = check};

}  // namespace fullgraph::rules
