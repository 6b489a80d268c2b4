// FG205: hooks added to a submodule after the first compiled call. By default Dynamo does not guard on a module's hook
// dictionaries, so the compiled code goes on without the hook.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports a module hook (forward, forward-pre, backward, backward-pre) that is registered on a submodule after the
compiled model has been called.

## Why is this bad?

For speed, Dynamo does not check whether a module's hooks changed since it was compiled
(`torch._dynamo.config.skip_nnmodule_hook_guards` is True). The compiled code runs on without the hook: nothing is
logged, no activation is collected, no gradient is changed, and no error says so.

## Example

```python
compiled = torch.compile(model)
compiled(warmup_batch)
model.layers[0].register_forward_hook(record_activation)  # never runs
compiled(batch)
```

## Use instead

```python
model.layers[0].register_forward_hook(record_activation)
compiled = torch.compile(model)
compiled(warmup_batch)
compiled(batch)
```

If the hook must come later, call `torch.compiler.reset()` after registering it, or set
`torch._dynamo.config.skip_nnmodule_hook_guards = False` before compiling.

## Fix

No edit is offered: statements would have to change places.

## References

- [torch.compiler: nn.Module hooks](https://docs.pytorch.org/docs/stable/torch.compiler_nn_module.html)
)";

constexpr std::array events{trace::EventKind::LateHook};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = "the hook on " + named(event.subject, "a submodule") +
                       " is registered after the first compiled call and never runs; register it before, or call "
                       "`torch.compiler.reset()` afterwards";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule late_hook{.info = {.code = "FG205",
                                     .name = "late-hook",
                                     .summary = "A module hook is registered after the first compiled call",
                                     .severity = Severity::Hazard,
                                     .gb_ids = "",
                                     .fix = FixAvailability::None,
                                     .since = "0.1.0",
                                     .documentation = documentation},
                            .events = events,
                            .check = check};

}  // namespace fullgraph::rules
