#include "validator/libtorch/measure.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "validator/libtorch/archive.h"
#include "validator/libtorch/clock.h"
#include "validator/libtorch/compare.h"
#include "validator/libtorch/cuda_graph.h"
#include "validator/libtorch/device.h"
#include "validator/libtorch/failure.h"
#include "validator/libtorch/step.h"
#include "validator/libtorch/tensor_file.h"
#include "validator/libtorch/tensor_spec.h"

namespace fullgraph::libtorch {
namespace {

using Json = nlohmann::ordered_json;

struct Loaded {
  std::string kind;
  std::unique_ptr<Model> model;
};

Loaded load(const std::string& path, bool native, at::Device device) {
  if (native) return {"c++", load_native(path, device)};
  switch (identify_archive(path)) {
    case ArchiveKind::TorchScript:
      return {"torchscript", load_torchscript(path, device)};
    case ArchiveKind::ExportedProgram:
      return {"exported-program", load_exported_program(path, device)};
    case ArchiveKind::AotInductor:
      return {"aotinductor", load_aotinductor(path, device)};
  }
  throw Failure("an archive of an unknown kind");
}

struct Inputs {
  std::vector<c10::IValue> values;
  std::string from;  // "option", "file", "model", "other side"
};

// What the other side ran with, so that both see the same; nothing: not all of it was tensors.
std::vector<c10::IValue> inputs_of_other(const std::string& file) {
  std::vector<c10::IValue> out;
  if (file.empty()) return out;
  for (auto& [name, tensor] : load_tensors(file)) {
    if (name.starts_with("input/")) out.emplace_back(tensor);
  }
  return out;
}

Inputs make_inputs(const Json& request, Model& model, std::uint64_t seed, at::Device device) {
  Inputs out;
  at::manual_seed(seed);
  if (const std::string file = request.value("inputs_file", ""); !file.empty()) {
    out = {load_values(file), "file"};
  } else if (const Json specs = request.value("inputs", Json::array()); !specs.empty()) {
    out.from = "option";
    for (const Json& spec : specs) out.values.push_back(make_input(spec.get<std::string>()));
  } else if (out.values = inputs_of_other(request.value("weights_from", "")); !out.values.empty()) {
    out.from = "other side";
  } else {
    out = {model.example_inputs(), "model"};
  }
  for (c10::IValue& value : out.values) {
    if (!value.isTensor()) continue;
    const bool wants_gradient = value.toTensor().requires_grad();
    value = value.toTensor().detach().to(device).set_requires_grad(wants_gradient);
  }
  return out;
}

// Gives this model the weights of the one that it is compared with, so that what differs is the code. Says which it has
// in common and which it lacks.
Json adopt_weights(const std::string& file, Model& model) {
  std::map<std::string, at::Tensor> stored;
  for (auto& [name, tensor] : load_tensors(file)) stored.emplace(name, tensor);
  Json changed = Json::array();
  Json alone = Json::array();
  const at::NoGradGuard no_gradients;
  const auto adopt = [&](const std::string& prefix, const NamedTensors& tensors) {
    for (const auto& [name, tensor] : tensors) {
      const auto found = stored.find(prefix + name);
      if (found == stored.end() || !found->second.sizes().equals(tensor.sizes())) {
        alone.push_back(name);
        continue;
      }
      const at::Tensor source = found->second.to(tensor.options().requires_grad(false));
      if (!at::equal(source, tensor)) changed.push_back(name);
      tensor.detach().copy_(source);
    }
  };
  adopt("parameter/", model.parameters());
  adopt("buffer/", model.buffers());
  return {{"changed", std::move(changed)}, {"alone", std::move(alone)}};
}

class Measurement {
 public:
  Measurement(const Json& request, Model& model, at::Device device, Progress& progress)
      : model_(model),
        device_(device),
        progress_(progress),
        seed_(request.value("seed", std::uint64_t{0})),
        modes_(request.value("modes", std::vector<std::string>{"train", "eval"})),
        clock_{.warm_up = request.value("warm_up", 3),
               .repeats = request.value("repeats", 11),
               .budget_seconds = request.value("budget_seconds", 10.0)},
        inputs_(make_inputs(request, model, seed_, device)) {
    for (const auto& [name, buffer] : model.buffers()) first_buffers_.push_back(buffer.detach().clone());
  }

  Json run() {
    Json modes;
    for (const auto& name : mode_names()) {
      if (model_.has_modes()) model_.set_training(name == "train");
      modes[name] = mode(name);
    }
    return modes;
  }

  [[nodiscard]] const Inputs& inputs() const { return inputs_; }
  [[nodiscard]] const NamedTensors& tensors() const { return tensors_; }
  Json cuda_graph() {
    model_.set_training(false);
    restore();
    const Capture capture = capture_forward(model_, inputs_.values, device_);
    return {{"state", capture.state}, {"message", capture.message}};
  }

 private:
  std::vector<std::string> mode_names() const {
    if (!model_.has_modes()) return {"as-saved"};
    std::vector<std::string> out = {"train", "eval"};
    std::erase_if(out, [&](const std::string& name) { return std::ranges::find(modes_, name) == modes_.end(); });
    return out;
  }

  // Running statistics and the like change with each step.
  void restore() {
    const at::NoGradGuard no_gradients;
    const NamedTensors buffers = model_.buffers();
    for (std::size_t index = 0; index < buffers.size() && index < first_buffers_.size(); ++index)
      buffers[index].second.detach().copy_(first_buffers_[index]);
    drop_gradients(model_);
  }

  Json mode(const std::string& name) {
    Json out;
    try {
      progress_.enter(name + ": forward and backward");
      compare_steps(name, out);
      progress_.enter(name + ": timing");
      reset_peak_memory(device_);
      out["latency_ms"] = latency(name);
      out["peak_memory_bytes"] = peak_memory(device_);
    } catch (const std::exception& error) {
      out = {{"error", message_of(error)}, {"stage", progress_.stage()}};
    }
    return out;
  }

  // The step that is compared with the other side's, and once more to see whether it comes out the same.
  void compare_steps(const std::string& name, Json& out) {
    restore();
    const StepResult step = run_step(model_, inputs_.values, seed_);
    restore();
    const StepResult again = run_step(model_, inputs_.values, seed_);
    out["deterministic"] = same(step, again);
    out["outputs"] = describe_outputs(name, step);
    out["backward"] = step.reached_backward;
    out["gradients"] = describe_gradients(name, step);
    out["hooks"] = {{"registered", step.hooks.registered}, {"ran", step.hooks.ran}};
  }

  Json latency(const std::string& name) {
    Json out;
    const auto prepare = [&] { drop_gradients(model_); };
    if (name != "train") {
      out["forward"] = time_work(
          prepare, [&] { run_bare_step(model_, inputs_.values, seed_, false); }, device_, clock_);
    }
    if (name != "eval" && model_.differentiable())
      out["step"] = time_work(
          prepare, [&] { run_bare_step(model_, inputs_.values, seed_, true); }, device_, clock_);
    restore();
    return out;
  }

  // On the host: the device's memory is the model's.
  void keep(std::string name, const at::Tensor& tensor) { tensors_.emplace_back(std::move(name), tensor.to(at::kCPU)); }

  Json describe_outputs(const std::string& mode, const StepResult& step) {
    Json out = Json::array();
    for (const auto& [name, tensor] : step.outputs) {
      keep(mode + "/output/" + name, tensor);
      out.push_back({{"name", name}, {"type", describe(tensor)}});
    }
    return out;
  }

  Json describe_gradients(const std::string& mode, const StepResult& step) {
    if (!model_.differentiable()) return nullptr;
    std::map<std::string, bool> trains;
    for (const auto& [name, parameter] : model_.parameters()) trains[name] = parameter.requires_grad();
    Json out = Json::array();
    for (const auto& [name, gradient] : step.gradients) {
      Json entry = {{"name", name}, {"state", gradient.defined() ? "present" : trains[name] ? "none" : "frozen"}};
      if (gradient.defined()) {
        keep(mode + "/gradient/" + name, gradient);
        entry["norm"] = gradient.to(at::kDouble).norm().item<double>();
      }
      out.push_back(std::move(entry));
    }
    return out;
  }

  Model& model_;
  at::Device device_;
  Progress& progress_;
  std::uint64_t seed_;
  std::vector<std::string> modes_;
  ClockOptions clock_;
  Inputs inputs_;
  std::vector<at::Tensor> first_buffers_;
  NamedTensors tensors_;
};

Json describe_parameters(Model& model) {
  Json out = Json::array();
  for (const auto& [name, parameter] : model.parameters())
    out.push_back({{"name", name}, {"type", describe(parameter)}, {"requires_grad", parameter.requires_grad()}});
  return out;
}

// All of them, or none where some are no tensors. They require no gradients: the file of tensors does not keep that.
NamedTensors inputs_to_share(const std::vector<c10::IValue>& values) {
  NamedTensors out;
  for (const c10::IValue& value : values) {
    if (!value.isTensor() || value.toTensor().requires_grad()) return {};
    out.emplace_back("input/" + std::to_string(out.size()), value.toTensor());
  }
  return out;
}

NamedTensors weights_of(Model& model) {
  NamedTensors out;
  for (const auto& [name, parameter] : model.parameters()) out.emplace_back("parameter/" + name, parameter);
  for (const auto& [name, buffer] : model.buffers()) out.emplace_back("buffer/" + name, buffer);
  return out;
}

}  // namespace

Json measure(const Json& request, Progress& progress) {
  progress.enter("loading");
  const at::Device device = choose_device(request.value("device", "auto"));
  at::manual_seed(request.value("seed", std::uint64_t{0}));  // a C++ module draws its weights when it is made
  const Loaded loaded = load(request.at("model").get<std::string>(), request.value("native", false), device);
  Json out = {{"status", "measured"}, {"kind", loaded.kind}, {"device", device.str()}};
  NamedTensors tensors;
  if (const std::string other = request.value("weights_from", ""); !other.empty()) {
    out["weights"] = adopt_weights(other, *loaded.model);
  } else {
    for (const auto& [name, tensor] : weights_of(*loaded.model))
      tensors.emplace_back(
          name, tensor.detach().to(tensor.options().device(at::kCPU).requires_grad(false), false, /*copy=*/true));
  }
  out["parameters"] = describe_parameters(*loaded.model);

  progress.enter("making inputs");
  Measurement measurement(request, *loaded.model, device, progress);
  out["modes"] = measurement.run();
  progress.enter("capture into a CUDA graph");
  out["cuda_graph"] = measurement.cuda_graph();
  out["inputs"] = Json::array();
  for (const c10::IValue& value : measurement.inputs().values) out["inputs"].push_back(describe(value));
  out["inputs_from"] = measurement.inputs().from;

  const NamedTensors inputs = inputs_to_share(measurement.inputs().values);
  tensors.insert(tensors.end(), inputs.begin(), inputs.end());
  tensors.insert(tensors.end(), measurement.tensors().begin(), measurement.tensors().end());
  save_tensors(request.at("tensors").get<std::string>(), tensors);
  return out;
}

}  // namespace fullgraph::libtorch
