// FG500: every other break that can be seen in source. The words come from Dynamo's own registry in the profile, so a
// new id needs a tracer that sees it and nothing here.
#include <array>

#include "rules/eager_only.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports constructs in code that `torch.compile` traces for which Dynamo has a break of their own and that no other rule
covers: an unsupported context manager, `copy.deepcopy` of a tensor or a module, a `class` statement, an LSTM, a method on
an object that Dynamo does not model, `torch.autograd.grad`, an import that fails, and so on. The message quotes the entry
of Dynamo's graph-break registry, and the finding carries its id and the address of its page.

## Why is this bad?

The graph ends at the construct. In a loop, a `try` or a context manager of your own the rest of the frame is not compiled at all. With
`fullgraph=True` compilation fails.

## Example

```python
def forward(self, x):
    template = copy.deepcopy(x)
    return self.net(x + template)
```

## Use instead

What to do depends on the entry; its page says what Dynamo's authors advise. Nearly always one of these:

```python
def forward(self, x):
    template = x.clone()  # the tensor operation in place of the Python one
    return self.net(x + template)
```

or the construct moves to `__init__` or in front of the compiled call.

## Fix

No edit is offered.

## References

- [Graph breaks by id](https://meta-pytorch.github.io/compile-graph-break-site/)
)";

constexpr std::array events{trace::EventKind::Unsupported};

// The registry's name of the break. Some entries are templates that were never filled in ("_gb_type"): no words for
// people.
std::string reason(const profile::GraphBreak* entry) {
  std::string type = entry == nullptr ? std::string() : std::string(entry->type);
  while (!type.empty() && (type.back() == '.' || type.back() == ' ')) type.pop_back();
  if (type.empty() || type.starts_with('_')) return "unsupported construct";
  return type;
}

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  const std::string detail = one_line(event.detail);
  const std::string name = named(event.callee.empty() ? event.subject : event.callee, "this construct");
  diagnostic.message = event.gb_id.empty()
                           ? name + " does not work in compiled code" + (detail.empty() ? "" : ": " + detail)
                           : "Dynamo breaks on " + name + ": " + reason(context.profile().graph_break(event.gb_id)) +
                                 (detail.empty() ? "" : " (" + detail + ")");
  if (context.is_first(info, event)) offer_eager_only(diagnostic, event);
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule unsupported_construct{
    .info = {.code = "FG500",
             .name = "unsupported-construct",
             .summary = "A construct that Dynamo does not trace",
             .severity = Severity::Error,
             .gb_ids = "GB0001 GB0003 GB0005 GB0013 GB0014 GB0015 GB0016 GB0045 GB0046 GB0055 GB0056 "
                       "GB0059 GB0067 GB0069 GB0078 GB0083 GB0087 GB0088 GB0090 GB0098 GB0104 GB0107 "
                       "GB0110 GB0116 GB0117 GB0119 GB0123 GB0126 GB0127 GB0128 GB0129 GB0130 GB0134 "
                       "GB0142 GB0144 GB0145 GB0147 GB0148 GB0156 GB0157 GB0158 GB0172 GB0193 GB0206 "
                       "GB0207 GB0208 GB0212 GB0221 GB0247 GB0250 GB0257 GB0262 GB0264 GB0273 GB0275 "
                       "GB0277 GB0292 GB0294 GB0363 GB0374 GB0467 GB0569 GB0811 GB1750 GB2533 GB2696 "
                       "GB3383 GB4198 GB4271 GB4413 GB4841 GB5976 GB6215 GB6270 GB6297 GB7489 GB7650 "
                       "GB7786 GB8977 GB9186 GB9300 GB9625",
             .fix = FixAvailability::Sometimes,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check};

}  // namespace fullgraph::rules
