// FG614: C++ registers an operator that has kernels for devices and none that says what it returns. Dynamo runs
// operators with tensors that have no data, which such an operator cannot take (torch/_subclasses/fake_impls.py).
#include <array>

#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

constexpr std::string_view documentation = R"(## What it does

Reports `m.def("name(…) -> …")` in a `TORCH_LIBRARY` of C++ sources for an operator that has kernels for devices (`CPU`, `CUDA`,
…) alone: none for `Meta`, none that is composed of other operators, and no `torch.library.register_fake` in the Python
sources of the same run.

It is told where Python sources are linted together with the C++, since that is where fake kernels often are.

## Why is this bad?

Each call of it in compiled code ends the graph: Dynamo, `torch.export` and Inductor have to know what the operator returns
without running it.

## Example

```cpp
TORCH_LIBRARY(scaling, m) { m.def("scaled(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(scaling, CPU, m) { m.impl("scaled", &scaled); }
```

## Use instead

```python
@torch.library.register_fake("scaling::scaled")
def _(x):
    return torch.empty_like(x)
```

or, in C++, a kernel for `Meta` that makes an empty result.

## Fix

No edit is offered: what the operator returns is for its author to say.

## References

- [Custom C++ operators](https://docs.pytorch.org/tutorials/advanced/cpp_custom_ops.html)
- [GB0090](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0090.html)
)";

constexpr std::array events{trace::EventKind::OperatorWithoutFake};

void check(const trace::Event& event, const RuleInfo& info, Context& context) {
  Diagnostic diagnostic = begin_hazard(info, event, context);
  diagnostic.message = "the operator " + named(event.callee, "defined here") +
                       " has no fake kernel, so compiled code that calls it breaks its graph there; register one "
                       "(`torch.library.register_fake`), or a kernel for Meta";
  context.report(std::move(diagnostic));
}

}  // namespace

extern const Rule operator_without_fake{.info = {.code = "FG614",
                                                 .name = "operator-without-fake",
                                                 .summary = "A C++ operator does not say what it returns",
                                                 .severity = Severity::Hazard,
                                                 .gb_ids = "",
                                                 .fix = FixAvailability::None,
                                                 .since = "0.1.0",
                                                 .documentation = documentation},
                                        .events = events,
                                        .check = check,
                                        .speaks_of_cxx = true};

}  // namespace fullgraph::rules
