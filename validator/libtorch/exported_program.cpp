// Archives that torch.export.save wrote: the graph from models/*.json, tensors from data/, run by a Plan.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "validator/libtorch/failure.h"
#include "validator/libtorch/graph_plan.h"
#include "validator/libtorch/model.h"
#include "validator/libtorch/tensor_file.h"
#include "validator/libtorch/tensor_spec.h"

namespace fullgraph::libtorch {
namespace {

using nlohmann::json;

class Archive {
 public:
  explicit Archive(const std::string& path) : reader_(path) {}

  // "model", or the only one that there is.
  std::string model_name() {
    std::vector<std::string> names;
    for (const std::string& record : reader_.getAllRecords()) {
      if (record.starts_with("models/") && record.ends_with(".json"))
        names.push_back(record.substr(7, record.size() - 12));
    }
    if (std::ranges::find(names, "model") != names.end()) return "model";
    if (names.size() != 1)
      throw Failure(fmt::format("the archive holds {} models and none called `model`", names.size()));
    return names.front();
  }

  std::vector<char> bytes(const std::string& record) {
    const auto [data, size] = reader_.getRecord(record);
    const auto* begin = static_cast<const char*>(data.get());
    return {begin, begin + size};
  }

  json parsed(const std::string& record) {
    const std::vector<char> text = bytes(record);
    return json::parse(text.begin(), text.end());
  }

  std::map<std::string, at::Tensor> tensors(const std::string& folder, const std::string& config, at::Device device) {
    std::map<std::string, at::Tensor> out;
    if (!reader_.hasRecord(folder + config)) return out;
    const json entries = parsed(folder + config).at("config");
    for (const auto& [name, entry] : entries.items()) {
      if (entry.at("tensor_meta").is_null()) continue;  // an object of a class: the graph's use of it says so
      out.emplace(name, tensor(folder, entry).to(device));
    }
    return out;
  }

  std::vector<c10::IValue> sample_inputs(const std::string& model) {
    const std::string record = "data/sample_inputs/" + model + ".pt";
    if (!reader_.hasRecord(record)) return {};
    try {
      return values_of_pickle(bytes(record));
    } catch (const std::exception&) {
      return {};  // objects of classes; the graph itself tells the shapes
    }
  }

 private:
  static std::int64_t size(const json& number) { return number.at("as_int").get<std::int64_t>(); }

  static std::vector<std::int64_t> sizes(const json& list) {
    std::vector<std::int64_t> out;
    for (const json& number : list) out.push_back(size(number));
    return out;
  }

  at::Tensor tensor(const std::string& folder, const json& entry) {
    const std::vector<char> raw = bytes(folder + entry.at("path_name").get<std::string>());
    if (entry.at("use_pickle").get<bool>()) {
      const std::vector<c10::IValue> values = values_of_pickle(raw);
      if (values.size() != 1 || !values[0].isTensor()) throw Failure("a weight is no tensor");
      return values[0].toTensor();
    }
    const json& meta = entry.at("tensor_meta");
    const at::ScalarType type = exported_scalar_type(meta.at("dtype").get<int>());
    const auto count = static_cast<std::int64_t>(raw.size() / at::elementSize(type));
    at::Tensor storage = at::empty({count}, type);
    std::memcpy(storage.mutable_data_ptr(), raw.data(), static_cast<std::size_t>(count) * at::elementSize(type));
    return storage.as_strided(sizes(meta.at("sizes")), sizes(meta.at("strides")), size(meta.at("storage_offset")))
        .clone();
  }

  caffe2::serialize::PyTorchStreamReader reader_;
};

// What an input of the graph is bound to.
struct Binding {
  at::Tensor tensor;  // a parameter, buffer or constant
  bool from_user = false;
  std::string name;      // of a user's input, in the graph
  c10::IValue constant;  // an input that was no tensor when the program was exported
};

class ExportedProgram final : public Model {
 public:
  ExportedProgram(const std::string& path, at::Device device) : archive_(path), device_(device) {
    name_ = archive_.model_name();
    const json program = archive_.parsed("models/" + name_ + ".json");
    const json& module = program.at("graph_module");
    graph_ = module.at("graph");
    plan_ = make_plan(graph_, device);
    bind(module.at("signature"));
  }

  NamedTensors parameters() override { return parameters_; }
  NamedTensors buffers() override { return buffers_; }
  [[nodiscard]] bool has_modes() const override { return false; }
  void set_training(bool) override {}
  [[nodiscard]] bool differentiable() const override { return true; }

  std::vector<c10::IValue> example_inputs() override {
    std::vector<c10::IValue> samples = archive_.sample_inputs(name_);
    const auto wanted = static_cast<std::size_t>(std::ranges::count_if(bindings_, &Binding::from_user));
    std::erase_if(samples, [](const c10::IValue& value) { return !value.isTensor() && !value.isScalar(); });
    if (samples.size() == wanted) return samples;
    // Numbers and flags are inputs only where they are dynamic.
    std::erase_if(samples, [](const c10::IValue& value) { return !value.isTensor(); });
    if (samples.size() == wanted) return samples;
    samples.clear();
    for (const Binding& binding : bindings_) {
      if (binding.from_user) samples.push_back(input_by_shape(binding.name));
    }
    return samples;
  }

  c10::IValue forward(std::vector<c10::IValue> inputs) override {
    const auto wanted = static_cast<std::size_t>(std::ranges::count_if(bindings_, &Binding::from_user));
    if (inputs.size() != wanted)
      throw Failure(fmt::format("the program takes {} inputs, and {} are given", wanted, inputs.size()));
    std::vector<c10::IValue> bound;
    auto next = inputs.begin();
    for (const Binding& binding : bindings_) {
      if (binding.from_user) {
        bound.push_back(*next++);
      } else {
        bound.push_back(binding.tensor.defined() ? c10::IValue(binding.tensor) : binding.constant);
      }
    }
    return user_outputs(run_plan(*plan_, std::move(bound)));
  }

 private:
  void bind(const json& signature) {
    std::map<std::string, at::Tensor> weights =
        archive_.tensors("data/weights/", name_ + "_weights_config.json", device_);
    weights.merge(archive_.tensors("data/constants/", name_ + "_constants_config.json", device_));
    const auto stored = [&](const std::string& name) {
      const auto found = weights.find(name);
      if (found == weights.end()) throw Failure(fmt::format("the archive lacks the tensor `{}`", name));
      return found->second;
    };
    for (const json& spec : signature.at("input_specs")) {
      const std::string& kind = spec.begin().key();
      const json& value = spec.begin().value();
      Binding binding;
      if (kind == "parameter") {
        const std::string name = value.at("parameter_name");
        binding.tensor = stored(name).set_requires_grad(requires_gradient(value.at("arg").at("name")));
        parameters_.emplace_back(name, binding.tensor);
      } else if (kind == "buffer") {
        const std::string name = value.at("buffer_name");
        binding.tensor = stored(name);
        buffers_.emplace_back(name, binding.tensor);
      } else if (kind == "tensor_constant") {
        binding.tensor = stored(value.at("tensor_constant_name"));
      } else if (kind == "user_input" && value.at("arg").begin().value().is_object()) {
        const json& argument = value.at("arg").begin().value();
        binding.from_user = true;
        binding.name = argument.value("name", argument.value("as_name", ""));
      } else if (kind != "user_input" && kind != "constant_input") {
        throw Failure(fmt::format("the program takes an input of a kind (`{}`) that is not supported", kind));
      }
      bindings_.push_back(std::move(binding));
    }
    for (const json& spec : signature.at("output_specs")) outputs_.push_back(spec);
  }

  [[nodiscard]] bool requires_gradient(const std::string& name) const {
    const json& values = graph_.at("tensor_values");
    return values.contains(name) && values.at(name).value("requires_grad", true);
  }

  // The shape that the program was exported with; what is dynamic has the size it had then.
  [[nodiscard]] c10::IValue input_by_shape(const std::string& name) const {
    if (!graph_.at("tensor_values").contains(name)) return std::int64_t{2};
    const json& meta = graph_.at("tensor_values").at(name);
    std::vector<std::int64_t> shape;
    for (const json& size : meta.at("sizes")) {
      if (size.contains("as_int")) {
        shape.push_back(size.at("as_int").get<std::int64_t>());
        continue;
      }
      const json& expression = size.at("as_expr");
      const bool has_hint = expression.contains("hint") && expression.at("hint").is_object();
      shape.push_back(has_hint ? expression.at("hint").value("as_int", std::int64_t{2}) : 2);
    }
    return random_tensor(exported_scalar_type(meta.at("dtype").get<int>()), shape);
  }

  // Functional programs return new values of buffers among their outputs.
  c10::IValue user_outputs(const std::vector<c10::IValue>& results) {
    std::vector<c10::IValue> out;
    const at::NoGradGuard no_gradients;
    for (std::size_t index = 0; index < results.size(); ++index) {
      const json spec = index < outputs_.size() ? outputs_[index] : json{{"user_output", nullptr}};
      const std::string& kind = spec.begin().key();
      if (kind == "user_output" || kind == "loss_output") {
        out.push_back(results[index]);
      } else if (kind == "buffer_mutation") {
        const std::string name = spec.at(kind).at("buffer_name");
        for (auto& [buffer, tensor] : buffers_) {
          if (buffer == name) tensor.copy_(results[index].toTensor());
        }
      }
    }
    return out.size() == 1 ? out.front() : c10::IValue(c10::ivalue::Tuple::create(std::move(out)));
  }

  Archive archive_;
  at::Device device_;
  std::string name_;
  json graph_;
  std::shared_ptr<const Plan> plan_;
  std::vector<Binding> bindings_;
  std::vector<json> outputs_;
  NamedTensors parameters_;
  NamedTensors buffers_;
};

}  // namespace

std::unique_ptr<Model> load_exported_program(const std::string& path, at::Device device) {
  try {
    return std::make_unique<ExportedProgram>(path, device);
  } catch (const nlohmann::json::exception& error) {
    throw Failure(
        fmt::format("the exported program is damaged, or of a version that is not supported: {}", error.what()));
  }
}

}  // namespace fullgraph::libtorch
