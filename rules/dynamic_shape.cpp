// FG403: operators whose output shape depends on values, by the profile's `dynamic_output_shape` tag.
#include <array>

#include "rules/eager_only.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports operators whose output shape depends on the *values* of their inputs in code that `torch.compile` traces:
`nonzero`, `x[mask]`, `masked_select`, `unique`, `bincount`, one-argument `torch.where`, `repeat_interleave` with a tensor,
`one_hot` without `num_classes`.

Under `fullgraph=True`, torch 2.10 and later capture such shapes: what passes there is not reported for such a compile
site.

## Why is this bad?

The shape of the result is not known while tracing. By default Dynamo ends the graph at the operator; with
`torch._dynamo.config.capture_dynamic_output_shape_ops` the size becomes an unbacked symbol on which nothing may branch.

## Example

```python
def forward(self, x, mask):
    kept = x[mask]
    return kept.mean()
```

## Use instead

Keep the shape and weight by the mask:

```python
def forward(self, x, mask):
    return (x * mask).sum() / mask.sum()
```

`torch.where(mask, x, 0)` selects without changing the shape; `torch.nonzero_static` has a fixed size; `one_hot` and
`bincount` take an explicit size.

## Fix

Safe, where the value only decides whether an exception is raised or something is said (`assert`, `if …: raise`): the
check is left out of compiled code, with `not torch.compiler.is_compiling()` in front of its condition. Elsewhere no edit
is offered.

## References

- [GB0036: dynamic shape operator](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0036.html)
- [GB0246: one_hot with data-dependent output shape](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0246.html)
)";

constexpr std::array events{trace::EventKind::DynamicShape};

std::string operation(const trace::Event& event) {
  if (!event.callee.empty()) return "`" + one_line(event.callee) + "`";
  return named(event.subject, "this operator");
}

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  const bool one_hot = event.gb_id == "GB0246";
  if (is_cxx(event)) {
    diagnostic.message =
        "the output shape of " + named(event.subject, "this operator") +
        " depends on tensor values, so the host waits for the device, and a CUDA graph cannot hold it; "
        "keep the shape fixed, for example with `torch::where` and a mask";
    return context.report(std::move(diagnostic));
  }
  diagnostic.message =
      "the output shape of " + operation(event) + " depends on tensor values" + with_detail(event) +
      ", so the graph ends here; " +
      (one_hot ? "pass `num_classes`" : "keep the shape fixed, for example with `torch.where` and a mask");
  if (context.is_first(info, event)) offer_eager_only(diagnostic, event);
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule dynamic_shape{.info = {.code = "FG403",
                                         .name = "dynamic-shape",
                                         .summary = "An operator's output shape depends on tensor values",
                                         .severity = Severity::Error,
                                         .gb_ids = "GB0036 GB0246",
                                         .fix = FixAvailability::Sometimes,
                                         .since = "0.1.0",
                                         .documentation = documentation},
                                .events = events,
                                .check = check,
                                .speaks_of_cxx = true};

}  // namespace fullgraph::rules
