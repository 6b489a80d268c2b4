// FG401: Python control flow on a tensor's value. Dynamo traces one path; which one is not known before the values are.
#include <array>

#include "rules/eager_only.h"
#include "rules/selection.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports Python control flow that depends on a tensor's value in code that `torch.compile` traces: `if`, `while`, `and`,
`or`, `not`, a conditional expression, a comprehension's condition, `assert` of more than one tensor condition, `any()`
and `all()` over tensors, `max()` of tensors.

Branches on shapes, dtypes, `None`, `isinstance`, flags and configuration values are decided while tracing and not
reported.

## Why is this bad?

Dynamo traces one path through the function, and the value that chooses the path is not known yet. The graph ends at the
branch, the value is brought to the host (a synchronisation on a GPU), and the rest becomes another graph. With
`fullgraph=True` compilation fails.

## Example

```python
def forward(self, scores, mask):
    if not mask.all():
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1)
```

## Use instead

Compute both sides and select, or do the operation always:

```python
def forward(self, scores, mask):
    scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1)
```

`torch.where(condition, a, b)` selects elementwise; `torch.cond(condition, f, g, args)` keeps a real branch in the graph;
`torch._check` and `torch._assert_async` test values without a branch.

## Fix

Safe, where the value only decides whether an exception is raised or something is said (`assert`, `if …: raise`): the
check is left out of compiled code, with `not torch.compiler.is_compiling()` in front of its condition.

Where an `if` only replaces a tensor by what an elementwise operator (`clamp`, `nan_to_num`, `abs`, `relu`) makes of it, both
are computed and `torch.where` selects: safe where the dtype stays as it is, unsafe where bounds are no integers, which
makes floating-point numbers of integers. Elsewhere no edit is offered.

## References

- [GB0170: data-dependent branching](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html)
)";

constexpr std::array events{trace::EventKind::TensorBranch};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  if (is_cxx(event)) {
    diagnostic.message = "the branch on " + named(event.subject, "a tensor") +
                         " depends on a tensor's value, so the host waits for the device, and a CUDA graph or a trace "
                         "cannot hold both sides; use `torch::where`, or decide outside of " +
                         region_of(event);
    return context.report(std::move(diagnostic));
  }
  const bool random = event.callee == "random";
  diagnostic.message =
      "the branch on " + named(event.subject, "a tensor") +
      (random ? " depends on a random number that is drawn in the graph" : " depends on a tensor's value") +
      with_detail(event) +
      ", so the graph ends here; use `torch.where` or `torch.cond`, or decide outside the compiled "
      "region";
  if (context.is_first(info, event)) {
    offer_eager_only(diagnostic, event);
    if (diagnostic.fixes.empty() && !random) offer_selection(diagnostic, event);
  }
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule tensor_branch{.info = {.code = "FG401",
                                         .name = "tensor-branch",
                                         .summary = "Python control flow depends on a tensor's value",
                                         .severity = Severity::Error,
                                         .gb_ids = "GB0170",
                                         .fix = FixAvailability::Sometimes,
                                         .since = "0.1.0",
                                         .documentation = documentation},
                                .events = events,
                                .check = check,
                                .speaks_of_cxx = true};

}  // namespace fullgraph::rules
