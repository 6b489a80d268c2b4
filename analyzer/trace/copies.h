// Tracing in copies of this process.
//
// An interpreter that has run the code of a library's modules is worth a lot: that takes longer than tracing the few
// roots that an edit reaches. But what it runs afterwards stays in it. So it is kept as it is, and roots are traced in
// copies of the whole process, which the system makes in a few milliseconds (fork): each has the interpreter, the
// program and the profile as they are now, and takes what it did with it when it ends. A copy that fails takes nobody
// along.
//
// Addresses mean the same in a copy as in the original as long as both existed before; what a copy reads from the disk
// by itself does not exist here, which is why it tells what it asked for.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/python/program.h"
#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/units.h"

namespace fullgraph::trace {

// Processes that are coming to their end. The system takes a while to take one apart, for which nobody needs to wait.
class Endings {
 public:
  Endings() = default;
  ~Endings();
  Endings(const Endings&) = delete;
  Endings& operator=(const Endings&) = delete;
  void add(pid_t process);  // kills it

 private:
  std::vector<pid_t> processes_;
};

class Copies {
 public:
  struct Result {
    Trail trail;
    std::vector<std::pair<const ir::Module*, const ir::Module*>> uses;  // who named whom
  };

  // No other thread may use the program or the interpreter while there are copies.
  Copies(python::Program& program, Interpreter& interpreter, Endings& endings)
      : program_(program), interpreter_(interpreter), endings_(endings) {}
  ~Copies() { end(); }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  // Traces units on `count` copies. `take` is called on this thread, once for each unit; a unit that made its copy fail
  // has nothing. False: cancelled, or no copies could be made.
  bool run(std::span<const Unit* const> units, unsigned count, const std::function<bool()>& cancelled,
           const std::function<void(std::size_t unit, std::optional<Result>)>& take);

 private:
  struct Copy {
    pid_t process = -1;
    int to = -1, from = -1;
    std::optional<std::size_t> unit;  // what it does
    std::string received;
  };
  bool start();
  void end();
  bool give(Copy& copy, std::size_t index, const Unit& unit);
  std::vector<Copy> copies_;
  python::Program& program_;
  Interpreter& interpreter_;
  Endings& endings_;
};

}  // namespace fullgraph::trace
