// FG202: hooks on tensors, and the like, where Dynamo breaks on them. Since 2.11 a hook on an intermediate is traced,
// so what breaks is what its body does to the outside or asks about the gradient; each of these has an id of its own,
// and the id chooses the words.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports tensor hooks in code that `torch.compile` traces, where Dynamo breaks on them:

- the hook's body changes something outside of it, such as a list that collects gradients (GB0067);
- the hook's body asks about strides or contiguity of the gradient (GB7444);
- the hook's handle is stored in a global or was made in another frame (GB0100, GB0013);
- the hook is on a tensor computed in the graph, up to torch 2.10 (GB0029);
- `retain_grad()` of an intermediate (GB0108, torch 2.7 and later).

A hook whose body is tensor arithmetic is traced since torch 2.11 and not reported. What else breaks inside a hook's body
(a `print`, a branch on a value) is reported there by its own rule.

## Why is this bad?

The graph ends at the registration and the rest of the frame becomes a second graph; with `fullgraph=True` compilation
fails.

## Example

```python
class Saliency(nn.Module):
    def forward(self, x):
        h = self.encoder(x)
        h.register_hook(self.gradients.append)  # the hook changes a list of the module
        return self.head(h)
```

## Use instead

Return what is needed and look at it outside:

```python
class Saliency(nn.Module):
    def forward(self, x):
        h = self.encoder(x)
        return self.head(h), h

logits, h = compiled(x)
(gradient,) = torch.autograd.grad(logits.sum(), h)
```

To change a gradient, return the new one from the hook and write nothing: `h.register_hook(lambda g: g.clamp(-1, 1))`.

## Fix

No edit is offered.

## References

- [GB0067: side effect in a higher-order operator](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0067.html)
- [GB7444: register_hook with stride-dependent code](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb7444.html)
- [GB0108: Tensor.retain_grad() with AOTDispatcher](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0108.html)
)";

constexpr std::array events{trace::EventKind::TensorHookBreak};

struct Wording {
  std::string_view id;
  std::string_view before;  // the tensor's name
  std::string_view after;
};

constexpr std::array wordings{
    Wording{"GB0067", "the hook on ",
            " changes state outside of it, which Dynamo cannot trace; return the gradient or "
            "the tensor instead and collect it outside"},
    Wording{"GB4413", "the hook on ",
            " changes state outside of it, which Dynamo cannot trace; return the gradient or "
            "the tensor instead and collect it outside"},
    Wording{"GB7444", "the hook on ",
            " depends on the strides of the gradient, which are unknown while tracing; make "
            "the hook pure tensor arithmetic"},
    Wording{"GB0100", "the handle of the hook on ",
            " is stored in a global, on which Dynamo breaks; keep the handle "
            "local or register the hook outside"},
    Wording{"GB0013", "the handle of the hook on ", " cannot leave the compiled frame; register the hook outside"},
    Wording{"GB0467", "the handle of the hook on ", " cannot be used in compiled code; register the hook outside"},
    Wording{"GB0029", "a hook on the computed tensor ",
            " ends the graph up to torch 2.10; use an autograd.Function or "
            "upgrade torch"},
    Wording{"GB0108", "`retain_grad()` of ",
            " ends the graph; return the tensor and use "
            "`torch.autograd.grad` outside"},
};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  std::string_view before = "the hook on ";
  std::string_view after = " cannot be traced by Dynamo; register it outside the compiled region";
  for (const Wording& wording : wordings) {
    if (wording.id != event.gb_id) continue;
    before = wording.before;
    after = wording.after;
  }
  diagnostic.message = std::string(before) + named(event.subject, "a tensor") + std::string(after);
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule tensor_hook_break{.info = {.code = "FG202",
                                             .name = "tensor-hook-break",
                                             .summary = "A tensor hook in compiled code does what Dynamo cannot trace",
                                             .severity = Severity::Error,
                                             .gb_ids = "GB0013 GB0029 GB0055 GB0067 GB0100 GB0108 GB0467 GB4413 GB7444",
                                             .fix = FixAvailability::None,
                                             .since = "0.1.0",
                                             .documentation = documentation},
                                    .events = events,
                                    .check = check};

}  // namespace fullgraph::rules
