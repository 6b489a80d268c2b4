// The repair that moves `torch.compile` from what a checkpoint runs to the function that makes the checkpoint.
#pragma once

#include "rules/edits.h"

namespace fullgraph::rules {

// `compile`: the call of `torch.compile` or the decorator, in the same file as `checkpoint`, a call. Nothing where the
// compiled function is no plain variable or is used anywhere else, where the function around the checkpoint has
// decorators of its own, or where the options of the compilation are no constants.
Edits compile_outside(const ir::Module& module, ir::Span compile, ir::Span checkpoint);

}  // namespace fullgraph::rules
