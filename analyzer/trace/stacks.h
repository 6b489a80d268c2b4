// Threads for the interpreter: abstract calls nest deeply, and it recurses with them.
#pragma once

#include <functional>

namespace fullgraph::trace {

// Runs `body(0)` … `body(count - 1)`, each on a thread of its own, and waits for all of them.
void run_on_large_stacks(unsigned count, const std::function<void(unsigned)>& body);

}  // namespace fullgraph::trace
