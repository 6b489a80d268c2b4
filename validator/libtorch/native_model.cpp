// C++ modules: a shared library built from the user's sources, loaded into this process.
#include "validator/libtorch/native_model.h"

#include <dlfcn.h>

#include "validator/libtorch/failure.h"
#include "validator/libtorch/model.h"

namespace fullgraph::libtorch {
namespace {

class NativeModel final : public Model {
 public:
  NativeModel(std::unique_ptr<native::Model> model, at::Device device) : model_(std::move(model)) {
    model_->move_to(device);
  }

  NamedTensors parameters() override { return model_->parameters(); }
  NamedTensors buffers() override { return model_->buffers(); }
  [[nodiscard]] bool has_modes() const override { return true; }
  void set_training(bool training) override { model_->set_training(training); }
  [[nodiscard]] bool differentiable() const override { return true; }

  std::vector<c10::IValue> example_inputs() override { ask_for_inputs("a C++ module"); }

  c10::IValue forward(std::vector<c10::IValue> inputs) override {
    return model_->forward(only_tensors(inputs, "a C++ module"));
  }

 private:
  std::unique_ptr<native::Model> model_;
};

}  // namespace

std::unique_ptr<Model> load_native(const std::string& path, at::Device device) {
  // Never closed: what the library registered with libtorch stays there.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Failure(dlerror());
  const auto make = reinterpret_cast<native::MakeModel>(dlsym(library, native::make_model_name));
  if (make == nullptr) throw Failure(dlerror());
  return std::make_unique<NativeModel>(std::unique_ptr<native::Model>(make()), device);
}

}  // namespace fullgraph::libtorch
