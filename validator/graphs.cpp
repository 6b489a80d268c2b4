#include "validator/graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "validator/cxx_module.h"
#include "validator/graph_result.h"

namespace fullgraph::validator {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::array<std::string_view, 3> mode_order = {"train", "eval", "as-saved"};

Failure bad_input(const std::string& stage, std::string message) {
  return {.kind = FailureKind::BadInput, .stage = stage, .message = std::move(message), .where = "", .output = ""};
}

class GraphRun {
 public:
  GraphRun(const GraphOptions& options, LibtorchWorker worker, TemporaryFolder folder)
      : options_(options), worker_(std::move(worker)), folder_(std::move(folder)) {}

  ValidationResult run() {
    ValidationResult out;
    out.version = FULLGRAPH_VERSION;
    out.before = options_.shown_before;
    out.after = options_.after ? options_.shown_after : "";
    const auto described = worker_.ask("describe", json::object(), "describe", folder_, options_.limits);
    if (described) out.torch = described->value("torch_version", "");
    Case one;
    one.name = fs::path(options_.before).filename().string();
    one.kind =
        fs::is_directory(options_.before) || is_cxx_source(options_.before) ? CaseKind::Cxx : CaseKind::TorchScript;
    if (!described) {
      one.failure = described.error();
    } else {
      libtorch_ = *described;
      try {
        fill(one);
      } catch (const json::exception&) {  // code of the model's can write there, too
        one.failure = {FailureKind::NotStarted, "", "what the worker wrote of it cannot be read", "", ""};
      }
    }
    out.cases.push_back(std::move(one));
    return out;
  }

 private:
  void fill(Case& one) {
    const Measured before = measure("before", options_.before, "");
    const bool comparable = before.result.has_value();
    std::optional<Measured> after;
    if (options_.after) after = measure("after", *options_.after, comparable ? tensors_file("before") : "");
    const json* known = comparable ? &*before.result : after && after->result ? &*after->result : nullptr;
    if (known == nullptr) return fill_without_runs(one, before, after);
    one.kind = kind_of(*known);
    one.device = known->value("device", "cpu");
    add_notes(one, *known);
    if (after && after->result) add_weight_notes(one, *after->result);
    json comparison;
    if (comparable && after && after->result) {
      auto compared = worker_.ask("compare", {{"before", tensors_file("before")}, {"after", tensors_file("after")}},
                                  "compare", folder_, options_.limits);
      if (!compared) {
        one.failure = compared.error();
        return;
      }
      if (compared->value("status", "") != "compared") {
        one.failure = bad_input("compare", compared->value("message", ""));
        return;
      }
      comparison = std::move(*compared);
    }
    for (const std::string_view mode : mode_order) {
      const std::string name(mode);
      if (!has_mode(before, name) && !(after && has_mode(*after, name))) continue;
      Run run{.mode = name, .checkpointing = "none", .before = side_of(before, name), .after = {}, .change = {}};
      if (after) run.after = side_of(*after, name);
      if (after && ran_in(before, name) && ran_in(*after, name))
        run.change = change_of(*before.result, *after->result, comparison, name);
      one.runs.push_back(std::move(run));
    }
    const bool both_ran = before.result && after && after->result;
    if (both_ran && std::ranges::none_of(one.runs, [&](const Run& run) {
          return has_mode(before, run.mode) && has_mode(*after, run.mode);
        })) {
      one.failure = bad_input("compare",
                              "one of the models has training and evaluation, the other is fixed as it was "
                              "saved: there is nothing to compare");
    }
  }

  static void fill_without_runs(Case& one, const Measured& before, const std::optional<Measured>& after) {
    const Measured& first = before.failure || !after || !after->failure ? before : *after;
    if (first.failure) {
      one.failure = first.failure;
      return;
    }
    for (const std::string_view mode : {"train", "eval"}) {
      Side left_out;
      left_out.skipped = first.skipped;
      Run run{.mode = std::string(mode), .checkpointing = "none", .before = left_out, .after = {}, .change = {}};
      if (after) run.after = left_out;
      one.runs.push_back(std::move(run));
    }
  }

  std::string tensors_file(const std::string& side) const { return folder_.path() + "/" + side + ".tensors"; }

  Measured measure(const std::string& side, const std::string& path, const std::string& weights) {
    const std::string& shown = side == "before" ? options_.shown_before : options_.shown_after;
    json request = {{"model", path},
                    {"tensors", tensors_file(side)},
                    {"device", options_.device},
                    {"inputs", options_.inputs},
                    {"modes", options_.modes},
                    {"repeats", options_.repetitions}};
    if (options_.inputs_file) request["inputs_file"] = *options_.inputs_file;
    if (!weights.empty()) request["weights_from"] = weights;
    if (fs::is_directory(path) || is_cxx_source(path)) {
      const auto library =
          build_cxx_module({.source = path,
                            .expression = options_.module,
                            .include_folders = libtorch_.value("include_folders", std::vector<std::string>()),
                            .libraries = options_.libraries,
                            .name = side,
                            .limits = options_.limits},
                           folder_);
      if (!library) return {.result = {}, .failure = library.error(), .skipped = ""};
      request["model"] = *library;
      request["native"] = true;
    }
    auto answer = worker_.ask("measure", std::move(request), side, folder_, options_.limits);
    Measured out;
    if (!answer) {
      out.failure = std::move(answer.error());
      out.failure->message = fmt::format("{}: {}", shown, out.failure->message);
    } else if (const std::string status = answer->value("status", ""); status == "skipped") {
      out.skipped = answer->value("message", "");
    } else if (status != "measured") {
      out.failure = bad_input(answer->value("stage", ""), fmt::format("{}: {}", shown, answer->value("message", "")));
    } else {
      out.result = std::move(*answer);
    }
    return out;
  }

  const GraphOptions& options_;
  LibtorchWorker worker_;
  TemporaryFolder folder_;
  json libtorch_;
};

}  // namespace

bool is_cxx_source(const std::string& path) {
  constexpr std::array<std::string_view, 4> endings = {".cpp", ".cc", ".cxx", ".cu"};
  return std::ranges::any_of(endings, [&](std::string_view ending) { return path.ends_with(ending); });
}

Result<ValidationResult> validate_graphs(const GraphOptions& options) {
  auto worker = LibtorchWorker::find();
  if (!worker) return std::unexpected(worker.error());
  auto folder = TemporaryFolder::make();
  if (!folder) return std::unexpected(folder.error());
  return GraphRun(options, std::move(*worker), std::move(*folder)).run();
}

}  // namespace fullgraph::validator
