// Tracing a program again and again while its sources are edited.
//
// What came out of each root is kept, with what code it depends on: a module depends on those that its code names, and
// on all that these depend on. After an edit only roots whose module depends on an edited one are traced again. The
// outcome is the same as if everything were.
#pragma once

#include <memory>

#include "analyzer/trace/trace.h"

namespace fullgraph::trace {

class Session {
 public:
  // `keep`: there will be another call.
  explicit Session(bool keep = true);
  ~Session();

  // The program is that of the call before, with modules replaced, unless `forget` was called in between. What a
  // cancelled call has traced is not lost.
  Outcome trace(python::Program& program, const profile::Profile& profile, const Options& options);

  // Before another program or other options.
  void forget();

  // How many roots the last call traced anew.
  [[nodiscard]] std::size_t traced_anew() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fullgraph::trace
