// FG501: print, logging and warnings in traced code. The commonest breaks in real code and the least wanted; torch has
// a switch for each of the three, and the message names the right one.
#include <array>

#include "rules/eager_only.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports calls that write something for people in code that `torch.compile` traces, where Dynamo breaks on them: `print`,
methods of a `logging.Logger` (also `isEnabledFor` and the `warning_once` kind), `warnings.warn`, writes to
`sys.stdout`.

Calls on paths that are not taken while compiling (`if not torch.compiler.is_compiling():`) are not reported.

## Why is this bad?

Output is a side effect at a point in time, and a graph has no such points: Dynamo ends the graph, makes the call in eager
mode and begins a new graph. A debug line in a decoder layer costs one break per layer, even when the level is off.

## Example

```python
def forward(self, x):
    if x.shape[1] > self.max_length:
        logger.warning("sequence is longer than the table")
    return self.table(x)
```

## Use instead

```python
def forward(self, x):
    if x.shape[1] > self.max_length and not torch.compiler.is_compiling():
        logger.warning("sequence is longer than the table")
    return self.table(x)
```

Or tell Dynamo what to do with such calls: `torch._dynamo.config.reorderable_logging_functions.add(print)` moves them
behind the graph, `torch._dynamo.config.ignore_logging_functions.add(logger.warning)` (in earlier versions
`ignore_logger_methods`) drops them.

## Fix

Safe, where the result of the call is not used: it is made only outside compiled code, under
`not torch.compiler.is_compiling()`.

## References

- [GB0059: failed to trace builtin operator](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0059.html)
- [GB0291: logging.Logger method not supported](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0291.html)
- [GB0007: function marked as skipped](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0007.html)
)";

constexpr std::array events{trace::EventKind::Output};

std::string_view advice(const trace::Event& event) {
  if (event.gb_id == "GB0291") {
    return "guard it with `not torch.compiler.is_compiling()` or ignore the logger's methods in `torch._dynamo.config`";
  }
  if (event.callee == "print" || event.callee == "builtins.print" || event.callee == "warnings.warn") {
    return "guard it with `not torch.compiler.is_compiling()` or add the function to "
           "`torch._dynamo.config.reorderable_logging_functions`";
  }
  return "guard it with `not torch.compiler.is_compiling()`";
}

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  if (is_cxx(event)) {
    diagnostic.message = "a tensor is written out in " + region_of(event) +
                         ", for which it is copied to the host in each call; write it outside of that";
    return context.report(std::move(diagnostic));
  }
  diagnostic.message = named(event.callee.empty() ? event.subject : event.callee, "this call") +
                       " writes output, for which Dynamo ends the graph" + with_detail(event) + "; " +
                       std::string(advice(event));
  if (context.is_first(info, event)) offer_eager_only(diagnostic, event);
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule output_call{.info = {.code = "FG501",
                                       .name = "output-call",
                                       .summary = "Print, logging or warnings in compiled code",
                                       .severity = Severity::Error,
                                       .gb_ids = "GB0007 GB0059 GB0156 GB0291 GB4841",
                                       .fix = FixAvailability::Sometimes,
                                       .since = "0.1.0",
                                       .documentation = documentation},
                              .events = events,
                              .check = check,
                              .speaks_of_cxx = true};

}  // namespace fullgraph::rules
