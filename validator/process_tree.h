// The processes below this one, as /proc tells: who started whom, and how much memory they hold.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <vector>

namespace fullgraph::validator {

// All processes below `root`, without it.
std::vector<pid_t> descendants_of(pid_t root);

// The processes that this one started, or got when their parents ended.
std::set<pid_t> children_of_this();

// Bytes in memory. What processes share is counted once, provided that it is worth the effort: where the quick sum, in
// which it counts for each of them, stays below `enough`, that is the answer.
std::uint64_t memory_of(const std::vector<pid_t>& processes, std::uint64_t enough);

}  // namespace fullgraph::validator
