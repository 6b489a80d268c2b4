// Headers of CUDA, as far as parsing a file that uses them asks for: no toolkit is needed, and none would be of use,
// since Clang understands each toolkit only up to its own age. They exist in memory alone.
#pragma once

#include <span>
#include <string_view>

namespace fullgraph::cxx {

inline constexpr const char* stub_folder = "/fullgraph-stubs";
inline constexpr const char* cuda_stub_path = "/fullgraph-stubs/fullgraph_cuda.h";

struct Stub {
  std::string_view path, text;
};
std::span<const Stub> stubs();

}  // namespace fullgraph::cxx
