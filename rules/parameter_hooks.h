// The repair of a module backward hook that only looks at the module's parameters.
#pragma once

#include "rules/edits.h"

namespace fullgraph::rules {

// Python:  def install(self, module, group):
//              def reduce(mod, grad_input, grad_output):
//                  for param in mod.parameters(recurse=False):
//                      if param.grad is not None: all_reduce(param.grad, group)
//              module.register_full_backward_hook(reduce)
//
// Registers the same on each parameter instead, in forward and while grad mode is on: parameters that were replaced
// since (weights are loaded late) are hooked again, and code without gradients is never touched. None where the hook
// does anything else, has other users, or is registered in a loop. `registration` is the place of the call.
Edits hook_parameters_instead(const ir::Module& module, ir::Span registration);

}  // namespace fullgraph::rules
