// FG704: TorchScript keeps forward hooks and drops backward hooks without a word. The flag that tells full hooks from
// old ones stays behind and gives it away.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports modules of a TorchScript archive that carried a backward hook when they were scripted or traced.

## Why is this bad?

The hook is not in the archive. A model that trains from it gets other gradients than the Python model did: no clipping,
no all-reduce, no counting, and no message.

## Example

```python
model.norm.register_full_backward_hook(all_reduce_gradients)
torch.jit.script(model).save("model.pt")
```

## Use instead

Register the hook where the archive is loaded, on the parameters (`register_post_accumulate_grad_hook`), or train from the
Python model.

## Fix

None: a recording is not repaired, it is made again from the repaired source.

## References

- [torch.nn.Module.register_full_backward_hook](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html)
)";

constexpr std::array events{trace::EventKind::DroppedHook};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message =
      (event.subject.empty() ? std::string("the module itself") : "the module " + named(event.subject, "")) +
      " carried a backward hook when it was scripted, and the archive does not: its gradients differ from "
      "the Python model's; register hooks after loading, on parameters";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule dropped_backward_hook{.info = {.code = "FG704",
                                                 .name = "dropped-backward-hook",
                                                 .summary = "Scripting has dropped a backward hook",
                                                 .severity = Severity::Hazard,
                                                 .gb_ids = "",
                                                 .fix = FixAvailability::None,
                                                 .since = "0.1.0",
                                                 .documentation = documentation},
                                        .events = events,
                                        .check = check};

}  // namespace fullgraph::rules
