// FG505: the other things that go wrong without a graph break, each too rare for a rule of its own. The event's
// `callee` is the hazard's name and chooses the words; a name without words here is still reported, with the event's
// detail.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports code that compiles and then silently does something else than in eager mode:

- a hook registered on the object that `torch.compile` returns, which does not run (register it on the module);
- `x.new_zeros(..., requires_grad=True)` and the like in compiled code, where the flag is dropped;
- a dispatch mode around compiled code, under which the compiled code is not used;
- a `context_fn` handed to `checkpoint` in compiled code in a form that the compiler cannot use.

## Why is this bad?

There is no graph break and usually no warning. The loss curve is the only sign, if there is one.

## Example

```python
compiled = torch.compile(model)
compiled.register_full_backward_hook(log_gradient)  # never runs
```

## Use instead

```python
model.register_full_backward_hook(log_gradient)
compiled = torch.compile(model)
```

## Fix

No edit is offered.

## References

- [torch.compiler: nn.Module hooks](https://docs.pytorch.org/docs/stable/torch.compiler_nn_module.html)
)";

constexpr std::array events{trace::EventKind::Hazard};

struct Wording {
  std::string_view hazard;
  std::string_view before;     // the subject's name
  std::string_view otherwise;  // when there is none
  std::string_view after;
};

constexpr std::array wordings{
    Wording{"wrapper-hook-ignored", "a hook on ", "the compiled wrapper",
            ", which `torch.compile` returned, does not run; register it on the module itself"},
    Wording{"silent-requires-grad-drop", "compiled code drops the `requires_grad=True` of ", "this factory",
            " without a break; create the tensor outside the compiled region"},
    Wording{"dispatch-mode-bypass", "under ", "the dispatch mode",
            " compiled code is not used and everything runs in eager mode; compile inside of it or drop the mode"},
    Wording{"backend-error", "the backend cannot compile ", "this call",
            ", though Dynamo captures it without a break; change the call or compile around it"},
    Wording{"checkpoint-context-fn", "compiled code cannot use the `context_fn` of ", "this checkpoint",
            "; pass a `functools.partial` of `create_selective_checkpoint_contexts`"},
};

std::string message(const trace::Event& event) {
  for (const Wording& wording : wordings) {
    if (wording.hazard != event.callee) continue;
    return std::string(wording.before) + named(event.subject, wording.otherwise) + std::string(wording.after);
  }
  const std::string detail = one_line(event.detail);
  return named(event.subject.empty() ? event.callee : event.subject, "this line") +
         " behaves differently in compiled and in eager code" + (detail.empty() ? std::string() : ": " + detail);
}

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = message(event);
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule silent_training_hazard{
    .info = {.code = "FG505",
             .name = "silent-training-hazard",
             .summary = "Compiled code silently does something else than eager code",
             .severity = Severity::Hazard,
             .gb_ids = "",
             .fix = FixAvailability::None,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check};

}  // namespace fullgraph::rules
