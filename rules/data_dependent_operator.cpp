// FG404: operators that return a Python value computed from tensor values, by the profile's `data_dependent_output`
// tag.
#include <array>

#include "rules/eager_only.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports operators that read tensor values on the host and return a Python value, in code that `torch.compile` traces:
`torch.equal`, `torch.allclose`, `.tolist()`, `math` functions of a tensor.

## Why is this bad?

The result is a plain Python value that depends on data which does not exist while tracing. The graph ends at the
operator, and on a GPU the host waits for the device.

## Example

```python
def forward(self, x, y):
    return x if torch.equal(x, y) else x + y
```

## Use instead

```python
def forward(self, x, y):
    same = (x == y).all()
    return torch.where(same, x, x + y)
```

Compare with `is` where identity is meant, compare shapes where shapes are meant, and move tests of values into the tests.

## Fix

Safe, where the value only decides whether an exception is raised or something is said (`assert`, `if …: raise`): the
check is left out of compiled code, with `not torch.compiler.is_compiling()` in front of its condition. Elsewhere no edit
is offered.

## References

- [GB0033: data dependent operator](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0033.html)
)";

constexpr std::array events{trace::EventKind::DataDependentOperator};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  if (is_cxx(event)) {
    diagnostic.message = named(event.subject, "this operator") +
                         " reads tensor values on the host, which waits for the device and cannot be captured in a "
                         "CUDA graph or a trace";
    return context.report(std::move(diagnostic));
  }
  const std::string name = named(event.callee.empty() ? event.subject : event.callee, "this operator");
  diagnostic.message = name + " returns a Python value that depends on tensor values" + with_detail(event) +
                       ", so the graph ends here; compute it with tensor operations, or outside the compiled region";
  if (context.is_first(info, event)) offer_eager_only(diagnostic, event);
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule data_dependent_operator{
    .info = {.code = "FG404",
             .name = "data-dependent-operator",
             .summary = "An operator returns a Python value that depends on tensor values",
             .severity = Severity::Error,
             .gb_ids = "GB0033",
             .fix = FixAvailability::Sometimes,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check,
    .speaks_of_cxx = true};

}  // namespace fullgraph::rules
