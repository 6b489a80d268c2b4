// Lints one text, and prints where which rule found something.
#include <iostream>

#include "analyzer/python/program.h"
#include "analyzer/trace/trace.h"
#include "rules/rule.h"

int main() {
  using namespace fullgraph;
  const std::string text =
      "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x * x.max().item()\n";
  python::Program program({});
  program.set_opaque({"torch"});
  program.load({{"/nowhere/net.py", "net.py", &text}}, 1);
  const auto profile = profile::Profile::find("2.13.0");
  if (!profile) return 1;
  const trace::Outcome outcome = trace::trace(program, **profile, {});
  for (const Diagnostic& found : rules::judge(outcome.events, **profile)) {
    const auto at = found.place.source->position(found.place.span.begin);
    std::cout << found.place.source->path() << ":" << at.line << ": " << found.code << "\n";
  }
}
