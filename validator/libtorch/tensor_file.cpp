#include "validator/libtorch/tensor_file.h"

#include <fmt/format.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <fstream>
#include <iterator>

#include "validator/libtorch/failure.h"

namespace fullgraph::libtorch {
namespace {

constexpr int deepest_value = 100;

std::string key_text(const c10::IValue& key) {
  if (key.isString()) return key.toStringRef();
  if (key.isInt()) return std::to_string(key.toInt());
  return key.tagKind();
}

void flatten_into(const c10::IValue& value, const std::string& name, std::vector<c10::IValue>& out,
                  std::vector<std::string>* names, int depth) {
  if (depth > deepest_value) throw Failure("a value is nested too deeply");
  const auto child = [&](const std::string& part) { return name.empty() ? part : name + "." + part; };
  if (value.isTuple() || value.isList()) {
    std::size_t index = 0;
    const c10::ArrayRef<c10::IValue> elements =
        value.isTuple() ? value.toTupleRef().elements().asArrayRef() : value.toListRef();
    for (const c10::IValue& element : elements)
      flatten_into(element, child(std::to_string(index++)), out, names, depth + 1);
    return;
  }
  if (value.isTensorList()) {
    std::size_t index = 0;
    for (const at::Tensor& element : value.toTensorVector())
      flatten_into(element, child(std::to_string(index++)), out, names, depth + 1);
    return;
  }
  if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict())
      flatten_into(entry.value(), child(key_text(entry.key())), out, names, depth + 1);
    return;
  }
  out.push_back(value);
  if (names != nullptr) names->push_back(name.empty() ? "0" : name);
}

std::vector<char> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Failure(fmt::format("{}: cannot be read", path));
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::vector<c10::IValue> flatten(const c10::IValue& value, std::vector<std::string>* names) {
  std::vector<c10::IValue> out;
  flatten_into(value, "", out, names, 0);
  return out;
}

std::vector<c10::IValue> values_of_pickle(const std::vector<char>& bytes) {
  return flatten(torch::jit::pickle_load(bytes));
}

std::vector<c10::IValue> load_values(const std::string& path) {
  const std::vector<char> bytes = read_bytes(path);
  try {
    return values_of_pickle(bytes);
  } catch (const std::exception&) {
    throw Failure(
        fmt::format("{}: not a tensor, or a tuple, list or dictionary of tensors, that `torch.save` wrote", path));
  }
}

void save_tensors(const std::string& path, const NamedTensors& tensors) {
  c10::Dict<std::string, at::Tensor> dictionary;
  for (const auto& [name, tensor] : tensors) dictionary.insert(name, tensor.detach().to(at::kCPU).contiguous());
  const std::vector<char> bytes = torch::jit::pickle_save(dictionary);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw Failure(fmt::format("{}: cannot be written", path));
}

NamedTensors load_tensors(const std::string& path) {
  std::vector<std::string> names;
  const std::vector<c10::IValue> values = flatten(torch::jit::pickle_load(read_bytes(path)), &names);
  NamedTensors out;
  for (std::size_t index = 0; index < values.size(); ++index) out.emplace_back(names[index], values[index].toTensor());
  return out;
}

}  // namespace fullgraph::libtorch
