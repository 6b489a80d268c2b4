#include "analyzer/cxx/spelling.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace fullgraph::cxx {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

template <std::size_t Size>
std::string_view find(const std::array<Pair, Size>& table, std::string_view key) {
  const auto* const found = std::ranges::find(table, key, &Pair::first);
  return found == table.end() ? std::string_view() : found->second;
}

constexpr std::array<Pair, 10> constants = {{{"nullopt", "None"},
                                             {"kCPU", "\"cpu\""},
                                             {"kCUDA", "\"cuda\""},
                                             {"kHalf", "torch.float16"},
                                             {"kFloat", "torch.float32"},
                                             {"kDouble", "torch.float64"},
                                             {"kInt", "torch.int32"},
                                             {"kLong", "torch.int64"},
                                             {"kBool", "torch.bool"},
                                             {"kByte", "torch.uint8"}}};

constexpr std::array<Pair, 10> dtypes = {{{"kFloat16", "torch.float16"},
                                          {"kFloat32", "torch.float32"},
                                          {"kFloat64", "torch.float64"},
                                          {"kBFloat16", "torch.bfloat16"},
                                          {"kInt8", "torch.int8"},
                                          {"kInt16", "torch.int16"},
                                          {"kInt32", "torch.int32"},
                                          {"kInt64", "torch.int64"},
                                          {"kUInt8", "torch.uint8"},
                                          {"kI64", "torch.int64"}}};

// Functions of C++ alone, or that Python has elsewhere.
constexpr std::array<Pair, 9> functions = {{{"torch::autograd::grad", "torch.autograd.grad"},
                                            {"torch::autograd::backward", "torch.autograd.backward"},
                                            {"torch::cuda::synchronize", "torch.cuda.synchronize"},
                                            {"c10::GradMode::set_enabled", "torch.set_grad_enabled"},
                                            {"c10::GradMode::is_enabled", "torch.is_grad_enabled"},
                                            {"std::max", "max"},
                                            {"std::min", "min"},
                                            {"std::abs", "abs"},
                                            {"std::to_string", "str"}}};

constexpr std::array<Pair, 7> properties = {{{"requires_grad", ".requires_grad"},
                                             {"is_leaf", ".is_leaf"},
                                             {"grad", ".grad"},
                                             {"mutable_grad", ".grad"},
                                             {"sizes", ".shape"},
                                             {"device", ".device"},
                                             {"grad_fn", ".grad_fn"}}};
constexpr std::array<Pair, 5> more_properties = {{{"scalar_type", ".dtype"},
                                                  {"dtype", ".dtype"},
                                                  {"is_cuda", ".is_cuda"},
                                                  {"is_cpu", ".is_cpu"},
                                                  {"tensor_data", ".data"}}};
constexpr std::array<Pair, 5> methods = {{{"set_requires_grad", ".requires_grad_"},
                                          {"toType", ".to"},
                                          {"variable_data", ".detach"},
                                          {"ndimension", ".dim"},
                                          {"__dispatch_requires_grad_", ".requires_grad_"}}};

std::string dotted(std::string_view name) {
  std::string out;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name.substr(at).starts_with("::")) {
      out += '.';
      ++at;
    } else {
      out += name[at];
    }
  }
  return out;
}

}  // namespace

std::string library_constant(std::string_view qualified) {
  const bool library =
      qualified.starts_with("c10::") || qualified.starts_with("at::") || qualified.starts_with("torch::");
  if (!library && qualified != "std::nullopt") return {};
  const std::string_view name = qualified.substr(qualified.rfind(':') + 1);
  const std::string_view found = find(constants, name);
  return std::string(found.empty() ? find(dtypes, name) : found);
}

std::string library_function(std::string_view qualified) {
  if (const std::string_view found = find(functions, qualified); !found.empty()) return std::string(found);
  constexpr std::string_view functional = "torch::nn::functional::";
  if (qualified.starts_with(functional)) {
    const std::string_view name = qualified.substr(functional.size());
    return name.find(':') == std::string_view::npos ? "torch.nn.functional." + std::string(name) : std::string();
  }
  for (const std::string_view space : {"at::", "torch::"}) {
    if (!qualified.starts_with(space)) continue;
    const std::string_view name = qualified.substr(space.size());
    if (name.find(':') == std::string_view::npos) return "torch." + std::string(name);
    for (const std::string_view known : {"linalg::", "special::", "fft::"}) {
      if (name.starts_with(known)) return "torch." + dotted(name);
    }
  }
  return {};
}

TensorMember tensor_member(std::string_view method) {
  if (const std::string_view found = find(properties, method); !found.empty()) return {found, true};
  if (const std::string_view found = find(more_properties, method); !found.empty()) return {found, true};
  return {find(methods, method), false};
}

std::string_view binary_operator(std::string_view operation) {
  if (operation == "&&") return "and";
  if (operation == "||") return "or";
  return operation == "<=>" ? "-" : operation;
}

}  // namespace fullgraph::cxx
