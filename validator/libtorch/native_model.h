// What a user's C++ module is wrapped in, so that `fullgraph-libtorch` can run it: this text is written beside the
// sources, compiled with them into a shared library, and loaded. Both sides include it, and both are built against the
// same libtorch.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <array>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace fullgraph::native {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

class Model {
 public:
  virtual ~Model() = default;
  virtual NamedTensors parameters() = 0;
  virtual NamedTensors buffers() = 0;
  virtual void set_training(bool training) = 0;
  virtual void move_to(at::Device device) = 0;
  virtual std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs) = 0;
};

// The function that the library exports; the caller owns the model.
using MakeModel = Model* (*)();
constexpr const char* make_model_name = "fullgraph_make_model";

// ---- what follows is used on the user's side only ---------------------------------------------------------------

inline void collect(std::vector<at::Tensor>& out, const at::Tensor& value) {
  out.push_back(value);
}
template <class T>
void collect(std::vector<at::Tensor>& out, const std::optional<T>& value);
template <class T>
void collect(std::vector<at::Tensor>& out, const std::vector<T>& values);
template <class T, std::size_t N>
void collect(std::vector<at::Tensor>& out, const std::array<T, N>& values);
template <class K, class T>
void collect(std::vector<at::Tensor>& out, const std::map<K, T>& values);
template <class... T>
void collect(std::vector<at::Tensor>& out, const std::tuple<T...>& values);
template <class A, class B>
void collect(std::vector<at::Tensor>& out, const std::pair<A, B>& values);

template <class T>
void collect(std::vector<at::Tensor>& out, const std::optional<T>& value) {
  if (value) collect(out, *value);
}
template <class T>
void collect(std::vector<at::Tensor>& out, const std::vector<T>& values) {
  for (const T& value : values) collect(out, value);
}
template <class T, std::size_t N>
void collect(std::vector<at::Tensor>& out, const std::array<T, N>& values) {
  for (const T& value : values) collect(out, value);
}
template <class K, class T>
void collect(std::vector<at::Tensor>& out, const std::map<K, T>& values) {
  for (const auto& entry : values) collect(out, entry.second);
}
template <class... T>
void collect(std::vector<at::Tensor>& out, const std::tuple<T...>& values) {
  std::apply([&](const auto&... value) { (collect(out, value), ...); }, values);
}
template <class A, class B>
void collect(std::vector<at::Tensor>& out, const std::pair<A, B>& values) {
  collect(out, values.first);
  collect(out, values.second);
}

template <class Module, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires(Module & module, const std::vector<at::Tensor>& inputs) {
    module.forward(at::Tensor(inputs[I])...);
  };
}

constexpr std::size_t most_inputs = 8;

// Calls forward with as many tensors as there are, when it can be called with that many.
template <std::size_t Count = 0, class Module>
std::vector<at::Tensor> call(Module& module, const std::vector<at::Tensor>& inputs) {
  if constexpr (Count > most_inputs) {
    throw std::runtime_error("`forward` cannot be called with " + std::to_string(inputs.size()) + " tensors");
  } else {
    if constexpr (takes<Module>(std::make_index_sequence<Count>())) {
      if (inputs.size() == Count) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
          std::vector<at::Tensor> out;
          collect(out, module.forward(at::Tensor(inputs[I])...));
          return out;
        }
        (std::make_index_sequence<Count>());
      }
    }
    return call<Count + 1>(module, inputs);
  }
}

// `Pointer` points to the module: a shared_ptr, or a holder that TORCH_MODULE made.
template <class Pointer>
class Wrapped final : public Model {
 public:
  explicit Wrapped(Pointer module) : module_(std::move(module)) {}

  NamedTensors parameters() override { return named(module_->named_parameters()); }
  NamedTensors buffers() override { return named(module_->named_buffers()); }
  void set_training(bool training) override { module_->train(training); }
  void move_to(at::Device device) override { module_->to(device); }
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs) override { return call(*module_, inputs); }

 private:
  template <class Dictionary>
  static NamedTensors named(const Dictionary& tensors) {
    NamedTensors out;
    for (const auto& entry : tensors) out.emplace_back(entry.key(), entry.value());
    return out;
  }

  Pointer module_;
};

template <class T>
concept Pointing = requires(T& value) {
  value->named_parameters();
};

template <class T>
Model* wrap(T module) {
  if constexpr (Pointing<T>) {
    return new Wrapped<T>(std::move(module));
  } else {
    return new Wrapped<std::shared_ptr<T>>(std::make_shared<T>(std::move(module)));
  }
}

}  // namespace fullgraph::native
