// The repair of a branch that only chooses between two tensors: both are computed, and `torch.where` selects.
//
//     if not torch.isfinite(hidden).all():            hidden = torch.where(
//         hidden = torch.clamp(hidden, min=-1)   →        torch.isfinite(hidden).all(), hidden, torch.clamp(…))
//
// That is right only where computing the side that was not taken cannot be noticed: both sides have the same shape, no
// side draws random numbers or changes anything, and the gradient of the side that is not selected is zero and not
// "not a number". Only operators of which all this is known are accepted.
#pragma once

#include "rules/rule.h"

namespace fullgraph::rules {

// Offers `torch.where` for the `if` or the conditional expression whose test breaks in `event`, safe where the dtypes
// of both sides are certainly the same. Where a branch assigns tensors in a way of which less is known, `torch.cond` is
// advised.
void offer_selection(Diagnostic& diagnostic, const trace::Event& event);

}  // namespace fullgraph::rules
