#include "validator/libtorch/compare.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "validator/libtorch/failure.h"
#include "validator/libtorch/tensor_file.h"
#include "validator/libtorch/tensor_spec.h"

namespace fullgraph::libtorch {
namespace {

using Json = nlohmann::ordered_json;

struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

// The defaults of torch.testing.assert_close.
Tolerance default_tolerance(at::ScalarType type) {
  switch (c10::toRealValueType(type)) {
    case at::kHalf:
      return {1e-3, 1e-5};
    case at::kBFloat16:
      return {1.6e-2, 1e-5};
    case at::kFloat:
      return {1.3e-6, 1e-5};
    case at::kDouble:
      return {1e-7, 1e-7};
    default:
      return {0, 0};
  }
}

// Numbers that can be subtracted.
at::Tensor widened(const at::Tensor& tensor) {
  return tensor.to(at::isComplexType(tensor.scalar_type()) ? at::kComplexDouble : at::kDouble);
}

class Comparison {
 public:
  explicit Comparison(const Json& request) : request_(request) {}

  // {"verdict": "equal", "differs", "reshaped", and how far off}
  [[nodiscard]] Json tensors(const at::Tensor& before, const at::Tensor& after) const {
    if (!before.sizes().equals(after.sizes()) || before.scalar_type() != after.scalar_type())
      return {{"verdict", "reshaped"}, {"before", describe(before)}, {"after", describe(after)}};
    const Tolerance tolerance = tolerance_for(before.scalar_type());
    const at::Tensor a = widened(before);
    const at::Tensor b = widened(after);
    // A value that is not a number on both sides is no difference.
    const at::Tensor close = at::isclose(b, a, tolerance.relative, tolerance.absolute, /*equal_nan=*/true);
    Json out = {{"verdict", close.all().item<bool>() ? "equal" : "differs"},
                {"relative_tolerance", tolerance.relative},
                {"absolute_tolerance", tolerance.absolute}};
    if (before.numel() == 0) return out;
    const at::Tensor difference = at::nan_to_num((b - a).abs(), 0.0);
    out["largest_difference"] = difference.max().item<double>();
    const at::Tensor scale = a.abs().max();
    out["largest_value"] = at::nan_to_num(scale, 0.0).item<double>();
    out["differing"] = before.numel() - close.sum().item<std::int64_t>();
    out["elements"] = before.numel();
    return out;
  }

 private:
  [[nodiscard]] Tolerance tolerance_for(at::ScalarType type) const {
    Tolerance out = default_tolerance(type);
    if (request_.contains("rtol")) out.relative = request_.at("rtol").get<double>();
    if (request_.contains("atol")) out.absolute = request_.at("atol").get<double>();
    return out;
  }

  const Json& request_;
};

// The tensors of one run, in the order in which they were written: that of the model.
struct Side {
  NamedTensors tensors;
  std::map<std::string, const at::Tensor*> by_name;

  explicit Side(const std::string& file) : tensors(load_tensors(file)) {
    for (const auto& [name, tensor] : tensors) by_name.emplace(name, &tensor);
  }
  [[nodiscard]] const at::Tensor* find(const std::string& name) const {
    const auto found = by_name.find(name);
    return found == by_name.end() ? nullptr : found->second;
  }
};

// Names below "train/output/" and the like, of both sides.
std::vector<std::string> names_below(const std::string& prefix, const Side& before, const Side& after) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : before.tensors) {
    if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
  }
  for (const auto& [name, tensor] : after.tensors) {
    if (name.starts_with(prefix) && before.find(name) == nullptr) names.push_back(name.substr(prefix.size()));
  }
  return names;
}

Json compare_below(const std::string& prefix, const Side& before, const Side& after, const Comparison& comparison) {
  Json out = Json::array();
  for (const std::string& name : names_below(prefix, before, after)) {
    const at::Tensor* a = before.find(prefix + name);
    const at::Tensor* b = after.find(prefix + name);
    Json entry = a == nullptr   ? Json{{"verdict", "gained"}}
                 : b == nullptr ? Json{{"verdict", "lost"}}
                                : comparison.tensors(*a, *b);
    entry["name"] = name;
    out.push_back(std::move(entry));
  }
  return out;
}

bool same_tensors(const NamedTensors& one, const NamedTensors& other) {
  return std::ranges::equal(one, other, [](const auto& a, const auto& b) {
    if (a.first != b.first || a.second.defined() != b.second.defined()) return false;
    return !a.second.defined() ||
           (a.second.sizes().equals(b.second.sizes()) &&
            at::isclose(a.second, b.second, 0, 0, /*equal_nan=*/true).all().template item<bool>());
  });
}

}  // namespace

Json compare(const Json& request) {
  const Side before(request.at("before").get<std::string>());
  const Side after(request.at("after").get<std::string>());
  const Comparison comparison(request);
  std::set<std::string> modes;
  for (const Side* side : {&before, &after}) {
    for (const auto& [name, tensor] : side->tensors) {
      const std::string mode = name.substr(0, name.find('/'));
      if (mode != "parameter" && mode != "buffer" && mode != "input") modes.insert(mode);
    }
  }
  Json out = {{"status", "compared"}, {"modes", Json::object()}};
  for (const std::string& mode : modes) {
    out["modes"][mode] = {{"outputs", compare_below(mode + "/output/", before, after, comparison)},
                          {"gradients", compare_below(mode + "/gradient/", before, after, comparison)}};
  }
  return out;
}

bool same(const StepResult& one, const StepResult& other) {
  return same_tensors(one.outputs, other.outputs) && same_tensors(one.gradients, other.gradients);
}

}  // namespace fullgraph::libtorch
