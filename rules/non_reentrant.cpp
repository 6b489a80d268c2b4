#include "rules/non_reentrant.h"

#include <utility>

#include "rules/edits.h"
#include "rules/wording.h"

namespace fullgraph::rules {
namespace {

Edits edits_of(const trace::Event& event) {
  const trace::CheckpointFacts& facts = event.checkpoint;
  const std::string_view given =
      facts.argument_module == nullptr ? std::string_view() : facts.argument_module->source->text(facts.argument);
  if (given == "True" || given == "None")  // what a name stands for has other users
    return replace(*facts.argument_module, facts.argument, "False");
  if (facts.reentrant == trace::CheckpointFacts::Reentrant::Absent && !facts.through_settings)
    return add_argument(*event.where.module, event.where.span, "use_reentrant=False");
  return {};
}

}  // namespace

void offer_non_reentrant(Diagnostic& diagnostic, const trace::Event& event, std::string advice,
                         std::string_view consequences) {
  Edits edits = edits_of(event);
  if (edits.empty()) {
    advise(diagnostic, std::move(advice));
    return;
  }
  offer(diagnostic, Applicability::Unsafe, "Use non-reentrant checkpointing (" + std::string(consequences) + ")",
        std::move(edits));
}

}  // namespace fullgraph::rules
