// FG705: true of each TorchScript archive, so its findings are notes that fail no run. As a submodule of compiled code
// it costs the whole frame around it.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Notes that a file is a TorchScript archive. The note alone fails no run.

## Why is this bad?

`torch.compile` of a TorchScript module raises. Called by compiled code it is a graph break, and the frame around it is run
eagerly as a whole. `torch.jit.script` and `torch.jit.trace` are deprecated since torch 2.11.

## Example

```python
encoder = torch.jit.load("encoder.pt")
model = torch.compile(Model(encoder))
```

## Use instead

Build the model from its Python source and load the weights, or `torch.export` it.

## Fix

None: a recording is not repaired, it is made again from the repaired source.

## References

- [GB4695: torch.jit.script/freeze modules unsupported](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb4695.html)
)";

constexpr std::array events{trace::EventKind::TorchScriptModule};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = context.diagnostic(info, event);
  diagnostic.severity = Severity::Info;
  diagnostic.message =
      "TorchScript is not compiled: called by compiled code this module ends the graph and its caller runs "
      "eagerly; build it from its Python source";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule torchscript_module{.info = {.code = "FG705",
                                              .name = "torchscript-module",
                                              .summary = "TorchScript modules cannot be compiled",
                                              .severity = Severity::Hazard,
                                              .gb_ids = "GB4695",
                                              .fix = FixAvailability::None,
                                              .since = "0.1.0",
                                              .documentation = documentation},
                                     .events = events,
                                     .check = check};

}  // namespace fullgraph::rules
