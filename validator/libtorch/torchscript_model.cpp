// TorchScript archives, through libtorch's own interpreter.
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include "validator/libtorch/failure.h"
#include "validator/libtorch/input_inference.h"
#include "validator/libtorch/model.h"

namespace fullgraph::libtorch {
namespace {

class TorchScriptModel final : public Model {
 public:
  explicit TorchScriptModel(torch::jit::Module module) : module_(std::move(module)) {
    if (!module_.find_method("forward")) throw Failure("the archive's module has no method `forward`");
    // A frozen module has lost the flag: it is what it was when it was frozen.
    has_modes_ = module_.hasattr("training");
  }

  NamedTensors parameters() override {
    NamedTensors out;
    for (const auto& parameter : module_.named_parameters()) out.emplace_back(parameter.name, parameter.value);
    return out;
  }
  NamedTensors buffers() override {
    NamedTensors out;
    for (const auto& buffer : module_.named_buffers()) out.emplace_back(buffer.name, buffer.value);
    return out;
  }
  [[nodiscard]] bool has_modes() const override { return has_modes_; }
  void set_training(bool training) override { module_.train(training); }
  [[nodiscard]] bool differentiable() const override { return true; }
  std::vector<c10::IValue> example_inputs() override { return infer_inputs(module_); }
  c10::IValue forward(std::vector<c10::IValue> inputs) override { return module_.forward(std::move(inputs)); }

 private:
  torch::jit::Module module_;
  bool has_modes_ = false;
};

}  // namespace

std::unique_ptr<Model> load_torchscript(const std::string& path, at::Device device) {
  return std::make_unique<TorchScriptModel>(torch::jit::load(path, device, /*load_debug_files=*/true));
}

}  // namespace fullgraph::libtorch
