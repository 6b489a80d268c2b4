// FG901: a suppression comment that suppresses nothing. It comes from no event: the stage that applies suppressions
// knows which of them were needed and reports the others under this rule.
#include "rules/rule.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports a `# fullgraph: ignore[…]`, `ignore-file`, `disable` or `# noqa: FG…` comment, or one code in it, that
suppresses no finding. Comments whose codes belong to rules that are switched off are left alone, and so is a plain
`# noqa`, which may be meant for another tool. With `--mode train` or `--mode eval` nothing is reported, since a comment
may be needed in the other mode.

## Why is this bad?

A suppression that outlives its reason hides the next finding on that line.

## Example

```python
def forward(self, x):
    return x + 1  # fullgraph: ignore[FG101] nothing is set here
```

## Use instead

```python
def forward(self, x):
    return x + 1
```

## Fix

Safe: removes the code, or the whole comment when no code is left. A `# noqa` that names codes of other tools as well is
left alone.
)";

void check(const trace::Event&, const RuleInfo&, Context&) {}

}  // namespace

extern const Rule unused_suppression;
const Rule unused_suppression = {
    .info =
        {
            .code = "FG901",
            .name = "unused-suppression",
            .summary = "A suppression comment that suppresses nothing",
            .severity = Severity::Warning,
            .gb_ids = "",
            .fix = FixAvailability::Sometimes,
            .since = "0.1.0",
            .documentation = documentation,
        },
    .events = {},
    .check = check,
};

}  // namespace fullgraph::rules
