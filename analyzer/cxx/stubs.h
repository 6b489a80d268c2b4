// Headers of CUDA and pybind11, as far as parsing a file that uses them asks for. They exist in memory alone.
//
// No CUDA toolkit is needed, and none would be of use, since Clang understands each only up to its own age. pybind11
// comes with torch, but needs the headers of a Python, which an environment without a compiler does not have.
#pragma once

#include <span>
#include <string_view>

namespace fullgraph::cxx {

inline constexpr const char* stub_folder = "/fullgraph-stubs";
inline constexpr const char* python_stub_folder = "/fullgraph-stubs/python";  // takes the place of pybind11
inline constexpr const char* cuda_stub_path = "/fullgraph-stubs/fullgraph_cuda.h";

struct Stub {
  std::string_view path, text;
};
std::span<const Stub> stubs();

}  // namespace fullgraph::cxx
