// FG903: a suppression comment that names no rule. It comes from no event, see unused_suppression.cpp.
#include "rules/rule.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports a code in a `# fullgraph: …[…]` or `# noqa: FG…` comment that is neither a rule's code, nor the beginning of
one, nor a rule's name.

## Why is this bad?

The comment suppresses nothing, although somebody meant it to.

## Example

```python
x.requires_grad = True  # fullgraph: ignore[FG1O1]
```

## Use instead

```python
x.requires_grad = True  # fullgraph: ignore[FG101]
```
)";

void check(const trace::Event&, const RuleInfo&, Context&) {}

}  // namespace

extern const Rule unknown_suppression_code;
const Rule unknown_suppression_code = {
    .info =
        {
            .code = "FG903",
            .name = "unknown-suppression-code",
            .summary = "A suppression comment that names no rule",
            .severity = Severity::Warning,
            .gb_ids = "",
            .fix = FixAvailability::None,
            .since = "0.1.0",
            .documentation = documentation,
        },
    .events = {},
    .check = check,
};

}  // namespace fullgraph::rules
