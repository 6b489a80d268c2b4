// Tensors in pickles: everything but their numbers, which are never read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/graphs/pickle.h"

namespace fullgraph::graphs {

struct TensorDescription {
  std::optional<std::vector<std::int64_t>> shape;
  std::string dtype;   // "float32"; empty: not known
  std::string device;  // "cpu", "cuda:0"
  bool requires_grad = false;
  bool is_parameter = false;
};

// What one of torch's functions for rebuilding tensors makes; nothing for another value, or an unusual tensor
// (quantized, sparse, nested).
std::optional<TensorDescription> describe_tensor(const Value& value);

// "torch.empty([4, 4], dtype=torch.int64)", a torch.nn.Parameter where it is one.
std::string tensor_expression(const TensorDescription& tensor);

}  // namespace fullgraph::graphs
