#include "cli/recordings.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "analyzer/graphs/frames.h"
#include "analyzer/python/parse.h"
#include "analyzer/python/program.h"
#include "analyzer/trace/trace.h"
#include "cli/analysis.h"
#include "cli/files.h"
#include "cli/remembered_sources.h"
#include "rules/rule.h"

namespace fullgraph::cli {
namespace {

ir::Recording recording_of(const graphs::Graphs& graphs, const graphs::Text& text) {
  if (text.module == "__archive__") return ir::Recording::Pickle;
  return graphs.format == graphs::Format::TorchScript ? ir::Recording::TorchScript : ir::Recording::Graph;
}

// torch's own code in an archive of TorchScript: the profile knows better what it does, unless a recording has made one
// straight line of it, with the state of the moment as constants. torch.functional has helpers that only scripts call.
bool is_known_better(const graphs::Text& text) {
  return text.module.starts_with("__torch__.torch.") && text.module != "__torch__.torch.functional" &&
         (!text.module.starts_with("__torch__.torch.nn.modules.") || text.text.find("\n    if ") != std::string::npos);
}

class Look {
 public:
  Look(const SourcePath& file, const std::string& working_directory, const Environment& environment)
      : file_(file), environment_(environment), program_(search_path()), remembered_(working_directory) {}

  Result<Recording> run(trace::Options options) {
    auto graphs = graphs::read(file_.path, file_.shown);
    if (!graphs) return std::unexpected(graphs.error());
    if (auto done = load(std::move(graphs->texts), *graphs); !done) return std::unexpected(done.error());
    Recording out;
    out.file = &file_;
    out.format = graphs->format;
    options.roots = trace::Roots::Modules;
    if (!graphs->entry.empty()) options.entries = {graphs->entry};
    trace::Outcome outcome = trace::trace(program_, *environment_.profile, options);
    out.roots = outcome.roots;
    out.breaks = std::move(graphs->breaks);
    out.findings = rules::judge(outcome.events, *environment_.profile, options.jobs);
    for (Diagnostic& finding : out.findings) move_to_author(finding);
    return out;
  }

 private:
  // Pickles name the classes of their authors; these are looked for beside the file as well.
  [[nodiscard]] std::vector<std::string> search_path() const {
    std::vector<std::string> out = environment_.search_path;
    out.push_back(std::filesystem::path(file_.path).parent_path().string());
    return out;
  }

  Result<void> load(std::vector<graphs::Text> texts, const graphs::Graphs& graphs) {
    program_.set_opaque({"torch", "numpy"});
    std::vector<python::Program::Input> inputs;
    for (graphs::Text& text : texts) {
      if (is_known_better(text)) continue;
      const std::string below = text.member.empty() ? "" : "/" + text.member;
      auto source = python::make_source(std::move(text.text), file_.shown + below);
      if (!source) return std::unexpected(source.error());
      auto map = std::make_shared<const ir::SourceMap>(std::move(text.map));
      map->each([this](const ir::Origin& origin) { remembered_.remember(origin); });
      auto module = python::parse_recording(std::move(*source), text.module, recording_of(graphs, text), map);
      modules_[module->source.get()] = module.get();
      inputs.push_back({file_.path + below, file_.shown + below, nullptr, true, std::move(module)});
    }
    program_.load(inputs, 1);
    return {};
  }

  [[nodiscard]] const ir::Origin* origin_of(const Place& place) const {
    const auto module = modules_.find(place.source.get());
    return module == modules_.end() ? nullptr : module->second->map->at(place.span.begin);
  }

  void move_to_author(Diagnostic& finding) {
    const Place recorded = finding.place;
    const std::string function = finding.function;
    for (PathStep& step : finding.path) move(step.place, step.function);
    for (Related& related : finding.related) {
      std::string unused;
      move(related.place, unused);
    }
    finding.roots = {file_.shown};
    finding.ways.clear();  // they are of the text that nobody wrote; `path` is moved
    if (!modules_.contains(recorded.source.get())) return;
    for (Fix& fix : finding.fixes) {  // of text that nobody wrote
      fix.applicability = Applicability::Display;
      fix.edits.clear();
    }
    if (!move(finding.place, finding.function)) return;
    if (graphs::is_torch_source(finding.place.source->path()) && !move_to_caller(finding)) {
      finding.place = recorded;
      finding.function = function;
      return;
    }
    finding.related.push_back({recorded, "recorded in " + file_.shown + " as"});
    std::erase_if(finding.path, [&](const PathStep& step) {
      return step.place.source == finding.place.source && step.place.span == finding.place.span;
    });
  }

  // Out of torch's own code, to the line of the author's that called it. False: nothing tells of it.
  static bool move_to_caller(Diagnostic& finding) {
    const auto step = std::ranges::find_if(finding.path.rbegin(), finding.path.rend(), [](const PathStep& one) {
      return one.place.source != nullptr && !graphs::is_torch_source(one.place.source->path());
    });
    if (step == finding.path.rend()) return false;
    finding.place = step->place;
    finding.function = step->function;
    finding.path.erase(std::prev(step.base()), finding.path.end());
    return true;
  }

  bool move(Place& place, std::string& function) {
    const ir::Origin* const origin = origin_of(place);
    if (origin == nullptr) return false;
    auto there = remembered_.place_of(*origin);
    if (!there) return false;
    place = std::move(*there);
    function = origin->function;
    return true;
  }

  const SourcePath& file_;
  const Environment& environment_;
  python::Program program_;
  RememberedSources remembered_;
  std::unordered_map<const ir::SourceFile*, const ir::Module*> modules_;  // those that stand for the recording
};

}  // namespace

Result<bool> is_recording(const SourcePath& source) {
  constexpr std::array<std::string_view, 3> of_python = {".py", ".pyi", ".pyw"};
  constexpr std::array<std::string_view, 8> of_recordings = {".pt",  ".pt2", ".pth", ".ts",
                                                             ".ptl", ".bin", ".txt", ".log"};
  if (ends_with_any(source.path, of_python)) return false;
  const auto format = graphs::format_of(source.path, source.shown);
  if (format) return true;
  if (ends_with_any(source.path, of_recordings)) return std::unexpected(format.error());
  return false;
}

Result<Recording> look_at_recording(const SourcePath& file, const std::string& working_directory,
                                    const Environment& environment, const Settings& settings, unsigned jobs) {
  return Look(file, working_directory, environment).run(trace_options(settings, jobs));
}

}  // namespace fullgraph::cli
