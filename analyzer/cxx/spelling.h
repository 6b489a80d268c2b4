// Python's names for what libtorch and the standard library have.
#pragma once

#include <string>
#include <string_view>

namespace fullgraph::cxx {

// A name that nothing defines: its value is not known.
inline constexpr std::string_view unknown = "_unknown";

// What libtorch has and Python has not; the tracer knows it by these names (analyzer/trace/models_cxx.cpp).
inline constexpr std::string_view saved_data = "torch.ops.libtorch.saved_data";
inline constexpr std::string_view kernel_mark = "torch.ops.libtorch.kernel";
inline constexpr std::string_view below_autograd = "torch.ops.libtorch.below_autograd";
inline constexpr std::string_view captured_block = "torch.ops.libtorch.capture";

// "torch::kCPU" → "\"cpu\"", "c10::nullopt" → "None"; empty for what is no constant of a library.
std::string library_constant(std::string_view qualified);

// "at::relu" → "torch.relu", "torch::nn::functional::pad" → "torch.nn.functional.pad"; empty where Python has no such
// function.
std::string library_function(std::string_view qualified);

// What takes the place of a method of at::Tensor.
struct TensorMember {
  std::string_view python;   // ".requires_grad"
  bool is_property = false;  // Python has an attribute where C++ has a function without arguments
};
TensorMember tensor_member(std::string_view method);

// "&&" → "and"
std::string_view binary_operator(std::string_view operation);

}  // namespace fullgraph::cxx
