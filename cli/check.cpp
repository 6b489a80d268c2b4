// `fullgraph check`, from paths to exit status: the passes in their order.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>

#include "cli/analysis.h"
#include "cli/baseline.h"
#include "cli/changed_lines.h"
#include "cli/commands.h"
#include "cli/deliver.h"
#include "cli/discovery.h"
#include "cli/files.h"
#include "cli/fix.h"
#include "cli/logged_sources.h"
#include "cli/selection.h"
#include "cli/terminal.h"
#include "cli/timing.h"
#include "reports/report.h"
#include "rules/fingerprint.h"
#include "rules/rule.h"

namespace fullgraph::cli {
namespace {

class Check {
 public:
  Check(const CheckOptions& options, const std::string& working_directory)
      : options_(options),
        working_directory_(working_directory),
        configs_(options.config_file, options.isolated, working_directory),
        progress_(options.progress && options.quiet < 2 && is_terminal(STDERR_FILENO)) {}

  Result<int> run() {
    // The files come first: they decide which configuration holds for the run as a whole.
    if (auto done = discover_files(); !done) return std::unexpected(done.error());
    if (auto done = take_shard(); !done) return std::unexpected(done.error());
    if (options_.show_files) return show_files();
    if (options_.show_settings) return show_settings();

    // A revision that is none is told before anything is looked at.
    if (auto done = ask_what_changed(); !done) return std::unexpected(done.error());

    // The version of PyTorch, the way to imported packages. Beyond this point the settings do not change.
    if (auto done = prepare(); !done) return std::unexpected(done.error());
    timing_.lap("discover");

    found_ = analysis_->run(given_texts(), options_.jobs);

    // Repairs, what the baseline accepts left out. They are on the disk before anything is reported.
    if (auto done = read_baseline(); !done) return std::unexpected(done.error());
    if (fixes()) {
      if (auto done = fix(); !done) return std::unexpected(done.error());
      if (options_.diff) return show_diff();
    }

    // From here on findings only disappear into the baseline. It is rewritten before the report, which then is empty.
    set_unchanged_first();
    if (auto done = compare_with_baseline(); !done) return std::unexpected(done.error());
    keep_changed();
    return report();
  }

 private:
  [[nodiscard]] bool from_stdin() const { return options_.paths == Names{"-"}; }
  // Of a part of the findings nothing is repaired, whatever the configuration says.
  [[nodiscard]] bool in_part() const { return options_.diff_base || options_.shard; }
  [[nodiscard]] bool fix_only() const { return !in_part() && (options_.diff || settings_.fix_only.value_or(false)); }
  [[nodiscard]] bool fixes() const { return fix_only() || (!in_part() && settings_.fix.value_or(false)); }

  Result<void> discover_files() {
    if (from_stdin()) return read_stdin();
    auto found = discover(options_.paths, working_directory_, configs_, options_.flags);
    if (!found) return std::unexpected(found.error());
    sources_ = std::move(found->files);
    errors_ = std::move(found->errors);
    if (auto done = add_logged_sources(); !done) return done;
    return choose_settings(common_folder());
  }

  Result<void> add_logged_sources() {
    const auto logged = sources_of_logs(sources_);
    if (logged.empty()) return {};
    auto found = discover(logged, working_directory_, configs_, options_.flags);
    if (!found) return std::unexpected(found.error());
    for (SourcePath& source : found->files) {
      source.only_logged = true;
      sources_.push_back(std::move(source));
    }
    std::ranges::sort(sources_, {}, &SourcePath::path);
    return {};
  }

  Result<void> read_stdin() {
    const std::string name = options_.stdin_filename.value_or("-");
    const std::string path = absolute_path(options_.stdin_filename.value_or("stdin.py"), working_directory_);
    if (auto done = choose_settings(path.substr(0, path.rfind('/') == 0 ? 1 : path.rfind('/'))); !done) return done;
    stdin_text_.assign(std::istreambuf_iterator<char>(std::cin), {});
    if (options_.stdin_filename && settings_.force_exclude.value_or(false) &&
        excluded(path, settings_, config_->directory))
      return {};
    sources_ = {{path, options_.stdin_filename ? shown_path(path, working_directory_) : name, config_, true}};
    return {};
  }

  // Files next to each other stay together: as many as have their part of the bytes.
  Result<void> take_shard() {
    if (!options_.shard) return {};
    if (from_stdin())
      return std::unexpected(Error{ErrorKind::Usage, "--shard divides files, and there is one source on stdin", {}});
    std::vector<std::uintmax_t> sizes;
    std::uintmax_t total = 0, before = 0;
    for (const SourcePath& source : sources_) {
      std::error_code error;
      const std::uintmax_t size = std::filesystem::file_size(source.path, error);
      total += sizes.emplace_back(error ? 1 : size + 1);
    }
    own_.emplace();
    for (std::size_t at = 0; at < sources_.size(); ++at) {
      const std::uintmax_t part = before * options_.shard->of / total;
      if (part + 1 == options_.shard->number) own_->insert(sources_[at].shown);
      before += sizes[at];
    }
    std::erase_if(errors_, [&](const Error& error) { return is_of_other_part(error); });
    return {};
  }

  [[nodiscard]] bool is_of_other_part(const Error& error) const {
    return own_ && error.where && !own_->contains(error.where->file) &&
           std::ranges::find(sources_, error.where->file, &SourcePath::shown) != sources_.end();
  }

  // --diff-base
  Result<void> ask_what_changed() {
    if (!options_.diff_base) return {};
    auto changed = ChangedLines::since(*options_.diff_base, from_stdin() ? working_directory_ : common_folder());
    if (!changed) return std::unexpected(changed.error());
    changed_ = std::move(*changed);
    return {};
  }

  // What is on other lines goes to the front, so that it is what a baseline has accepted.
  void set_unchanged_first() {
    if (!changed_) return;
    // What will be left out counts all the same where several findings look alike.
    const std::vector<std::string> prints = rules::fingerprints(found_.list);
    for (std::size_t at = 0; at < prints.size(); ++at) found_.list[at].fingerprint = prints[at];
    std::ranges::stable_partition(found_.list, [this](const Diagnostic& one) { return !is_on_changed_line(one); });
  }

  [[nodiscard]] bool is_on_changed_line(const Diagnostic& finding) const {
    return changed_->touch(finding, working_directory_);
  }

  void keep_changed() {
    if (!changed_) return;
    const auto left_out =
        std::erase_if(found_.list, [this](const Diagnostic& one) { return !is_on_changed_line(one); });
    if (left_out == 0) return;
    found_.notes.push_back(fmt::format("{} finding{} on lines that have not changed since {} {} left out", left_out,
                                       left_out == 1 ? "" : "s", *options_.diff_base, left_out == 1 ? "is" : "are"));
  }

  // The deepest folder that holds all given paths: its configuration says what holds for the whole run.
  std::string common_folder() const {
    std::string common;
    for (const std::string& given : options_.paths) {
      std::string path = absolute_path(given, working_directory_);
      std::error_code error;
      if (!std::filesystem::is_directory(path, error)) path = std::filesystem::path(path).parent_path().string();
      if (common.empty()) common = path;
      while (common.size() > 1 && path != common && !path.starts_with(common + "/")) {
        common = std::filesystem::path(common).parent_path().string();
      }
    }
    return common;
  }

  Result<void> choose_settings(const std::string& folder) {
    auto config = configs_.find(folder);
    if (!config) return std::unexpected(config.error());
    config_ = *config;
    settings_ = config_->settings;
    overlay(settings_, options_.flags);
    return {};
  }

  Result<void> prepare() {
    auto environment = environment_for(settings_, config_->directory);
    if (!environment) return std::unexpected(environment.error());
    environment_ = std::move(*environment);
    if (options_.verbose) {
      fmt::print(stderr, "fullgraph {}: {} files, torch {}, configuration {}\n", FULLGRAPH_VERSION, sources_.size(),
                 environment_.profile->version(), config_->file.empty() ? "none" : config_->file);
      for (const std::string& path : environment_.search_path) fmt::print(stderr, "  search path: {}\n", path);
    }
    analysis_ =
        std::make_unique<Analysis>(options_, working_directory_, settings_, sources_, environment_, progress_, timing_);
    analysis_->keep_only(own_);
    return {};
  }

  // Sources that are on no disk.
  Analysis::Texts given_texts() const {
    Analysis::Texts out;
    if (from_stdin() && !sources_.empty()) out[sources_.front().path] = stdin_text_;
    return out;
  }

  Result<void> fix() {
    const bool unsafe = settings_.unsafe_fixes.value_or(false);
    FixTask task{options_, working_directory_, *analysis_, given_texts(), {}, unsafe};
    if (baseline_) {
      task.wanted = [this](const std::vector<Diagnostic>& findings) {
        return Baseline(*baseline_).filter(findings, working_directory_);
      };
    }
    auto outcome = repair(task, found_);
    if (!outcome) return std::unexpected(outcome.error());
    repaired_ = std::move(*outcome);
    timing_.lap("fix");
    if (options_.diff) return {};
    if (!from_stdin()) return write_repaired(repaired_, working_directory_);
    const std::string& text = repaired_.after.empty() ? stdin_text_ : repaired_.after.begin()->second;
    if (!print(text)) return std::unexpected(Error{ErrorKind::Io, "cannot write the source to stdout", {}});
    return {};
  }

  // What was repaired, for the report.
  std::vector<reports::Repaired> repaired_list() const {
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> counts;
    for (const fixer::Repaired& one : repaired_.repaired) ++counts[{one.file, one.code, one.name}];
    std::vector<reports::Repaired> out;
    for (const auto& [key, count] : counts)
      out.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count});
    return out;
  }

  Result<int> show_diff() {
    errors_.insert(errors_.end(), found_.errors.begin(), found_.errors.end());
    const std::string patch = patch_of(repaired_, working_directory_);
    if (auto done = deliver(patch, options_); !done) return std::unexpected(done.error());
    if (settings_.show_fixes.value_or(false)) say(reports::render_repaired(repaired_list(), "Would fix"));
    if (repaired_.repaired.empty()) {
      say("No fixes to make");
    } else if (!settings_.show_fixes.value_or(false)) {
      say(fmt::format("Would fix {} finding{}", repaired_.repaired.size(), repaired_.repaired.size() == 1 ? "" : "s"));
    }
    for (const Error& error : errors_) print_error(error);
    if (options_.timing) timing_.print();
    if (!errors_.empty()) return exit_error;
    return patch.empty() ? exit_clean : exit_findings;
  }

  Result<void> read_baseline() {
    if (!settings_.baseline) {
      if (!options_.update_baseline && !options_.prune_baseline) return {};
      return std::unexpected(
          Error{ErrorKind::Usage, "say which file with --baseline FILE, or set `baseline` in the configuration", {}});
    }
    std::error_code error;
    if (options_.update_baseline && !std::filesystem::exists(*settings_.baseline, error)) {
      baseline_.emplace(std::filesystem::path(*settings_.baseline).parent_path().string());
      return {};
    }
    auto read = Baseline::read(*settings_.baseline);
    if (!read) return std::unexpected(read.error());
    baseline_ = std::move(*read);
    return {};
  }

  Result<void> compare_with_baseline() {
    if (!baseline_) return {};
    const std::string& file = *settings_.baseline;
    // Entries of files that this run did not look at stay, unless the file is gone.
    std::unordered_set<std::string> linted;
    for (const SourcePath& source : sources_) {
      if (!own_ || own_->contains(source.shown)) linted.insert(source.path);
    }
    const auto checked = [&](const std::string& path) {
      std::error_code ignored;
      return linted.contains(path) || !std::filesystem::exists(path, ignored);
    };
    if (options_.update_baseline) {
      baseline_->drop(checked);
      for (const Diagnostic& finding : found_.list) baseline_->add(finding, working_directory_);
      if (auto written = write_atomically(file, baseline_->to_json()); !written) return written;
      say(fmt::format("Wrote {} findings to {}", baseline_->size(), shown_path(file, working_directory_)));
    }
    const std::size_t before = found_.list.size();
    found_.list = baseline_->filter(std::move(found_.list), working_directory_);
    baselined_ = before - found_.list.size();
    const std::size_t stale = baseline_->stale(checked);
    if (stale == 0 || options_.update_baseline) return {};
    if (!options_.prune_baseline) {
      say(fmt::format("{} of the baseline's findings are gone; --prune-baseline removes them", stale));
      return {};
    }
    baseline_->prune(checked);
    if (auto written = write_atomically(file, baseline_->to_json()); !written) return written;
    say(fmt::format("Removed {} findings from {}", stale, shown_path(file, working_directory_)));
    return {};
  }

  // Behind a source that was repaired on its way from stdin to stdout, everything else goes to stderr.
  [[nodiscard]] bool stdout_is_taken() const { return from_stdin() && fixes() && !options_.diff; }

  Result<int> report() {
    errors_.insert(errors_.end(), found_.errors.begin(), found_.errors.end());
    std::erase_if(errors_, [&](const Error& error) { return is_of_other_part(error); });
    reports::Report report;
    report.version = FULLGRAPH_VERSION;
    report.torch_version = environment_.profile->version();
    report.findings = std::move(found_.list);
    report.errors = errors_;
    report.root = working_directory_;
    report.files = own_ ? own_->size() : sources_.size();
    report.roots = found_.roots;
    report.suppressed = found_.suppressed;
    report.baselined = baselined_;
    report.repaired = repaired_list();

    if (options_.shard) report.shard = {options_.shard->number, options_.shard->of};

    std::string text;
    if (fix_only()) {
      const bool brief = !settings_.show_fixes.value_or(false);
      if (options_.quiet == 0) text = reports::render_repaired(report.repaired, "Fixed", brief);
    } else {
      text = render(report, options_, settings_, stdout_is_taken());
    }
    timing_.lap("report");

    if (auto done = deliver(text, options_, stdout_is_taken()); !done) return std::unexpected(done.error());
    if (sources_.empty() && errors_.empty()) say("warning: no Python files under the given paths");
    if (found_.unusual != 0 && !fix_only()) {
      say(fmt::format("note: {} more need{} an argument against its default (--unusual)", found_.unusual,
                      found_.unusual == 1 ? "s" : ""));
    }
    for (const std::string& note : found_.notes) say("note: " + note);
    for (const Error& error : errors_) print_error(error);
    if (options_.timing) timing_.print();
    return exit_status(report);
  }

  int exit_status(const reports::Report& report) const {
    if (!errors_.empty()) return exit_error;
    if (options_.exit_non_zero_on_fix && !report.repaired.empty()) return exit_findings;
    if (fix_only() || options_.exit_zero || !fails(report)) return exit_clean;
    return exit_findings;
  }

  Result<int> show_files() {
    std::string out;
    for (const SourcePath& source : sources_) {
      if (!own_ || own_->contains(source.shown)) out += source.shown + "\n";
    }
    print(out);
    for (const Error& error : errors_) print_error(error);
    return errors_.empty() ? exit_clean : exit_error;
  }

  Result<int> show_settings();

  void say(const std::string& text) const {
    if (options_.quiet == 0 && !text.empty()) fmt::print(stderr, "{}{}", text, text.ends_with('\n') ? "" : "\n");
  }

  const CheckOptions& options_;
  const std::string& working_directory_;
  Configs configs_;
  Progress progress_;
  Timing timing_;
  const Config* config_ = nullptr;  // of the run as a whole
  Settings settings_;               // its values with the flags on top
  std::vector<SourcePath> sources_;
  std::optional<std::set<std::string>> own_;  // of a part: what it reports about, by shown path
  std::string stdin_text_;
  std::vector<Error> errors_;
  Environment environment_;
  std::unique_ptr<Analysis> analysis_;
  std::optional<Baseline> baseline_;
  std::optional<ChangedLines> changed_;
  Findings found_;
  fixer::Outcome repaired_;
  std::size_t baselined_ = 0;
};

std::string list_text(const Names& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + ("\"" + name + "\"");
  return "[" + out + "]";
}

Result<int> Check::show_settings() {
  if (auto done = prepare(); !done) return std::unexpected(done.error());
  std::string out;
  const auto line = [&](std::string_view key, const std::string& value) {
    out += fmt::format("{} = {}\n", key, value);
  };
  const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
  const auto boolean = [](bool value) { return std::string(value ? "true" : "false"); };
  const auto codes = [](const RuleSet& set) {
    Names list;
    const auto table = rules::all_rules();
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (set[i]) list.emplace_back(table[i]->info.code);
    }
    return list_text(list);
  };
  line("# configuration", config_->file.empty() ? "none" : config_->file);
  const RuleChoice choice(config_->settings, options_.flags, options_.error_on_warning);
  line("select", codes(choice.rules()));
  line("fix", boolean(settings_.fix.value_or(false)));
  line("fix-only", boolean(settings_.fix_only.value_or(false)));
  line("unsafe-fixes", boolean(settings_.unsafe_fixes.value_or(false)));
  line("show-fixes", boolean(settings_.show_fixes.value_or(false)));
  line("unusual", boolean(settings_.unusual.value_or(false)));
  line("fixable", codes(choice.fixable()));
  line("mode", quoted(settings_.mode.value_or("any")));
  line("roots", quoted(settings_.roots.value_or("auto")));
  line("fullgraph", boolean(settings_.fullgraph.value_or(false)));
  line("torch-version", quoted(std::string(environment_.profile->version())));
  line("entry", list_text(settings_.entry.value_or(Names{})));
  line("force-exclude", boolean(settings_.force_exclude.value_or(false)));
  line("respect-gitignore", boolean(settings_.respect_gitignore.value_or(true)));
  line("output-format", quoted(settings_.output_format.value_or("full")));
  if (settings_.baseline) line("baseline", quoted(*settings_.baseline));
  line("# threads", std::to_string(options_.jobs));
  line("# search path", list_text(environment_.search_path));
  line("# files", std::to_string(sources_.size()));
  return print(out) ? exit_clean : exit_error;
}

}  // namespace

int check(const CheckOptions& options, const std::string& working_directory) {
  // Deliberately never taken apart: the process ends next, and a program of thousands of modules takes a while.
  auto* run = new Check(options, working_directory);
  auto status = run->run();
  if (status) return *status;
  print_error(status.error());
  return exit_error;
}

}  // namespace fullgraph::cli
