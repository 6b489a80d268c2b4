// FG101: `t.requires_grad = v` in traced code. Dynamo has no model of the attribute's setter at all, so even writing
// the value that is there already ends the graph. Which repair is right depends on whose tensor it is: that decides
// the advice.
#include <array>

#include "rules/eager_only.h"
#include "rules/edits.h"
#include "rules/purpose.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports an assignment to `requires_grad` of a tensor in code that `torch.compile` traces, whatever the value: also
`False`, and also the value that the tensor has already.

Assignments in `__init__`, in a `freeze()` method or in a training loop that is not compiled are not reported, and
neither are assignments to an attribute of that name on an object that is not a tensor.

## Why is this bad?

Dynamo cannot trace the setter: the flag would turn a tensor into a leaf, or a leaf into something else, in the middle
of the graph. The graph ends before the line, the line runs in eager mode and a second graph begins after it. With
`fullgraph=True` compilation fails. In a loop, a `try` or a context manager of your own the rest of the frame is not compiled at all.

## Example

```python
class Encoder(nn.Module):
    def forward(self, hidden_states):
        if self.training and self._requires_grad:
            hidden_states.requires_grad = True  # ends the graph in each training step
        for layer in self.layers:
            hidden_states = checkpoint(layer, hidden_states, use_reentrant=True)
        return hidden_states
```

## Use instead

The flag is often there only so that *reentrant* checkpointing has an input that requires grad. Non-reentrant
checkpointing does not need it:

```python
class Encoder(nn.Module):
    def forward(self, hidden_states):
        for layer in self.layers:
            hidden_states = checkpoint(layer, hidden_states, use_reentrant=False)
        return hidden_states
```

Where the gradient of an input is wanted, mark the input before the compiled call:

```python
positions.requires_grad_()
energy = compiled_model(positions)
```

## Fix

An assignment of `False` to a tensor that was made without `requires_grad` is removed (safe).

For a tensor that is set to `True` while training only, which is for checkpoints:

Safe: the assignment is made only outside compiled code, under `not torch.compiler.is_compiling()`. Eager training stays
as it is, with reentrant checkpointing too. Where compiled code relies on the marking, `FG504` goes on saying so.

Unsafe: the assignment is removed, with the `if` that holds nothing else, and with the flag that serves nothing else
(`FG105`). With `use_reentrant=True` what runs in front of the first checkpointed block then
gets no gradient; use `use_reentrant=False`.

## References

- [GB0206: setattr() on Tensor.requires_grad](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0206.html)
- [torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html)
)";

constexpr std::array events{trace::EventKind::RequiresGradAssigned};

std::string_view advice(trace::Origin origin) {
  switch (origin) {
    case trace::Origin::Input:
      return "mark the tensor in the caller, before the compiled call";
    case trace::Origin::Parameter:
    case trace::Origin::Buffer:
      return "freeze or unfreeze parameters once, before the model is compiled";
    case trace::Origin::Intermediate:
    case trace::Origin::Unknown:
      break;
  }
  return "remove it, and use non-reentrant checkpointing if that was its purpose";
}

std::string_view value_text(trace::Truth value) {
  switch (value) {
    case trace::Truth::Yes:
      return " to True";
    case trace::Truth::No:
      return " to False";
    case trace::Truth::Unknown:
      break;
  }
  return "";
}

// A marking in training only is for checkpoints. Any other may be there for a gradient that somebody asks for, in
// compiled code too.
bool is_workaround(const trace::Event& event) {
  const ir::Module* module = event.where.module;
  return module != nullptr && event.value == trace::Truth::Yes && event.origin != trace::Origin::Parameter &&
         is_assignment_of(*module, event.where.span, "True") && is_for_training(*module, event.where.span);
}

void offer_repairs(Diagnostic& diagnostic, const trace::Event& event) {
  offer(diagnostic, Applicability::Unsafe,
        "Remove the marking (with `use_reentrant=True`, what runs in front of the first checkpoint gets no gradient)",
        remove_statement(*event.where.module, event.where.span));
  Fix guarded{.applicability = Applicability::Safe,
              .message = "Mark the tensor only outside compiled code (`torch.compiler.is_compiling()`)",
              .edits = eager_only(event),
              .leaves = "FG504"};
  if (!guarded.edits.empty()) diagnostic.fixes.push_back(std::move(guarded));
}

// Python:  identity = torch.eye(4); identity.requires_grad = False
// What sets the flag to the value that it has can go. Each root has its say: the first one that does not know the value
// takes the edits back.
void offer_removal(Diagnostic& diagnostic, const trace::Event& event) {
  const bool idle = event.before == event.value && event.origin == trace::Origin::Intermediate &&
                    is_assignment_of(*event.where.module, event.where.span, "False");
  if (!idle) return advise(diagnostic, "Make the tensor with the flag that it shall have, outside compiled code");
  offer(diagnostic, Applicability::Safe, "Remove the assignment, which sets the flag to the value that it has",
        remove_statement(*event.where.module, event.where.span));
}

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  diagnostic.message = "setting `requires_grad` of " + named(event.subject, "a tensor") +
                       std::string(value_text(event.value)) +
                       " ends the graph, even if the flag has that value already; " + std::string(advice(event.origin));
  if (context.is_first(info, event) && is_workaround(event)) offer_repairs(diagnostic, event);
  if (event.value == trace::Truth::No) offer_removal(diagnostic, event);
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule requires_grad_assignment{
    .info = {.code = "FG101",
             .name = "requires-grad-assignment",
             .summary = "`requires_grad` of a tensor is assigned in compiled code",
             .severity = Severity::Error,
             .gb_ids = "GB0206",
             .fix = FixAvailability::Sometimes,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check};

}  // namespace fullgraph::rules
