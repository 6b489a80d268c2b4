// Running another program under limits, and leaving nothing of it behind.
//
// A contained program gets a session of its own. When it ends, or is ended, everything that it started is killed as
// well, also what left the session: orphans come to this process, which finds them by their parent. Memory is watched
// from here as the sum of what all of its processes hold, since a limit of the address space (RLIMIT_AS) means nothing
// for a process with CUDA, which reserves far more than it uses, nor for several processes together.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ir/error.h"

namespace fullgraph::validator {

enum class Stderr : std::uint8_t { Merged, Discarded };

struct Command {
  std::vector<std::string> arguments;                         // [0] is looked up in PATH
  std::string directory = {};                                 // where it runs; empty: here
  std::vector<std::pair<std::string, std::string>> set = {};  // environment variables
  std::vector<std::string> unset = {};                        // names; "GIT_*": all that begin so
  Stderr errors = Stderr::Merged;
  std::size_t most_output = std::size_t{1} << 30;  // bytes; of more, the beginning is dropped

  // Kill what it leaves behind, and watch the limits. One contained program at a time.
  bool contained = false;
  std::optional<std::chrono::milliseconds> timeout = {};
  // Each time that this file grows, the timeout begins anew: it is one for each step, not for all together.
  std::string progress_file = {};
  std::optional<std::uint64_t> memory_limit = {};  // bytes, of all processes together
};

enum class End : std::uint8_t { Exited, Signalled, TimedOut, OutOfMemory };

struct Finished {
  End end = End::Exited;
  int status = 0;           // exit status of Exited, signal of Signalled
  std::string output;       // any bytes
  std::size_t dropped = 0;  // bytes of output in front of that
  double seconds = 0;
  std::uint64_t peak_memory = 0;  // bytes, where a limit was watched
};

// Error: it cannot be started, or a signal asked this process to end (kind Interrupted).
Result<Finished> run(const Command& command);

// While one of these lives, SIGINT, SIGTERM and the like end what runs instead of this process, so that everything can
// be put away; `signal()` is the one that came, 0 if none did. One at a time.
class Interruptions {
 public:
  Interruptions();
  ~Interruptions();
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;
  static int signal();
};

}  // namespace fullgraph::validator
