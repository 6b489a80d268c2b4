// FG706: flags and devices that were read while the graph was recorded are constants in it.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports constants of a recorded graph that were the state of the moment: dropout and batch normalisation that are switched
to training for good, and devices by number (`cuda:0`).

## Why is this bad?

`eval()` changes nothing any more: a graph that was traced or exported in training mode drops activations and updates
statistics in production. A device with a number fails on machines that have fewer, and keeps all replicas on one.

## Example

```python
torch.jit.trace(model, example)          # in training mode
```

## Use instead

```python
torch.jit.trace(model.eval(), example)
```

and take devices from the inputs: `torch.zeros(n, device=x.device)`.

## Fix

None: a recording is not repaired, it is made again from the repaired source.

## References

- [torch.jit.trace: tracing modes](https://docs.pytorch.org/docs/stable/generated/torch.jit.trace.html)
)";

constexpr std::array events{trace::EventKind::BakedConstant};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message =
      event.detail == "training"
          ? named(event.callee, "the operator") +
                " was recorded in training mode and stays in it, whatever `eval()` says; record the model "
                "after `eval()`"
          : "the device " + named(event.detail, "of the machine") +
                " is part of the recorded graph; take it from an input";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule baked_state{.info = {.code = "FG706",
                                       .name = "baked-state",
                                       .summary = "A recorded graph holds the state of the machine that recorded it",
                                       .severity = Severity::Hazard,
                                       .gb_ids = "",
                                       .fix = FixAvailability::None,
                                       .since = "0.1.0",
                                       .documentation = documentation},
                              .events = events,
                              .check = check};

}  // namespace fullgraph::rules
