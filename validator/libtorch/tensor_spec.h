// Inputs as people write them: "f32[2,16000]", "i64[2,8]<1000", "bool[4]", or a plain "3", "0.5", "true", "none".
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace fullgraph::libtorch {

// Random numbers of the current seed: normal ones for floating types; integers from 0 up to, but without, the bound
// (2 when none is given: what every embedding has).
c10::IValue make_input(std::string_view spec);
at::Tensor random_tensor(at::ScalarType type, at::IntArrayRef shape, std::int64_t bound = 2);

// "f32[2,16000]", and the short name of a type alone.
std::string describe(const at::Tensor& tensor);
std::string describe(const c10::IValue& value);
std::string short_name(at::ScalarType type);

}  // namespace fullgraph::libtorch
