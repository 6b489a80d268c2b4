// AOTInductor packages: compiled for inference, so there are outputs and latency and no gradients.
#include <ATen/core/grad_mode.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include "validator/libtorch/model.h"

namespace fullgraph::libtorch {
namespace {

class AotInductorModel final : public Model {
 public:
  AotInductorModel(const std::string& path, at::Device device)
      : loader_(path, "model", /*run_single_threaded=*/false, /*num_runners=*/1,
                device.has_index() ? device.index() : c10::DeviceIndex{-1}) {}

  NamedTensors parameters() override { return {}; }
  NamedTensors buffers() override { return {}; }
  [[nodiscard]] bool has_modes() const override { return false; }
  void set_training(bool) override {}
  [[nodiscard]] bool differentiable() const override { return false; }

  std::vector<c10::IValue> example_inputs() override { ask_for_inputs("a compiled package"); }

  c10::IValue forward(std::vector<c10::IValue> inputs) override {
    const at::NoGradGuard no_gradients;
    return loader_.run(only_tensors(inputs, "a compiled package"));
  }

 private:
  torch::inductor::AOTIModelPackageLoader loader_;
};

}  // namespace

std::unique_ptr<Model> load_aotinductor(const std::string& path, at::Device device) {
  return std::make_unique<AotInductorModel>(path, device);
}

}  // namespace fullgraph::libtorch
