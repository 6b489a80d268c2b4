// What the C++ sources of a run register, put together with what its Python sources say of it: which operators nothing
// tells of what they return, and under which names Python calls what pybind11 binds.
#pragma once

#include <string>
#include <vector>

#include "analyzer/python/program.h"
#include "analyzer/trace/trace.h"

namespace fullgraph::cli {

// As the worker tells it (analyzer/cxx/registrations.h).
struct CxxRegistration {
  std::string kind;       // "schema", "kernel", "function"
  std::string name;       // "mine::twice", "extension.twice"
  std::string key;        // of a kernel; empty: for whatever calls it
  std::string file;       // absolute
  trace::Location where;  // in a module that outlives this
};

trace::Native native_names(const std::vector<CxxRegistration>& registered, const python::Program& program);

}  // namespace fullgraph::cli
