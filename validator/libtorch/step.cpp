#include "validator/libtorch/step.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include "validator/libtorch/failure.h"
#include "validator/libtorch/tensor_file.h"

namespace fullgraph::libtorch {
namespace {

NamedTensors tensors_in(const c10::IValue& value) {
  std::vector<std::string> names;
  const std::vector<c10::IValue> values = flatten(value, &names);
  NamedTensors out;
  for (std::size_t index = 0; index < values.size(); ++index) {
    if (values[index].isTensor() && values[index].toTensor().defined()) {
      out.emplace_back(names[index], values[index].toTensor());
    } else if (values[index].isScalar()) {
      out.emplace_back(names[index], at::scalar_tensor(values[index].toScalar(), at::kDouble));
    }
  }
  return out;
}

std::vector<at::Tensor> with_gradient(const NamedTensors& outputs) {
  std::vector<at::Tensor> out;
  for (const auto& [name, tensor] : outputs) {
    if (tensor.requires_grad()) out.push_back(tensor);
  }
  return out;
}

std::vector<at::Tensor> loss_weights(const std::vector<at::Tensor>& outputs) {
  std::vector<at::Tensor> out;
  for (const at::Tensor& output : outputs) {
    const at::Tensor places = at::arange(output.numel(), output.options().dtype(at::kDouble).requires_grad(false));
    out.push_back(places.cos().view(output.sizes()).to(output.scalar_type()));
  }
  return out;
}

// Fresh tensors each time: a model may write to its inputs, or mark them.
std::vector<c10::IValue> copies(const std::vector<c10::IValue>& inputs) {
  std::vector<c10::IValue> out = inputs;
  for (c10::IValue& input : out) {
    if (!input.isTensor()) continue;
    const at::Tensor& tensor = input.toTensor();
    input = tensor.detach().clone().set_requires_grad(tensor.requires_grad());
  }
  return out;
}

void backward(const std::vector<at::Tensor>& outputs) {
  torch::autograd::backward(outputs, loss_weights(outputs));
}

}  // namespace

void drop_gradients(Model& model) {
  for (const auto& [name, parameter] : model.parameters()) parameter.mutable_grad().reset();
}

StepResult run_step(Model& model, const std::vector<c10::IValue>& inputs, std::uint64_t seed) {
  drop_gradients(model);
  at::manual_seed(seed);
  StepResult out;
  out.outputs = tensors_in(model.forward(copies(inputs)));
  if (const std::vector<at::Tensor> ends = with_gradient(out.outputs); !ends.empty() && model.differentiable()) {
    out.reached_backward = true;
    const HookCounter hooks(ends);
    backward(ends);
    out.hooks = hooks.count();
  }
  for (auto& [name, tensor] : out.outputs) tensor = tensor.detach().clone();
  for (const auto& [name, parameter] : model.parameters())
    out.gradients.emplace_back(name, parameter.grad().defined() ? parameter.grad().detach().clone() : at::Tensor());
  drop_gradients(model);
  return out;
}

void run_bare_step(Model& model, const std::vector<c10::IValue>& inputs, std::uint64_t seed, bool with_backward) {
  at::manual_seed(seed);
  const at::AutoGradMode mode(with_backward);
  const c10::IValue output = model.forward(copies(inputs));
  if (!with_backward) return;
  if (const std::vector<at::Tensor> ends = with_gradient(tensors_in(output)); !ends.empty()) backward(ends);
}

}  // namespace fullgraph::libtorch
