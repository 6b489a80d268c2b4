// What can be run: one interface for TorchScript, exported programs, AOTInductor packages and compiled C++ modules, so
// that measuring and comparing know nothing of formats.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fullgraph::libtorch {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

class Model {
 public:
  virtual ~Model() = default;

  // The modules' own tensors: what is written to them changes what forward() does.
  virtual NamedTensors parameters() = 0;
  virtual NamedTensors buffers() = 0;

  // Whether training and evaluation can differ. An exported program is what it was when it was exported.
  [[nodiscard]] virtual bool has_modes() const = 0;
  virtual void set_training(bool training) = 0;
  // False: outputs and latency only.
  [[nodiscard]] virtual bool differentiable() const = 0;

  // Inputs of the kinds and shapes that the model itself tells of, on the CPU. Failure: it tells too little; the
  // message names the input and the option that helps.
  virtual std::vector<c10::IValue> example_inputs() = 0;
  virtual c10::IValue forward(std::vector<c10::IValue> inputs) = 0;
};

// For models that take nothing but tensors; `what` names the model in the message.
std::vector<at::Tensor> only_tensors(const std::vector<c10::IValue>& inputs, const std::string& what);
// For models that keep nothing of their inputs.
[[noreturn]] void ask_for_inputs(const std::string& what);

std::unique_ptr<Model> load_torchscript(const std::string& path, at::Device device);
std::unique_ptr<Model> load_exported_program(const std::string& path, at::Device device);
std::unique_ptr<Model> load_aotinductor(const std::string& path, at::Device device);
// A shared library built from a user's sources and native_model.h.
std::unique_ptr<Model> load_native(const std::string& path, at::Device device);

}  // namespace fullgraph::libtorch
