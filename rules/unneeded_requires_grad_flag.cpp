// FG105: a flag of a class that exists only to mark activations for reentrant checkpointing, in a class that does not
// need that any more. FG101 reports the marking itself; this rule reports what remains: the attribute and the methods
// that switch it, all in `related`, so that the whole workaround can be taken out at once.
#include <array>
#include <iterator>

#include "rules/edits.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports a boolean attribute of a class whose only use is to decide whether an activation is marked with
`requires_grad = True` (or was marked, and the line is gone). All places that set or read it are listed.

## Why is this bad?

Such a flag was a workaround for reentrant checkpointing, which gives no gradients at all unless an input of the
checkpointed block requires grad. Non-reentrant checkpointing does not need it. While it is there it costs a graph break
in each training step (`FG101`), and readers take a freeze switch for granted that freezes nothing: parameters carry
their own `requires_grad`.

## Example

```python
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 8, 3)
        self._requires_grad = True

    def freeze(self):
        for p in self.parameters():
            p.requires_grad = False
        self._requires_grad = False

    def forward(self, x):
        if self._requires_grad and self.training:
            x.requires_grad = True
        return self.conv(x)
```

## Use instead

```python
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 8, 3)

    def freeze(self):
        for p in self.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.conv(x)
```

## Fix

Unsafe: the attribute, the branch on it and its assignments are removed in the whole class family, where nothing else reads
the attribute. Consequence: with `use_reentrant=True` what runs in front of the first checkpointed block then gets no
gradient; use `use_reentrant=False`.

## References

- [torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html)
)";

constexpr std::array events{trace::EventKind::RequiresGradFlag};

void offer_removal(Diagnostic& diagnostic, const trace::Event& event) {
  Edits edits;
  for (const trace::Location& where : event.statements) {
    Edits one = remove_statement(*where.module, where.span);
    if (one.empty()) {
      edits.clear();
      break;
    }
    edits.insert(edits.end(), std::make_move_iterator(one.begin()), std::make_move_iterator(one.end()));
  }
  if (edits.empty()) {
    advise(diagnostic, "Remove the flag, the branch on it and every assignment to it");
    return;
  }
  offer(
      diagnostic, Applicability::Unsafe,
      "Remove the flag, the branch on it and every assignment to it (with `use_reentrant=True`, what runs in front of "
      "the first checkpoint gets no gradient)",
      std::move(edits));
}

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = named(event.callee.empty() ? event.subject : event.callee, "this flag") +
                       " only decides whether an activation is marked for reentrant checkpointing" +
                       with_detail(event) +
                       "; remove it together with the marking and checkpoint with "
                       "`use_reentrant=False`";
  offer_removal(diagnostic, event);  // of each class that has it
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule unneeded_requires_grad_flag{
    .info = {.code = "FG105",
             .name = "unneeded-requires-grad-flag",
             .summary = "A flag exists only for a `requires_grad` workaround that nothing needs any more",
             .severity = Severity::Hazard,
             .gb_ids = "",
             .fix = FixAvailability::Sometimes,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check};

}  // namespace fullgraph::rules
