// FG613: requires_grad is switched off on a tensor that autograd has computed. Only leaves can give up their gradient:
// `requires_grad_` throws, `set_requires_grad` changes a flag that nothing asks for (torch/csrc/autograd/variable.cpp).
#include <algorithm>
#include <array>
#include <cctype>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports, in C++, `requires_grad_(false)` and `set_requires_grad(false)` on a tensor that was computed from parameters while
gradients are recorded.

## Why is this bad?

`requires_grad_(false)` throws: "you can only change requires_grad flags of leaf variables". Under a `torch::NoGradGuard` it
does not, which is why evaluation works and the first training step fails. `set_requires_grad(false)` does nothing: the
tensor is still part of the graph, and what made it learns on.

## Example

```cpp
torch::Tensor forward(torch::Tensor x) {
  auto h = encoder(x);
  h.set_requires_grad(false);
  return head(h);
}
```

## Use instead

```cpp
torch::Tensor forward(torch::Tensor x) { return head(encoder(x).detach()); }
```

## Fix

Unsafe: a statement `h.set_requires_grad(false);` becomes `h = h.detach();`.

## References

- [Autograd mechanics: setting requires_grad](https://docs.pytorch.org/docs/stable/notes/autograd.html#setting-requires-grad)
)";

constexpr std::array events{trace::EventKind::NonLeafFlag};

// `h.set_requires_grad(false);` as a statement of its own.
void offer_detached(Diagnostic& diagnostic, const trace::Event& event) {
  if (!is_cxx(event)) return;
  constexpr std::string_view self = "self.";
  std::string_view name = event.subject;
  if (name.starts_with(self)) name.remove_prefix(self.size());
  const bool plain =
      !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  const ir::SourceFile& text = *event.where.module->source;
  const std::uint32_t line = text.position(event.where.span.begin).line;
  const std::string_view statement = text.line_text(line);
  const bool alone =
      statement.substr(std::min(statement.find_first_not_of(' '), statement.size())) == text.text(event.where.span);
  if (!plain || !alone) return;
  offer(diagnostic, Applicability::Unsafe,
        "Detach it: no gradient goes back through it (the call throws, or leaves the flag as it is)",
        {{place(event.where.module, event.where.span), std::string(name) + " = " + std::string(name) + ".detach()"}});
}

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = "requires_grad is switched off on " + named(event.subject, "a tensor") +
                       ", which is no leaf: while gradients are recorded, `requires_grad_` throws and "
                       "`set_requires_grad` changes nothing; use `detach()`";
  offer_detached(diagnostic, event);
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule non_leaf_flag{.info = {.code = "FG613",
                                         .name = "requires-grad-on-non-leaf",
                                         .summary = "A C++ forward takes requires_grad from what is no leaf",
                                         .severity = Severity::Hazard,
                                         .gb_ids = "",
                                         .fix = FixAvailability::Sometimes,
                                         .since = "0.1.0",
                                         .documentation = documentation},
                                .events = events,
                                .check = check,
                                .speaks_of_cxx = true};

}  // namespace fullgraph::rules
