// FG902: a source that is no Python. It comes from no event: the parser's and the reader's complaints become findings
// when the files are loaded.
#include "rules/rule.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports a file, or a part of one, that cannot be read as Python source: a syntax error, bytes that are not UTF-8, a NUL
byte, nesting that is too deep to follow.

The rest of a file with a syntax error is analysed as usual. Nothing is known about a file that is not text. In a large
tree (more than 8 MB of sources) files that define no module and that nothing imports are read, but not parsed: their
syntax errors are not reported, unless they are given by name.

## Why is this bad?

What is not understood is not checked: the file may hold graph breaks that no other rule can see.

## Example

```text
def forward(self, x:
    return x
```

## Use instead

```python
def forward(self, x):
    return x
```
)";

void check(const trace::Event&, const RuleInfo&, Context&) {}

}  // namespace

extern const Rule invalid_source;
const Rule invalid_source = {
    .info =
        {
            .code = "FG902",
            .name = "invalid-source",
            .summary = "A source that cannot be read as Python",
            .severity = Severity::Error,
            .gb_ids = "",
            .fix = FixAvailability::None,
            .since = "0.1.0",
            .documentation = documentation,
        },
    .events = {},
    .check = check,
};

}  // namespace fullgraph::rules
