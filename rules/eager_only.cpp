#include "rules/eager_only.h"

#include "rules/edits.h"
#include "rules/purpose.h"
#include "rules/wording.h"

namespace fullgraph::rules {

std::vector<Edit> eager_only(const trace::Event& event) {
  const ir::Module& module = *event.where.module;
  auto torch = ensure_import(module, "torch", event.where.span);
  if (!torch) return {};
  Edits edits = guard_statement(module, event.where.span, "not " + torch->name + ".compiler.is_compiling()");
  if (!edits.empty()) edits.insert(edits.end(), torch->edits.begin(), torch->edits.end());
  return edits;
}

void offer_eager_only(Diagnostic& diagnostic, const trace::Event& event) {
  const Purpose purpose = purpose_of(*event.where.module, event.where.span);
  if (purpose == Purpose::Other) return;
  offer(diagnostic, Applicability::Safe,
        std::string(purpose == Purpose::Check ? "Check" : "Say") +
            " this only outside compiled code (`torch.compiler.is_compiling()`)",
        eager_only(event));
}

}  // namespace fullgraph::rules
