// The repair that the rules about reentrant checkpointing share.
#pragma once

#include <string>
#include <string_view>

#include "rules/rule.h"

namespace fullgraph::rules {

// The edit that makes a checkpoint non-reentrant: the argument's own literal at the call is changed, one that is absent
// is added. A name or a dictionary built elsewhere has other users: there only `advice` is given.
void offer_non_reentrant(Diagnostic& diagnostic, const trace::Event& event, std::string advice,
                         std::string_view consequences);

}  // namespace fullgraph::rules
