// What a module does with a flag that decides whether activations are marked for reentrant checkpointing.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyzer/trace/event.h"

namespace fullgraph::trace {

// The statements that only switch the flag, and those that it switches on. Nothing when it is used for anything else.
std::optional<std::vector<Location>> uses_of_flag(const ir::Module& module, ir::Symbol flag);

// Completes the statements of RequiresGradFlag events by what other modules do that speak of the same class: subclasses
// switch the flag as well. Where one of them uses it for anything else, the statements are left out.
void look_for_other_users(std::span<Event> events, std::span<const ir::Module* const> modules);

}  // namespace fullgraph::trace
