// FG601: a tensor goes to the host in the middle of a graph. Told of recorded graphs, where the device is what the
// author wrote and nothing but operators is left to wait for, and of C++.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports operators of a recorded graph (an exported program, FX text, a TorchScript archive) that copy a tensor to the CPU
where the author's line asks for that (`.cpu()`, `.to("cpu")`), and `torch.cuda.synchronize()`. In C++: the same in
code that `forward`, the kernel of an operator or the capture of a CUDA graph reaches, and calls that wait for the device
(`torch::cuda::synchronize`, `cudaStreamSynchronize`, `cudaMalloc`, …).

## Why is this bad?

On a GPU the host waits until everything before the copy is done, in each step. A graph with such a copy in it cannot be
captured as a CUDA graph: `mode="reduce-overhead"` leaves it out, capturing it by hand raises.

## Example

```python
def forward(self, x):
    return x.cpu() * self.scale
```

## Use instead

Leave the tensor on its device, and copy the model's result behind the compiled call.

## Fix

None: a recording is not repaired, it is made again from the repaired source.

## References

- [CUDA graphs: constraints](https://docs.pytorch.org/docs/stable/notes/cuda.html#constraints)
)";

constexpr std::array events{trace::EventKind::HostCopy};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  const bool cxx = is_cxx(event);
  diagnostic.message =
      named(event.subject, cxx ? "this call" : "the operator") +
      (event.detail == "waits" ? " waits for the device" : " copies a tensor to the host, which waits for the device") +
      " in the middle of " + (cxx ? region_of(event) : "the graph") + ", and cannot be captured in a CUDA graph; " +
      (cxx ? "do it outside of that" : "do it behind the compiled call");
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule host_copy{.info = {.code = "FG601",
                                     .name = "host-copy",
                                     .summary = "A recorded graph or a C++ forward copies a tensor to the host",
                                     .severity = Severity::Hazard,
                                     .gb_ids = "",
                                     .fix = FixAvailability::None,
                                     .since = "0.1.0",
                                     .documentation = documentation},
                            .events = events,
                            .check = check,
                            .speaks_of_cxx = true};

}  // namespace fullgraph::rules
