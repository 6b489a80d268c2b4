// Tensors on the disk, in the form that torch.save and torch.load know.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "validator/libtorch/model.h"

namespace fullgraph::libtorch {

// Values of a file that `torch.save` wrote: a tensor, or a tuple, list or dictionary of tensors, numbers and such, in
// order. Failure: not such a file, or one with objects of classes.
std::vector<c10::IValue> load_values(const std::string& path);
// The same from memory.
std::vector<c10::IValue> values_of_pickle(const std::vector<char>& bytes);

void save_tensors(const std::string& path, const NamedTensors& tensors);
NamedTensors load_tensors(const std::string& path);

// A nested value as a flat list, depth first; dictionaries in their own order. `names`: "0", "1.logits", ….
std::vector<c10::IValue> flatten(const c10::IValue& value, std::vector<std::string>* names = nullptr);

}  // namespace fullgraph::libtorch
