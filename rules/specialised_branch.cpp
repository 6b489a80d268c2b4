// FG703: draft export goes through a branch on a tensor's value by taking the side that the example took. What is left
// is a read of the value by `__bool__`, and an assertion that it is always the same.
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports branches on a tensor's value of which a recorded program has kept the side that its example inputs took.

## Why is this bad?

For inputs that would take the other side the program raises an assertion at best, and computes something else than the
model at worst. The list of such places that `draft_export` prints is not kept in the archive.

## Example

```python
def forward(self, x):
    if x.sum() > 0:
        return x + 1
    return x - 1
```

## Use instead

```python
def forward(self, x):
    return torch.where(x.sum() > 0, x + 1, x - 1)
```

or `torch.cond` where the sides cost much.

## Fix

None: a recording is not repaired, it is made again from the repaired source.

## References

- [torch.export: control flow](https://docs.pytorch.org/docs/stable/export.html)
)";

constexpr std::array events{trace::EventKind::SpecialisedBranch};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = context.diagnostic(info, event);
  diagnostic.message = "of the branch on a tensor's value in " + named(event.subject, "this line") +
                       " only the side that the example took was recorded; choose with `torch.where` or `torch.cond`";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule specialised_branch{.info = {.code = "FG703",
                                              .name = "specialised-branch",
                                              .summary = "Of a data-dependent branch one side was exported",
                                              .severity = Severity::Error,
                                              .gb_ids = "",
                                              .fix = FixAvailability::None,
                                              .since = "0.1.0",
                                              .documentation = documentation},
                                     .events = events,
                                     .check = check};

}  // namespace fullgraph::rules
