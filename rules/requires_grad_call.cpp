// FG102: `t.requires_grad_()` in traced code where Dynamo breaks on it. Three different things break, and since other
// versions of torch break on other ones, the message says for which versions it holds:
// an input or parameter whose flag changes (GB0125, every version), an intermediate that leaks to an output (GB8985,
// from 2.12), any intermediate (GB0125, up to 2.11).
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports a call of `requires_grad_()` in code that `torch.compile` traces, where Dynamo breaks on it:

- on a graph input, a parameter or a whole module, when the call changes the flag (GB0125);
- on a tensor made in the compiled code, when that tensor or something computed from it reaches an output that requires
  grad (GB8985, torch 2.12 and later);
- on any tensor made in the compiled code (GB0125, torch 2.11 and earlier).

A call that sets the value which the flag has already is traced and not reported.

## Why is this bad?

Marking a tensor makes it a leaf of autograd. A leaf in the middle of a graph, seen from outside, cannot be expressed in
the one graph that AOTAutograd differentiates: Dynamo ends the graph at the call, and with `fullgraph=True` compilation
fails.

## Example

```python
class Potential(nn.Module):
    def forward(self, positions):
        positions.requires_grad_(True)  # changes the flag of an input
        return self.net(positions).sum()
```

## Use instead

```python
class Potential(nn.Module):
    def forward(self, positions):
        return self.net(positions).sum()

positions.requires_grad_(True)  # by the caller, before the compiled call
energy = torch.compile(potential)(positions)
```

For a tensor made inside, keep the whole life of its gradient inside, or return a detached result:

```python
def forward(self, x):
    hidden = self.body(x)
    leaf = hidden.detach().requires_grad_()
    penalty = (self.head(leaf) ** 2).mean()
    return hidden, penalty.detach()
```

## Fix

Move the call in front of the compiled region; no edit is offered, since the caller is often in another project.

## References

- [GB0125: Unsupported Tensor.requires_grad_() call](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0125.html)
- [GB8985: requires_grad_() intermediate leaked as output](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb8985.html)
)";

constexpr std::array events{trace::EventKind::RequiresGradCalled};

std::string leaked(const std::string& subject) {
  return subject +
         " is made a leaf by `requires_grad_()` and reaches an output that requires grad, on which torch 2.12 and "
         "later "
         "break (earlier versions break on every such call); return a detached result or mark it before the compiled "
         "region";
}

std::string changed(const std::string& subject, trace::Origin origin, std::string_view version) {
  switch (origin) {
    case trace::Origin::Input:
      return "`requires_grad_()` changes the flag of the graph input " + subject +
             ", which no version of torch traces; mark it in the caller, before the compiled call";
    case trace::Origin::Parameter:
    case trace::Origin::Buffer:
      return "`requires_grad_()` changes the flag of the parameter " + subject +
             ", which no version of torch traces; freeze or unfreeze it once, before the model is compiled";
    case trace::Origin::Intermediate:
      if (!at_least(version, 2, 12)) {
        return "`requires_grad_()` on the intermediate " + subject +
               " ends the graph up to torch 2.11 (from 2.12 on only where it leaks to an output); mark it before the "
               "compiled region or upgrade torch";
      }
      break;
    case trace::Origin::Unknown:
      break;
  }
  return "`requires_grad_()` changes the flag of " + subject +
         ", which Dynamo does not trace; do it before the compiled region";
}

// No compiler looks at C++; what is left is what the call does to training.
std::string in_cxx(const std::string& subject, bool leaks) {
  return leaks ? subject +
                     " makes a leaf in the middle of forward that reaches its result, so what made the tensor is "
                     "cut off and gets no gradient; mark the input in the caller instead"
               : subject +
                     " changes the flag of a tensor that belongs to the caller or to the model, in each call of "
                     "forward; set it once, outside of forward";
}

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin(info, event, context);
  const std::string subject = named(event.subject, "a tensor");
  const bool leaks = event.gb_id == "GB8985" || event.gb_id == "GB7324";
  if (is_cxx(event)) {
    diagnostic.message = in_cxx(subject, leaks);
    return context.report(std::move(diagnostic));
  }
  diagnostic.message = leaks ? leaked(subject) : changed(subject, event.origin, context.profile().version());
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule requires_grad_call{
    .info = {.code = "FG102",
             .name = "requires-grad-call",
             .summary = "`requires_grad_()` changes an input or leaks a new leaf from compiled code",
             .severity = Severity::Error,
             .gb_ids = "GB0125 GB8985",
             .fix = FixAvailability::None,
             .since = "0.1.0",
             .documentation = documentation},
    .events = events,
    .check = check,
    .speaks_of_cxx = true};

}  // namespace fullgraph::rules
