// The repair that several rules share: what only matters to a person is taken out of compiled code.
//
// Messages and checks do not change what a model computes. Under `not torch.compiler.is_compiling()` they stay as they
// are in eager mode, and Dynamo, for which the condition is a constant, never sees them.
#pragma once

#include "rules/rule.h"

namespace fullgraph::rules {

// Puts the statement of the event under that condition; nothing is offered when it does more than to tell or to check.
void offer_eager_only(Diagnostic& diagnostic, const trace::Event& event);

// Puts the statement of the event under that condition whatever it does. None when that cannot be written.
std::vector<Edit> eager_only(const trace::Event& event);

}  // namespace fullgraph::rules
