#include "cli/validate_python.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <tuple>

#include "cli/baseline.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/files.h"
#include "cli/nearest.h"
#include "cli/validate_sources.h"
#include "cli/verdicts.h"
#include "rules/fingerprint.h"
#include "validator/python_worker.h"

namespace fullgraph::cli {
namespace {

namespace fs = std::filesystem;
using validator::Case;
using validator::CaseKind;
using validator::MeasuredRun;
using validator::MeasuredSide;
using validator::PythonCase;
using validator::PythonSide;
using validator::ValidationResult;

// -- what is asked for

struct Setting {
  std::unique_ptr<Configs> configs;
  const Config* config = nullptr;
  Settings settings;
  std::vector<PythonCase> cases;  // those of this shard
};

void take_flags(PythonCase& one, const ValidateOptions& options) {
  if (!options.modes.empty()) one.modes = options.modes;
  if (!options.checkpointing.empty()) one.checkpointing = options.checkpointing;
  if (options.processes != 0) one.processes = options.processes;
}

Result<std::vector<PythonCase>> cases_of(const ValidateOptions& options, const Settings& settings,
                                         const std::string& working_directory) {
  std::vector<PythonCase> out;
  for (const std::string& text : options.entries) {
    auto entry = absolute_entry(text, working_directory);
    if (!entry) return std::unexpected(entry.error());
    PythonCase one;
    one.name = text;
    one.entry = std::move(*entry);
    out.push_back(std::move(one));
  }
  for (const std::string& type : options.transformers) {
    PythonCase one;
    one.name = one.transformers = type;
    out.push_back(std::move(one));
  }
  if (!out.empty()) return out;
  Names names;
  for (const PythonCase& one : settings.cases) names.push_back(one.name);
  for (const std::string& name : options.only) {
    if (std::ranges::find(names, name) == names.end()) {
      return std::unexpected(
          Error{ErrorKind::Usage, "the configuration has no case `" + name + "`" + suggestion(name, names), {}});
    }
  }
  for (const PythonCase& one : settings.cases) {
    if (options.only.empty() || std::ranges::find(options.only, one.name) != options.only.end()) out.push_back(one);
  }
  return out;
}

Result<Setting> setting_of(const ValidateOptions& options, const std::string& working_directory) {
  Setting out;
  out.configs = std::make_unique<Configs>(options.check.config_file, options.check.isolated, working_directory);
  auto config = out.configs->find(working_directory);
  if (!config) return std::unexpected(config.error());
  out.config = *config;
  out.settings = out.config->settings;
  overlay(out.settings, options.check.flags);
  auto cases = cases_of(options, out.settings, working_directory);
  if (!cases) return std::unexpected(cases.error());
  for (std::size_t i = 0; i < cases->size(); ++i) {
    if (i % options.shard.of + 1 != options.shard.number) continue;
    take_flags((*cases)[i], options);
    out.cases.push_back(std::move((*cases)[i]));
  }
  return out;
}

// The interpreter of the project, and where its packages are.
std::string interpreter_of(const ValidateOptions& options, const Setting& setting) {
  if (options.python) return *options.python;
  if (const auto environment = environment_of(setting.config->directory)) {
    const std::string python = *environment + "/bin/python";
    if (access(python.c_str(), X_OK) == 0) return python;
  }
  return "python3";
}

// The linter looks for packages where the interpreter that was named does.
void add_environment_of(const std::string& interpreter, Settings& settings, const std::string& working_directory) {
  if (interpreter.find('/') == std::string::npos) return;
  const fs::path prefix = fs::path(absolute_path(interpreter, working_directory)).parent_path().parent_path();
  if (site_packages_of(prefix.string()).empty()) return;
  Names paths = settings.python_path.value_or(Names{});
  paths.push_back(prefix.string());
  settings.python_path = std::move(paths);
}

// Findings that every case refuted which said anything of them.
class Refuted {
 public:
  void add(const Diagnostic& finding, validator::Verdict verdict) {
    const Key key{finding.place.source->path(), finding.place.span.begin, finding.code};
    if (verdict == validator::Verdict::Confirmed) confirmed_.insert(key);
    if (verdict == validator::Verdict::Refuted) refuted_.emplace(key, finding);
  }

  [[nodiscard]] std::vector<Diagnostic> all() const {
    std::vector<Diagnostic> out;
    for (const auto& [key, finding] : refuted_) {
      if (!confirmed_.contains(key)) out.push_back(finding);
    }
    return out;
  }

 private:
  using Key = std::tuple<std::string, std::uint32_t, std::string>;
  std::map<Key, Diagnostic> refuted_;
  std::set<Key> confirmed_;
};

// -- one case

class Validation {
 public:
  Validation(const Project& project, const PythonCase& one, Refuted& refuted, Repairs* repairs)
      : project_(project),
        case_(one),
        refuted_(refuted),
        repairs_(repairs),
        kept_(repairs ? repairs->kept : Repairs().kept) {}

  Result<MeasuredSide> run(Case& out) {
    out.name = case_.name;
    out.processes = case_.processes;
    out.kind = case_.processes > 1           ? CaseKind::Distributed
               : !case_.transformers.empty() ? CaseKind::Transformers
                                             : CaseKind::Python;
    auto kept = side_before();
    if (!kept) return std::unexpected(kept.error());
    const MeasuredSide& before = (*kept)->side;
    out.notes = (*kept)->notes;
    take_before(before, out);
    // Where nothing ran there is nothing to hold findings against, and no change would show.
    const bool ran =
        std::ranges::any_of(before.runs, [](const MeasuredRun& run) { return run.side.capture.has_value(); });
    if (!ran) return before;

    const std::vector<std::string> files = files_of(before.runs, before_side());
    auto looked = Looked::at(project_, files, entry_on(before_side()), is_whole(before.runs));
    if (!looked) return std::unexpected(looked.error());
    judge(**looked, before.runs, before_side(), false, out);

    auto after = after_side(**looked, out);
    if (!after) return std::unexpected(after.error());
    if (*after) {
      if (auto done = add_after(**after, out); !done) return std::unexpected(done.error());
    }
    return before;
  }

 private:
  using OptionalSide = std::optional<PythonSide>;

  // Measured now, or by a run that this one shares it with.
  Result<const KeptSide*> side_before() {
    if (const auto known = kept_->find(case_.name); known != kept_->end()) {
      folder_ = &known->second.folder;
      forget_after();
      return &known->second;
    }
    auto folder = validator::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    KeptSide& out = kept_->emplace(case_.name, KeptSide{std::move(*folder), {}, {}}).first->second;
    folder_ = &out.folder;
    // First of all: a patch that cannot be made shows without running anything.
    if (project_.options.patch) {
      auto patched = patched_files(project_, *project_.options.patch, *folder_);
      if (!patched) return std::unexpected(patched.error());
      patched_ = std::move(*patched);
    }
    // Several processes are compared with one, which is no side of its own.
    if (case_.processes > 1) {
      PythonSide single = before_side();
      single.name = "single";
      PythonCase alone = case_;
      alone.processes = 1;
      auto measured = measure(alone, single);
      if (!measured) return std::unexpected(measured.error());
      out.notes = notes_on_single(*measured);
    }
    auto before = measure(case_, before_side());
    if (!before) return std::unexpected(before.error());
    out.side = std::move(*before);
    return &out;
  }

  // What another side after left in the folder.
  void forget_after() const {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_->path(), error)) {
      if (entry.path().filename().string().starts_with("after")) fs::remove_all(entry.path(), error);
    }
  }

  [[nodiscard]] static std::vector<std::string> roots_in(const std::string& folder) {
    std::error_code error;
    if (fs::is_directory(folder + "/src", error)) return {folder, folder + "/src"};
    return {folder};
  }

  [[nodiscard]] PythonSide before_side() const {
    PythonSide out{"before", {}, {}, {}};
    out.path = project_.options.before ? roots_in(*project_.options.before) : import_roots(project_);
    return out;
  }

  // The folders below which a file that is named has its counterpart on each side.
  [[nodiscard]] std::vector<std::string> named_roots() const {
    std::vector<std::string> out = import_roots(project_);
    for (const std::optional<std::string>& folder : {project_.options.before, project_.options.after}) {
      if (folder) std::ranges::move(roots_in(*folder), std::back_inserter(out));
    }
    return out;
  }

  [[nodiscard]] std::string entry_on(const PythonSide& side) const {
    return cli::entry_on(side, case_.entry, named_roots());
  }

  Result<MeasuredSide> measure(PythonCase one, const PythonSide& side) {
    one.entry = entry_on(side);
    validator::PythonPlan plan;
    plan.interpreter = project_.interpreter;
    plan.directory = project_.working_directory;
    plan.device = project_.options.device;
    plan.backend = project_.options.backend;
    plan.repetitions = side.name == "single" ? 0 : project_.options.repetitions;
    plan.timeout = project_.options.timeout;
    plan.memory_limit = memory_limit_of(project_.options);
    if (project_.options.check.quiet == 0) fmt::print(stderr, "{}: running {}\n", case_.name, side.name);
    return validator::measure(one, side, plan, *folder_);
  }

  static void take_before(const MeasuredSide& before, Case& out) {
    if (!before.device.empty()) out.device = before.device;
    out.failure = before.failure;
    if (out.failure) return;
    for (const MeasuredRun& one : before.runs) {
      validator::Run run;
      run.mode = one.mode;
      run.checkpointing = one.checkpointing;
      run.before = one.side;
      out.runs.push_back(std::move(run));
    }
  }

  static std::vector<std::string> notes_on_single(const MeasuredSide& single) {
    std::vector<std::string> out;
    if (single.failure) out.push_back("the run in a single process failed: " + single.failure->message);
    for (const MeasuredRun& one : single.runs) {
      if (one.side.failure) out.push_back(one.mode + " in a single process failed: " + one.side.failure->message);
    }
    return out;
  }

  // Where the change comes from; nothing: there is none.
  Result<OptionalSide> after_side(Looked& looked, Case& out) {
    const ValidateOptions& options = project_.options;
    if (options.after) return PythonSide{"after", roots_in(*options.after), {}, {}};
    Result<ChangedFiles> changed;
    if (options.patch) {
      changed = patched_;
    } else if (options.fix || options.unsafe_fixes) {
      changed = repaired(looked);
    } else {
      return OptionalSide();
    }
    if (!changed) return std::unexpected(changed.error());
    if (changed->empty()) {
      out.notes.emplace_back("there is nothing to repair in what ran");
      return OptionalSide();
    }
    for (const auto& [path, text] : *changed)
      out.notes.push_back((text ? "changed: " : "deleted: ") + short_name(path));
    auto side = changed_side(project_, *changed, *folder_);
    if (!side) return std::unexpected(side.error());
    return OptionalSide(std::move(*side));
  }

  // All fixes, or those that are wanted.
  Result<ChangedFiles> repaired(Looked& looked) {
    if (!repairs_) return looked.repaired({});
    const auto is_wanted = [&](const Diagnostic& finding) {
      return repairs_->wanted.contains(rules::identity(finding));
    };
    auto changed = looked.repaired([&](const std::vector<Diagnostic>& findings) {
      std::vector<Diagnostic> out;
      std::ranges::copy_if(findings, std::back_inserter(out), is_wanted);
      return out;
    });
    if (!changed) return changed;
    for (const auto& [path, text] : *changed) {
      auto before = read_file(path);
      if (!before) return std::unexpected(before.error());
      const auto [known, added] = repairs_->files.try_emplace(path, Repairs::Change{*before, *text});
      if (!added && known->second.after != *text) repairs_->conflict = shown_path(path, project_.working_directory);
    }
    for (const Diagnostic& finding : looked.findings) {
      if (is_wanted(finding))
        repairs_->shown = fmt::format("{}:{} {}", finding.place.source->path(),
                                      finding.place.source->position(finding.place.span.begin).line, finding.code);
    }
    return changed;
  }

  Result<void> add_after(const PythonSide& side, Case& out) {
    auto after = measure(case_, side);
    if (!after) return std::unexpected(after.error());
    for (std::size_t i = 0; i < out.runs.size() && i < after->runs.size(); ++i) {
      out.runs[i].after = after->runs[i].side;
      if (after->failure) out.runs[i].after->failure = after->failure;
      out.runs[i].change = std::move(after->runs[i].change);
    }
    if (after->failure) return {};
    const std::vector<std::string> files = files_of(after->runs, side);
    auto looked = Looked::at(project_, files, entry_on(side), is_whole(after->runs));
    if (!looked) return std::unexpected(looked.error());
    judge(**looked, after->runs, side, true, out);
    return {};
  }

  // The file that a name in a run stands for; empty: it is nowhere.
  [[nodiscard]] std::string path_of(const std::string& name, const PythonSide& side) const {
    std::vector<std::string> folders = side.path;
    folders.insert(folders.end(), project_.environment.search_path.begin(), project_.environment.search_path.end());
    for (const std::string& folder : folders) {
      std::string path = folder + "/" + name;
      std::error_code error;
      if (fs::exists(path, error)) return path;
    }
    return {};
  }

  // Whether fullgraph=True works is asked of models that are compiled as a whole.
  static bool is_whole(const std::vector<MeasuredRun>& runs) {
    return std::ranges::any_of(
        runs, [](const MeasuredRun& run) { return run.side.capture && run.side.capture->fullgraph.has_value(); });
  }

  [[nodiscard]] std::vector<std::string> files_of(const std::vector<MeasuredRun>& runs, const PythonSide& side) const {
    std::set<std::string> out;
    for (const MeasuredRun& run : runs) {
      for (const auto& entry : run.executed) {
        std::string path = path_of(entry.first, side);
        if (path.ends_with(".py")) out.insert(std::move(path));
      }
    }
    return {out.begin(), out.end()};
  }

  void judge(const Looked& looked, const std::vector<MeasuredRun>& runs, const PythonSide& side, bool after,
             Case& out) {
    const Witnesses witnesses{runs, project_.options.backend,
                              [&](const std::string& name) { return path_of(name, side); },
                              [&](const std::string& shown) { return looked.path_of(shown); }};
    for (const Diagnostic& finding : looked.findings) {
      if (finding.severity == Severity::Info) continue;
      validator::FindingVerdict verdict = verdict_on(finding, witnesses, after);
      verdict.file = name_on(side, looked.path_of(verdict.file));
      if (!after) refuted_.add(finding, verdict.verdict);
      if (!after && repairs_ && verdict.verdict == validator::Verdict::Confirmed)
        repairs_->confirmed.insert(rules::identity(finding));
      out.findings.push_back(std::move(verdict));
    }
  }

  // Files of a copy go by the names that the originals have.
  [[nodiscard]] std::string name_on(const PythonSide& side, const std::string& path) const {
    for (const std::string& folder : side.path) {
      if (!path.starts_with(folder + "/")) continue;
      const std::string original = path_of(path.substr(folder.size() + 1), before_side());
      if (!original.empty()) return short_name(original);
    }
    return short_name(path);
  }

  // A file that is not below the working folder goes by the name that Python imports it by: of installed packages
  // nobody wants to read more.
  [[nodiscard]] std::string short_name(const std::string& path) const {
    const std::string shown = shown_path(path, project_.working_directory);
    if (!shown.starts_with('/')) return shown;
    std::vector<std::string> folders = import_roots(project_);
    folders.insert(folders.end(), project_.environment.search_path.begin(), project_.environment.search_path.end());
    const std::string folder = deepest(folders, path);
    return folder.empty() ? shown : path.substr(folder.size() + 1);
  }

  const Project& project_;
  const PythonCase& case_;
  Refuted& refuted_;
  Repairs* repairs_;  // null: everything is repaired
  std::shared_ptr<std::map<std::string, KeptSide>> kept_;
  const validator::TemporaryFolder* folder_ = nullptr;
  ChangedFiles patched_;  // by --patch
};

std::string after_in_words(const ValidateOptions& options) {
  if (options.after) return *options.after;
  if (options.patch) return "with " + *options.patch;
  if (options.unsafe_fixes) return "with safe and unsafe fixes";
  return options.fix ? "with safe fixes" : "";
}

// Refuted findings need not be accepted any more.
Result<void> update_baseline(const Settings& settings, const std::vector<Diagnostic>& refuted,
                             const std::string& working_directory) {
  if (!settings.baseline) {
    return std::unexpected(
        Error{ErrorKind::Usage, "say which file with --baseline FILE, or set `baseline` in the configuration", {}});
  }
  auto baseline = Baseline::read(*settings.baseline);
  if (!baseline) return std::unexpected(baseline.error());
  for (const Diagnostic& finding : refuted) baseline->remove(finding, working_directory);
  return write_atomically(*settings.baseline, baseline->to_json());
}

}  // namespace

Result<bool> has_python_cases(const ValidateOptions& options, const std::string& working_directory) {
  auto setting = setting_of(options, working_directory);
  if (!setting) return std::unexpected(setting.error());
  return !setting->settings.cases.empty() || !setting->cases.empty();
}

Result<std::string> list_python_cases(const ValidateOptions& options, const std::string& working_directory) {
  auto setting = setting_of(options, working_directory);
  if (!setting) return std::unexpected(setting.error());
  std::string out;
  for (const PythonCase& one : setting->cases) out += one.name + "\n";
  return out;
}

Result<ValidationResult> validate_python(const ValidateOptions& options, const std::string& working_directory,
                                         Repairs* repairs) {
  auto setting = setting_of(options, working_directory);
  if (!setting) return std::unexpected(setting.error());
  const std::string interpreter = interpreter_of(options, *setting);
  add_environment_of(interpreter, setting->settings, working_directory);
  auto environment = environment_for(setting->settings, setting->config->directory);
  if (!environment) return std::unexpected(environment.error());
  const Project project{options,           working_directory, *setting->configs,      *setting->config,
                        setting->settings, interpreter,       std::move(*environment)};
  ValidationResult result;
  result.version = FULLGRAPH_VERSION;
  result.before = options.before.value_or("as it is");
  result.after = after_in_words(options);
  Refuted refuted;
  for (const PythonCase& one : setting->cases) {
    Case out;
    auto measured = Validation(project, one, refuted, repairs).run(out);
    if (!measured && measured.error().kind == ErrorKind::Interrupted) return std::unexpected(measured.error());
    if (!measured) {
      result.errors.push_back(measured.error());
    } else if (result.torch.empty()) {
      result.torch = measured->torch;
      result.python = measured->python;
    }
    result.cases.push_back(std::move(out));
  }
  std::ranges::stable_sort(result.cases, {}, &Case::name);
  if (options.check.update_baseline) {
    if (auto done = update_baseline(setting->settings, refuted.all(), working_directory); !done)
      return std::unexpected(done.error());
  }
  return result;
}

}  // namespace fullgraph::cli
