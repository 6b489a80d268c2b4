// A user's C++ module as a shared library that the libtorch worker can load: its sources, compiled with their own flags
// against the libtorch of the worker, and a few lines that wrap the module.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validator/libtorch_worker.h"
#include "validator/result.h"
#include "validator/temporary_folder.h"

namespace fullgraph::validator {

struct CxxModule {
  std::string source;                        // a file, or a folder with sources; absolute
  std::optional<std::string> expression;     // that makes the module: "Net(16)"; else the outermost class is looked for
  std::vector<std::string> include_folders;  // of the worker's libtorch
  std::vector<std::string> libraries;        // besides libtorch: "name" as in -lname, or files; absolute
  std::string name;                          // of what is made in the folder
  Limits limits;
};

// The library. Failure: no module in the sources, or the compiler's own words.
std::expected<std::string, Failure> build_cxx_module(const CxxModule& module, const TemporaryFolder& folder);

// The classes in a source that derive from torch::nn::Module, in order, by the name that makes one: "Net" where
// TORCH_MODULE(Net) holds a NetImpl. `used`: it is named in another of them, so it is a part.
struct ModuleClass {
  std::string name;
  bool used = false;
};
std::vector<ModuleClass> module_classes(std::string_view source);

}  // namespace fullgraph::validator
