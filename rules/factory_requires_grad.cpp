// FG103: `torch.zeros(..., requires_grad=True)` in traced code. The same leaf in the middle of a graph as FG102, but
// Dynamo refuses it at the factory, before it knows where the tensor goes.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports a tensor factory of the `torch` namespace (`torch.zeros`, `torch.randn_like`, `torch.tensor`, …) that is called
with `requires_grad=True` in code that `torch.compile` traces.

## Why is this bad?

The factory makes a new autograd leaf inside the graph. Dynamo ends the graph at the call; with `fullgraph=True`
compilation fails.

## Example

```python
class Strain(nn.Module):
    def forward(self, positions):
        strain = torch.zeros(3, 3, requires_grad=True)
        return self.energy(positions + positions @ strain)
```

## Use instead

Make the tensor outside and pass it in, so that it is a graph input and its gradient is reachable:

```python
class Strain(nn.Module):
    def forward(self, positions, strain):
        return self.energy(positions + positions @ strain)

strain = torch.zeros(3, 3, requires_grad=True)
energy = compiled(positions, strain)
```

If nobody reads the gradient, leave `requires_grad=True` out.

## Fix

No edit is offered: whether the tensor becomes an argument, a parameter or a constant is a decision about the model.
The method factories (`x.new_zeros(..., requires_grad=True)`) do not break, but compiled code drops the flag: see
`FG505`.

## References

- [GB0225: tensor creation function with requires_grad=True](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0225.html)
)";

constexpr std::array events{trace::EventKind::FactoryRequiresGrad};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  diagnostic.message = named(event.callee, "a tensor factory") +
                       " with `requires_grad=True` makes a leaf inside the graph, where Dynamo breaks; create the "
                       "tensor outside the compiled region and pass it in";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule factory_requires_grad{
    .info = {.code = "FG103",
             .name = "factory-requires-grad",
             .summary = "A tensor factory is called with `requires_grad=True` in compiled code",
             .severity = Severity::Error,
             .gb_ids = "GB0225",
             .fix = FixAvailability::None,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check};

}  // namespace fullgraph::rules
