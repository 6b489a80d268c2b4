// Work that puts everything away even when the program is killed.
#pragma once

#include <functional>

namespace fullgraph::validator {

// Does the work in a process of its own, in a session of its own, and waits for it. SIGKILL gives a program no chance
// to clean up: it ends the one that waits, and the one that works is told and cleans up (see Interruptions). Other
// signals are passed on. Returns what `work` returns, on the side that works too; ends by the signal that ended it.
int supervised(const std::function<int()>& work);

}  // namespace fullgraph::validator
