// Archives and C++ models, before and after a change: each side is run by the libtorch worker in a process of its own,
// the side after with the weights of the side before, and then every output and every gradient is compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validator/libtorch_worker.h"
#include "validator/result.h"

namespace fullgraph::validator {

struct GraphOptions {
  std::string before;                      // an archive, a C++ source or a folder of such; absolute
  std::optional<std::string> after;        // likewise
  std::string shown_before, shown_after;   // as the user wrote them
  std::vector<std::string> inputs;         // "f32[2,16000]", …
  std::optional<std::string> inputs_file;  // absolute
  std::optional<std::string> module;       // C++: the expression that makes the module, "Net(16)"
  std::vector<std::string> libraries;      // C++: to link besides libtorch; files are absolute
  // A model that is fixed as it was saved has no modes, and runs as it is.
  std::vector<std::string> modes = {"train", "eval"};
  std::string device = "auto";
  unsigned repetitions = 5;  // of what is timed; 0: nothing is
  Limits limits;
};

// Whether `validate PATH` means a model for libtorch: a file, or a folder with C++ sources.
bool is_cxx_source(const std::string& path);

// Error: the worker is missing, or there is no room for its files. Everything else is in the result.
Result<ValidationResult> validate_graphs(const GraphOptions& options);

}  // namespace fullgraph::validator
