// FG602: an operator writes into a tensor that the caller owns. Told of recorded graphs, which say what is an input.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports in-place operators of a recorded graph on one of its inputs (`x.add_(1)`, `x.copy_(y)`), and the mutations that an
exported program's signature lists.

## Why is this bad?

The caller's tensor is another one afterwards, which the graph's signature alone does not tell. With
`mode="reduce-overhead"` Inductor leaves such a graph out of CUDA graphs, since they replay into fixed memory; an exported
program copies the new value back on each call.

## Example

```python
def forward(self, x):
    x.mul_(2)
    return x + 1
```

## Use instead

```python
def forward(self, x):
    x = x * 2
    return x + 1
```

## Fix

None: a recording is not repaired, it is made again from the repaired source.

## References

- [Functionalisation of mutated inputs](https://docs.pytorch.org/docs/stable/export.html)
)";

constexpr std::array events{trace::EventKind::InputMutated};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message =
      named(event.subject, "an operator") +
      " changes an input of the graph in place, so its caller's tensor changes and CUDA graphs leave the "
      "graph out; work on a new tensor";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule input_mutation{.info = {.code = "FG602",
                                          .name = "input-mutation",
                                          .summary = "A recorded graph changes one of its inputs",
                                          .severity = Severity::Hazard,
                                          .gb_ids = "",
                                          .fix = FixAvailability::None,
                                          .since = "0.1.0",
                                          .documentation = documentation},
                                 .events = events,
                                 .check = check};

}  // namespace fullgraph::rules
