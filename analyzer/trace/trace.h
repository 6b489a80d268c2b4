// The tracer's front: a program in, events out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/error.h"
#include "analyzer/profile/profile.h"
#include "analyzer/python/program.h"
#include "analyzer/trace/event.h"

namespace fullgraph::trace {

enum class Mode : std::uint8_t { Any, Train, Eval };
enum class Roots : std::uint8_t { Auto, Compiled, Modules };

// What a project's C++ gives to its Python, by the name that Python calls it by, and where that is done.
struct Native {
  std::map<std::string, Location> operators_without_fake;  // "mine::twice": kernels for devices and nothing that says
                                                           // what they return
  std::map<std::string, Location> functions;  // "extension.twice", bound with pybind11; of a package's extension the
                                              // last names may be all that is known
  bool operator==(const Native&) const = default;
};

struct Options {
  Mode mode = Mode::Any;
  Roots roots = Roots::Auto;
  bool fullgraph = false;            // capture mode where the compile site does not say
  unsigned jobs = 1;                 // threads
  std::vector<std::string> entries;  // "path/to/file.py:function" or "pkg.module:function"
  Native native;
  std::function<void(std::size_t done, std::size_t total)> progress;  // may be empty; called from any thread
  std::function<bool()> cancelled;                                    // may be empty; asked between roots
  // May be empty: all. Events that neither stand in such a module nor have one on their path are left out.
  std::function<bool(const ir::Module&)> wanted;
};

struct Outcome {
  std::vector<Event> events;  // in an order that depends neither on `jobs` nor on the order of the files
  std::vector<Error> errors;  // an entry that does not exist, …
  std::size_t roots = 0;      // how many there are
  bool cancelled = false;     // then nothing else of this holds
};

// Can a file with this text matter before something imports it: does it define a module or a compiled function, or set
// up hooks or checkpoints? May say yes for one that does not; never no for one that does.
bool may_start(std::string_view text);

// Traces the entries that the options name, and nothing else.
Outcome trace_entries(python::Program& program, const profile::Profile& profile, const Options& options);

// Traces everything reachable from the roots of `program`. Never runs any of its code.
Outcome trace(python::Program& program, const profile::Profile& profile, const Options& options);

}  // namespace fullgraph::trace
