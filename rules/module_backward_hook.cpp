// FG201: backward hooks on modules that stay registered. Dynamo breaks at each call of a hooked submodule, in eval and
// under `no_grad` too. The tracer sends two kinds of facts and the rule words both: the broken call (with the
// registration as related place) and a registration in code that is not traced (which will break every call).
#include <array>

#include "rules/parameter_hooks.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports module-level backward hooks that stay: `register_full_backward_hook`, `register_full_backward_pre_hook`,
`register_backward_hook` and the global `register_module_*backward*_hook`, also when a helper installs them on modules
that are handed to it. The registration is reported, and each traced call of a module that carries such a hook.

Not reported: a hook whose handle is removed before the compiled call, a hook behind an opt-in debug method that nothing
calls, and a hook on the root module itself (it runs outside the compiled graph).

## Why is this bad?

Dynamo ends the graph at each call of a submodule with a backward hook, while training and in eval mode, with and
without gradients. A hook on each normalisation layer of a decoder makes two breaks per layer.

## Example

```python
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.norm.register_full_backward_hook(all_reduce_grads)
        self.mlp = nn.Linear(width, width)

    def forward(self, x):
        return self.mlp(self.norm(x))  # ends the graph at self.norm(...)
```

## Use instead

A hook on the *parameter* runs when its gradient is there and is invisible to Dynamo:

```python
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        for p in self.norm.parameters():
            p.register_post_accumulate_grad_hook(all_reduce_grad)
        self.mlp = nn.Linear(width, width)
```

Register it on the parameters that are really trained: a hook on a placeholder that loading replaces is lost (`FG203`).
To change the gradient that flows *through* a module use an `autograd.Function` or a tensor hook.

## Fix

Unsafe, for a hook that does nothing but loop over the parameters of the module that it is called for: it becomes a hook of
each parameter (`register_post_accumulate_grad_hook`), registered in forward while grad mode is on, so that parameters
which are replaced when weights are loaded carry it too. It then runs once for each parameter, when its gradient is
complete, and not once for each backward pass through the module. Elsewhere advice is given: a module hook sees gradients
of outputs and inputs, a parameter hook the parameter's.

## References

- [GB0083: module-level backward hooks require compiled autograd](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0083.html)
- [Tensor.register_post_accumulate_grad_hook](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_post_accumulate_grad_hook.html)
)";

constexpr std::array events{trace::EventKind::ModuleBackwardHook};

void offer_parameter_hooks(Diagnostic& diagnostic, const trace::Event& event) {
  Edits edits = hook_parameters_instead(*event.where.module, event.where.span);
  if (edits.empty()) {
    advise(diagnostic,
           "Register `register_post_accumulate_grad_hook` on the parameters whose gradients the hook needs");
    return;
  }
  offer(diagnostic, Applicability::Unsafe,
        "Hook the parameters, in forward and while grad is enabled (the hook then runs for each parameter when its "
        "gradient is complete; copies of the module share its forward)",
        std::move(edits));
}

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  if (event.gb_id.empty()) {
    const std::string_view callee =
        event.callee.empty() ? std::string_view("register_full_backward_hook") : last_name(event.callee);
    diagnostic.message = named(callee, "") + " puts a backward hook on " + named(event.subject, "a module") +
                         " that stays, so each compiled call of a module that carries it ends the graph, in eval mode "
                         "too; hook its parameters with `register_post_accumulate_grad_hook`";
    if (context.is_first(info, event)) offer_parameter_hooks(diagnostic, event);
  } else {
    diagnostic.message = "the call of " + named(event.subject, "a module") +
                         " ends the graph because the module carries a backward hook" + with_detail(event) +
                         "; remove the hook or put it on the module's parameters";
  }
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule module_backward_hook{.info = {.code = "FG201",
                                                .name = "module-backward-hook",
                                                .summary = "A module carries a backward hook that is always on",
                                                .severity = Severity::Error,
                                                .gb_ids = "GB0083 GB0104",
                                                .fix = FixAvailability::Sometimes,
                                                .since = "0.1.0",
                                                .documentation = documentation},
                                       .events = events,
                                       .check = check};

}  // namespace fullgraph::rules
