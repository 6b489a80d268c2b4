// FG402: a tensor's value becomes a Python value: `.item()`, `.tolist()`, `int(t)`, a tensor as a slice bound.
#include <array>

#include "rules/eager_only.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports code that reads a tensor's value into Python in code that `torch.compile` traces: `.item()`, `.tolist()`,
`int(t)`, `float(t)`, `bool(t)`, a tensor as slice bound, list index or `range` end, `math` functions of a tensor.

Under `fullgraph=True`, torch 2.10 and later capture scalars: what passes there is not reported for such a compile site.

## Why is this bad?

The value is not known while tracing. Dynamo ends the graph, the value is copied to the host (a synchronisation on a
GPU), and the rest becomes another graph that is compiled anew for other values.

## Example

```python
def forward(self, logits, keep):
    rate = keep.sum().item() / keep.numel()
    return logits * rate
```

## Use instead

Keep it a tensor:

```python
def forward(self, logits, keep):
    rate = keep.sum() / keep.numel()
    return logits * rate
```

Where a Python number is needed (a length, a size), read it before the compiled call and pass it in, or set
`torch._dynamo.config.capture_scalar_outputs = True`.

## Fix

Safe, where the value only decides whether an exception is raised or something is said (`assert`, `if …: raise`): the
check is left out of compiled code, with `not torch.compiler.is_compiling()` in front of its condition. Elsewhere no edit
is offered.

## References

- [GB0124: Tensor.item() with capture_scalar_outputs=False](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0124.html)
- [GB0109: Tensor.tolist() with non-integer tensor](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0109.html)
)";

constexpr std::array events{trace::EventKind::ScalarRead};

// "`keep.sum()` is read by `item`": the callee is a qualified method or a builtin's name.
std::string reader(const trace::Event& event) {
  if (event.callee.empty()) return "";
  const std::string_view name = last_name(event.callee);
  const bool is_method = event.callee.starts_with("torch.Tensor.");
  return " by `" + std::string(is_method ? "." : "") + std::string(name) + "()`";
}

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  if (is_cxx(event)) {
    diagnostic.message = named(event.subject, "this call") +
                         " reads a tensor's value on the host, which waits for the device and cannot be captured in a "
                         "CUDA graph or a trace; keep it a tensor, or read it outside of " +
                         region_of(event);
    return context.report(std::move(diagnostic));
  }
  const bool floats = event.gb_id == "GB0109";
  diagnostic.message =
      "the value of " + named(event.subject, "a tensor") + " is read into Python" + reader(event) + with_detail(event) +
      (floats ? ", which Dynamo never captures for floating-point tensors" : ", so the graph ends here") +
      "; keep it a tensor, or read it outside the compiled region";
  if (context.is_first(info, event)) offer_eager_only(diagnostic, event);
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule tensor_scalar_read{.info = {.code = "FG402",
                                              .name = "tensor-scalar-read",
                                              .summary = "A tensor's value becomes a Python value in compiled code",
                                              .severity = Severity::Error,
                                              .gb_ids = "GB0033 GB0109 GB0124",
                                              .fix = FixAvailability::Sometimes,
                                              .since = "0.1.0",
                                              .documentation = documentation},
                                     .events = events,
                                     .check = check,
                                     .speaks_of_cxx = true};

}  // namespace fullgraph::rules
