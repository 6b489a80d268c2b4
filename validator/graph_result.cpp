// What the libtorch worker says of one model and of two, as the result that reports are made of.
#include "validator/graph_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace fullgraph::validator {
namespace {

using nlohmann::json;

std::string names_of(const json& names) {
  constexpr std::size_t most = 6;
  std::string out;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    out += (i == 0 ? "" : ", ") + names[i].get<std::string>();
  if (names.size() > most) out += fmt::format(" and {} more", names.size() - most);
  return out;
}

void add_gradients(Side& out, const json& ran) {
  if (ran.at("gradients").is_null()) {
    out.notes.emplace_back("compiled for inference: outputs and latency only");
    return;
  }
  for (const json& gradient : ran.at("gradients")) {
    const std::string state = gradient.at("state");
    if (state == "frozen") continue;
    Gradient one{.name = gradient.at("name"), .norm = {}};
    if (state == "present") one.norm = gradient.at("norm").is_number() ? gradient.at("norm").get<double>() : 0.0;
    out.gradients.push_back(std::move(one));
  }
  if (!ran.at("backward").get<bool>() && !out.gradients.empty())
    out.notes.emplace_back("no output needs a gradient: there is nothing to train");
}

void add_costs(Side& out, const json& result, const json& ran) {
  const json latency = ran.value("latency_ms", json::object());
  for (const char* work : {"step", "forward"}) {
    if (!latency.is_object() || !latency.contains(work) || latency.at(work).is_null()) continue;
    const json& time = latency.at(work);
    constexpr double millisecond = 1e-3;
    out.eager_time = Duration{.median = time.at("median").get<double>() * millisecond,
                              .low = time.at("low").get<double>() * millisecond,
                              .high = time.at("high").get<double>() * millisecond,
                              .runs = static_cast<unsigned>(time.at("samples").size())};
    break;
  }
  if (const auto peak = ran.at("peak_memory_bytes").get<std::uint64_t>(); peak != 0) out.peak_memory = peak;
  const json& capture = result.at("cuda_graph");
  if (capture.at("state") == "captured") out.notes.emplace_back("can be captured into a CUDA graph");
  if (capture.at("state") == "failed")
    out.notes.push_back("cannot be captured into a CUDA graph: " + capture.at("message").get<std::string>());
}

Compared compared_tensor(const json& tensor, bool gradient) {
  static const std::map<std::string, Equality> equalities = {{"equal", Equality::Equal},
                                                             {"differs", Equality::Differs},
                                                             {"reshaped", Equality::Shape},
                                                             {"lost", Equality::Lost},
                                                             {"gained", Equality::Appeared}};
  Compared out;
  out.name = (gradient ? "grad " : "output.") + tensor.at("name").get<std::string>();
  out.gradient = gradient;
  const auto found = equalities.find(tensor.at("verdict").get<std::string>());
  out.equality = found == equalities.end() ? Equality::Differs : found->second;
  if (tensor.contains("largest_difference")) {
    out.largest = tensor.at("largest_difference").get<double>();
    out.allowed = tensor.at("absolute_tolerance").get<double>() +
                  tensor.at("relative_tolerance").get<double>() * tensor.at("largest_value").get<double>();
  }
  return out;
}

// What is no tensor and can get lost all the same.
void add_lost_abilities(Comparison& out, const json& before, const json& after, const std::string& mode) {
  const auto hooks = [&](const json& side) {
    const json& ran = side.at("modes").value(mode, json::object());
    return ran.contains("hooks") ? ran.at("hooks").at("ran").get<std::int64_t>() : 0;
  };
  if (hooks(before) != hooks(after))
    out.others.push_back(fmt::format("{} hooks on gradients ran before, {} after", hooks(before), hooks(after)));
  if (before.at("cuda_graph").at("state") == "captured" && after.at("cuda_graph").at("state") == "failed")
    out.others.emplace_back("it can no longer be captured into a CUDA graph");
}

bool has_gradients(const json& side, const std::string& mode) {
  return !side.at("modes").at(mode).at("gradients").is_null();
}

}  // namespace

bool has_mode(const Measured& measured, const std::string& mode) {
  return measured.result && measured.result->at("modes").contains(mode);
}

bool ran_in(const Measured& measured, const std::string& mode) {
  return has_mode(measured, mode) && !measured.result->at("modes").at(mode).contains("error");
}

Side side_of(const Measured& measured, const std::string& mode) {
  Side out;
  out.failure = measured.failure;
  out.skipped = measured.skipped;
  if (!measured.result) return out;
  if (!has_mode(measured, mode)) {
    out.skipped = "this model has no such mode";
    return out;
  }
  const json& ran = measured.result->at("modes").at(mode);
  if (ran.contains("error")) {
    out.failure = Failure{.kind = FailureKind::Raised,
                          .stage = ran.value("stage", ""),
                          .message = ran.at("error").get<std::string>(),
                          .where = "",
                          .output = ""};
    return out;
  }
  add_gradients(out, ran);
  add_costs(out, *measured.result, ran);
  if (const json& hooks = ran.at("hooks"); hooks.at("registered") != 0)
    out.hooks.push_back({.kind = "gradient", .module = "", .calls = hooks.at("ran").get<unsigned>()});
  if (!ran.at("deterministic").get<bool>())
    out.notes.emplace_back("two steps with the same seed differ: so may the comparison");
  return out;
}

Comparison change_of(const json& before, const json& after, const json& comparison, const std::string& mode) {
  Comparison out;
  if (!comparison.at("modes").contains(mode)) {
    out.note = "nothing to compare";
    return out;
  }
  const json& compared = comparison.at("modes").at(mode);
  for (const json& tensor : compared.at("outputs")) out.tensors.push_back(compared_tensor(tensor, false));
  if (has_gradients(before, mode) && has_gradients(after, mode)) {
    for (const json& tensor : compared.at("gradients")) out.tensors.push_back(compared_tensor(tensor, true));
  } else {
    out.note = "gradients are not compared: what is compiled for inference has none";
  }
  add_lost_abilities(out, before, after, mode);
  const json weights = after.value("weights", json::object());
  if (out.note.empty() && weights.contains("alone") && !weights.at("alone").empty())
    out.note = fmt::format("not in the model before, or of another shape: {}", names_of(weights.at("alone")));
  return out;
}

void add_weight_notes(Case& one, const json& after) {
  const json weights = after.value("weights", json::object());
  if (weights.contains("changed") && !weights.at("changed").empty()) {
    one.notes.push_back(fmt::format("both sides ran with the weights of the first; the second had others in {}",
                                    names_of(weights.at("changed"))));
  }
}

void add_notes(Case& one, const json& result) {
  std::string inputs;
  for (const json& input : result.at("inputs")) inputs += (inputs.empty() ? "" : ", ") + input.get<std::string>();
  const bool guessed = result.at("inputs_from") == "model";
  one.notes.push_back(fmt::format("inputs: {}{}", inputs.empty() ? "none" : inputs,
                                  guessed ? " (as the model tells; --input gives others)" : ""));
  if (result.at("cuda_graph").at("state") == "skipped" && one.kind == CaseKind::Cxx)
    one.notes.push_back("capture into a CUDA graph was not tried: " +
                        result.at("cuda_graph").at("message").get<std::string>());
}

CaseKind kind_of(const json& result) {
  const std::string kind = result.value("kind", "");
  if (kind == "c++") return CaseKind::Cxx;
  return kind == "torchscript" ? CaseKind::TorchScript : CaseKind::Exported;
}

}  // namespace fullgraph::validator
