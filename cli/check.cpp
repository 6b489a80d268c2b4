// `fullgraph check`, from paths to exit status: the passes in their order.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/profile/profile.h"
#include "analyzer/python/program.h"
#include "analyzer/trace/trace.h"
#include "cli/baseline.h"
#include "cli/commands.h"
#include "cli/discovery.h"
#include "cli/environment.h"
#include "cli/files.h"
#include "cli/invalid_source.h"
#include "cli/relocate.h"
#include "cli/selection.h"
#include "cli/suppression.h"
#include "cli/terminal.h"
#include "reports/report.h"
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
    if (options_.show_files) return show_files();
    if (options_.show_settings) return show_settings();

    // The version of PyTorch, the way to imported packages. Beyond this point the settings do not change.
    if (auto done = prepare(); !done) return std::unexpected(done.error());
    lap("discover");

    // Every file is read here, in parallel. In a large tree, files that do not matter on their own are parsed on
    // demand.
    load();
    lap("load");

    // What happens in traced code, as events that judge nothing.
    trace();
    lap("trace");

    // Events become findings; what the parser could not read joins them. Findings in files that were not asked for go.
    findings_ = rules::judge(events_, *profile_);
    add_invalid_sources();
    keep_linted();

    // Rules that are switched off go before comments are looked at, so that no comment counts as needed by them.
    select();
    suppress();
    sort();
    lap("judge");

    // From here on findings only disappear into the baseline. It is rewritten before the report, which then is empty.
    if (auto done = compare_with_baseline(); !done) return std::unexpected(done.error());
    return report();
  }

 private:
  Result<void> discover_files() {
    if (options_.paths == Names{"-"}) return read_stdin();
    auto found = discover(options_.paths, working_directory_, configs_, options_.flags);
    if (!found) return std::unexpected(found.error());
    sources_ = std::move(found->files);
    errors_ = std::move(found->errors);
    return choose_settings(common_folder());
  }

  Result<void> read_stdin() {
    const std::string name = options_.stdin_filename.value_or("-");
    const std::string path = absolute_path(options_.stdin_filename.value_or("stdin.py"), working_directory_);
    if (auto done = choose_settings(path.substr(0, path.rfind('/') == 0 ? 1 : path.rfind('/'))); !done) return done;
    if (options_.stdin_filename && settings_.force_exclude.value_or(false) &&
        excluded(path, settings_, config_->directory))
      return {};
    stdin_text_.assign(std::istreambuf_iterator<char>(std::cin), {});
    sources_ = {{path, options_.stdin_filename ? shown_path(path, working_directory_) : name, config_, true}};
    return {};
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
    const std::string base = config_->directory;
    for (const std::string& path : settings_.python_path.value_or(Names{})) {
      // A virtual environment stands for its packages.
      const auto packages = site_packages_of(path);
      if (packages.empty()) search_path_.push_back(path);
      add_packages(packages);
    }
    for (const std::string& path : settings_.src.value_or(Names{base, base + "/src"})) search_path_.push_back(path);
    if (const auto environment = environment_of(base)) {
      add_packages(site_packages_of(*environment));
    }
    std::string version;
    if (settings_.torch_version) {
      version = *settings_.torch_version;
    } else if (const auto installed = installed_torch(search_path_)) {
      version = *installed;
    } else if (!profile::Profile::versions().empty()) {
      version = profile::Profile::versions().back();
    }
    auto profile = profile::Profile::find(version);
    if (!profile) return std::unexpected(profile.error());
    profile_ = *profile;
    if (options_.verbose) {
      fmt::print(stderr, "fullgraph {}: {} files, torch {}, configuration {}\n", FULLGRAPH_VERSION, sources_.size(),
                 profile_->version(), config_->file.empty() ? "none" : config_->file);
      for (const std::string& path : search_path_) fmt::print(stderr, "  search path: {}\n", path);
    }
    return {};
  }

  void add_packages(const std::vector<std::string>& folders) {
    search_path_.insert(search_path_.end(), folders.begin(), folders.end());
    packages_.insert(packages_.end(), folders.begin(), folders.end());
  }

  void load() {
    progress_.phase("reading");
    program_ = std::make_unique<python::Program>(search_path_);
    // The profile describes torch; looking into its sources would only repeat that, slowly.
    program_->set_opaque({"torch", "numpy"});
    std::vector<python::Program::Input> inputs;
    inputs.reserve(sources_.size());
    for (const SourcePath& source : sources_) {
      inputs.push_back(
          {source.path, source.shown, options_.paths == Names{"-"} ? &stdin_text_ : nullptr, source.given});
    }
    python::Program::Wanted wanted;
    if (is_large_tree()) wanted = [](std::string_view text) { return trace::may_start(text) || may_direct(text); };
    program_->load(inputs, options_.jobs, wanted);
  }

  // Parsing what no root needs, for its syntax errors alone, is cheap for a project and dear for a whole installation.
  bool is_large_tree() const {
    constexpr std::uintmax_t large = 8u << 20;
    std::uintmax_t bytes = 0;
    for (const SourcePath& source : sources_) {
      std::error_code error;
      const std::uintmax_t size = std::filesystem::file_size(source.path, error);
      if (!error) bytes += size;
    }
    return bytes > large;
  }

  void trace() {
    progress_.phase("tracing");
    trace::Options options;
    const std::string mode = settings_.mode.value_or("any"), roots = settings_.roots.value_or("auto");
    options.mode = mode == "train" ? trace::Mode::Train : mode == "eval" ? trace::Mode::Eval : trace::Mode::Any;
    options.roots = roots == "compiled"  ? trace::Roots::Compiled
                    : roots == "modules" ? trace::Roots::Modules
                                         : trace::Roots::Auto;
    options.fullgraph = settings_.fullgraph.value_or(false);
    options.jobs = options_.jobs;
    options.entries = settings_.entry.value_or(Names{});
    options.progress = [this](std::size_t done, std::size_t total) { progress_.update(done, total); };
    trace::Outcome outcome = trace::trace(*program_, *profile_, options);
    progress_.clear();
    events_ = std::move(outcome.events);
    roots_ = outcome.roots;
    errors_.insert(errors_.end(), outcome.errors.begin(), outcome.errors.end());
  }

  void add_invalid_sources() {
    for (const python::Program::File& file : program_->files()) {
      if (file.module != nullptr) {
        for (const ir::SyntaxError& error : file.module->errors) findings_.push_back(syntax_error(*file.module, error));
      } else if (file.readable) {
        continue;  // nothing needed it
      } else if (file.error.kind == ErrorKind::Encoding || file.error.kind == ErrorKind::Syntax) {
        findings_.push_back(unreadable_text(file));
      } else {
        Error error = file.error;
        error.where = ErrorLocation{file.shown, 0, 0};
        errors_.push_back(std::move(error));
      }
    }
  }

  void keep_linted() {
    for (std::size_t i = 0; i < sources_.size(); ++i) by_shown_[sources_[i].shown] = i;
    const std::size_t before = findings_.size();
    findings_ = relocate(
        std::move(findings_), [this](const std::string& shown) { return by_shown_.contains(shown); },
        [this](const std::string& shown) {
          const std::string path = absolute_path(shown, working_directory_);
          return std::ranges::any_of(packages_,
                                     [&](const std::string& folder) { return path.starts_with(folder + "/"); });
        });
    if (options_.verbose && findings_.size() != before) {
      fmt::print(stderr, "{} findings are in files that were not given\n", before - findings_.size());
    }
  }

  const SourcePath& source_of(const Diagnostic& finding) const {
    return sources_[by_shown_.at(finding.place.source->path())];
  }

  const RuleChoice& choice_of(const SourcePath& source) {
    auto& entry = choices_[source.config];
    if (entry == nullptr)
      entry = std::make_unique<RuleChoice>(source.config->settings, options_.flags, options_.error_on_warning);
    return *entry;
  }

  // Drops the findings of rules that are switched off; sets the others' severity.
  void select() {
    std::vector<Diagnostic> out;
    for (Diagnostic& finding : findings_) {
      const SourcePath& source = source_of(finding);
      const RuleChoice& choice = choice_of(source);
      if (!choice.enabled(finding.code, source.path)) continue;
      const std::optional<Severity> severity = choice.severity(finding);
      if (!severity) continue;
      finding.severity = *severity;
      out.push_back(std::move(finding));
    }
    findings_ = std::move(out);
  }

  void suppress() {
    if (options_.ignore_noqa) return;
    std::unordered_map<std::string, std::vector<Diagnostic>> by_file;
    for (Diagnostic& finding : findings_) by_file[finding.place.source->path()].push_back(std::move(finding));
    const std::size_t before = findings_.size();
    findings_.clear();
    std::vector<Diagnostic> about_comments;
    for (const python::Program::File& file : program_->files()) {
      auto found = by_file.find(file.shown);
      std::vector<Diagnostic> mine = found == by_file.end() ? std::vector<Diagnostic>() : std::move(found->second);
      if (file.module != nullptr) mine = suppress_in(*file.module, std::move(mine), about_comments);
      findings_.insert(findings_.end(), std::make_move_iterator(mine.begin()), std::make_move_iterator(mine.end()));
    }
    suppressed_ = before - findings_.size();
    findings_.insert(findings_.end(), std::make_move_iterator(about_comments.begin()),
                     std::make_move_iterator(about_comments.end()));
  }

  std::vector<Diagnostic> suppress_in(const ir::Module& module, std::vector<Diagnostic> findings,
                                      std::vector<Diagnostic>& about_comments) {
    std::vector<Directive> directives = directives_of(module);
    if (directives.empty()) return findings;
    findings = cli::suppress(module, directives, std::move(findings));
    const SourcePath& source = sources_[by_shown_.at(module.source->path())];
    const RuleChoice& choice = choice_of(source);
    // In one mode only, a comment may be needed for the other.
    const bool any_mode = settings_.mode.value_or("any") == "any";
    std::vector<Diagnostic> about = judge_directives(module, directives, [&](std::string_view code) {
      return choice.enabled(code, source.path) && (code != "FG901" || any_mode);
    });
    // Only a comment that names these rules suppresses them: one for all rules would hide that it is unused itself.
    std::erase_if(directives, [](const Directive& directive) { return directive.codes.empty(); });
    for (Diagnostic& finding : cli::suppress(module, directives, std::move(about))) {
      const std::optional<Severity> severity = choice.severity(finding);
      if (!severity) continue;
      finding.severity = *severity;
      about_comments.push_back(std::move(finding));
    }
    return findings;
  }

  void sort() {
    std::ranges::stable_sort(findings_, {}, [](const Diagnostic& d) {
      return std::make_tuple(std::string_view(d.place.source->path()), d.place.span.begin, std::string_view(d.code));
    });
  }

  Result<void> compare_with_baseline() {
    if (!settings_.baseline) {
      if (!options_.update_baseline && !options_.prune_baseline) return {};
      return std::unexpected(
          Error{ErrorKind::Usage, "say which file with --baseline FILE, or set `baseline` in the configuration", {}});
    }
    const std::string& file = *settings_.baseline;
    std::error_code error;
    const bool exists = std::filesystem::exists(file, error);
    Baseline baseline(std::filesystem::path(file).parent_path().string());
    if (exists || !options_.update_baseline) {
      auto read = Baseline::read(file);
      if (!read) return std::unexpected(read.error());
      baseline = std::move(*read);
    }
    // Entries of files that this run did not look at stay, unless the file is gone.
    std::unordered_set<std::string> linted;
    for (const SourcePath& source : sources_) linted.insert(source.path);
    const auto checked = [&](const std::string& path) {
      std::error_code ignored;
      return linted.contains(path) || !std::filesystem::exists(path, ignored);
    };
    if (options_.update_baseline) {
      baseline.drop(checked);
      for (const Diagnostic& finding : findings_) baseline.add(finding, working_directory_);
      if (auto written = write_atomically(file, baseline.to_json()); !written) return written;
      say(fmt::format("Wrote {} findings to {}", baseline.size(), shown_path(file, working_directory_)));
    }
    const std::size_t before = findings_.size();
    findings_ = baseline.filter(std::move(findings_), working_directory_);
    baselined_ = before - findings_.size();
    const std::size_t stale = baseline.stale(checked);
    if (stale == 0 || options_.update_baseline) return {};
    if (!options_.prune_baseline) {
      say(fmt::format("{} of the baseline's findings are gone; --prune-baseline removes them", stale));
      return {};
    }
    baseline.prune(checked);
    if (auto written = write_atomically(file, baseline.to_json()); !written) return written;
    say(fmt::format("Removed {} findings from {}", stale, shown_path(file, working_directory_)));
    return {};
  }

  Result<int> report() {
    reports::Report report;
    report.version = FULLGRAPH_VERSION;
    report.torch_version = profile_->version();
    report.findings = std::move(findings_);
    report.errors = errors_;
    report.root = working_directory_;
    report.files = sources_.size();
    report.roots = roots_;
    report.suppressed = suppressed_;
    report.baselined = baselined_;

    const reports::Format format =
        reports::format_of(settings_.output_format.value_or("full")).value_or(reports::Format::Full);
    reports::Style style;
    const bool to_file = options_.output_file.has_value();
    style.color = to_file ? options_.color == Color::Always : use_color(options_.color, STDOUT_FILENO);
    style.hyperlinks = style.color && !to_file && is_terminal(STDOUT_FILENO);
    style.summary = options_.quiet == 0;
    const std::string text =
        options_.statistics ? reports::render_statistics(report, format) : reports::render(report, format, style);
    lap("report");

    if (to_file) {
      if (auto written = write_atomically(*options_.output_file, text); !written)
        return std::unexpected(written.error());
    } else if (options_.quiet < 2 && !print(text)) {
      return std::unexpected(Error{ErrorKind::Io, "cannot write the report to stdout", {}});
    }
    if (sources_.empty() && errors_.empty()) say("warning: no Python files under the given paths");
    for (const Error& error : errors_) print_error(error);
    if (options_.timing) print_timing();

    if (!errors_.empty()) return exit_error;
    const bool fails =
        std::ranges::any_of(report.findings, [](const Diagnostic& d) { return d.severity != Severity::Info; });
    return fails && !options_.exit_zero ? exit_findings : exit_clean;
  }

  Result<int> show_files() {
    std::string out;
    for (const SourcePath& source : sources_) out += source.shown + "\n";
    print(out);
    for (const Error& error : errors_) print_error(error);
    return errors_.empty() ? exit_clean : exit_error;
  }

  Result<int> show_settings();

  void say(const std::string& text) const {
    if (options_.quiet == 0) fmt::print(stderr, "{}\n", text);
  }

  void lap(std::string_view phase) {
    const auto now = std::chrono::steady_clock::now();
    laps_.emplace_back(phase, std::chrono::duration<double, std::milli>(now - last_).count());
    last_ = now;
  }

  void print_timing() const {
    double total = 0;
    for (const auto& [phase, milliseconds] : laps_) {
      fmt::print(stderr, "{:<10} {:>10.1f} ms\n", phase, milliseconds);
      total += milliseconds;
    }
    fmt::print(stderr, "{:<10} {:>10.1f} ms\n", "total", total);
  }

  const CheckOptions& options_;
  const std::string& working_directory_;
  Configs configs_;
  Progress progress_;
  const Config* config_ = nullptr;  // of the run as a whole
  Settings settings_;               // its values with the flags on top
  std::vector<SourcePath> sources_;
  std::string stdin_text_;
  std::vector<Error> errors_;
  std::vector<std::string> search_path_;
  std::vector<std::string> packages_;  // the part of it where installed packages are
  const profile::Profile* profile_ = nullptr;
  std::unique_ptr<python::Program> program_;
  std::vector<trace::Event> events_;
  std::vector<Diagnostic> findings_;
  std::unordered_map<std::string, std::size_t> by_shown_;
  std::map<const Config*, std::unique_ptr<RuleChoice>> choices_;
  std::size_t roots_ = 0, suppressed_ = 0, baselined_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::vector<std::pair<std::string_view, double>> laps_;
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
  line("# configuration", config_->file.empty() ? "none" : config_->file);
  Names codes;
  const RuleChoice choice(config_->settings, options_.flags, options_.error_on_warning);
  const auto table = rules::all_rules();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (choice.rules()[i]) codes.emplace_back(table[i]->info.code);
  }
  line("select", list_text(codes));
  line("mode", quoted(settings_.mode.value_or("any")));
  line("roots", quoted(settings_.roots.value_or("auto")));
  line("fullgraph", settings_.fullgraph.value_or(false) ? "true" : "false");
  line("torch-version", quoted(std::string(profile_->version())));
  line("entry", list_text(settings_.entry.value_or(Names{})));
  line("force-exclude", settings_.force_exclude.value_or(false) ? "true" : "false");
  line("respect-gitignore", settings_.respect_gitignore.value_or(true) ? "true" : "false");
  line("output-format", quoted(settings_.output_format.value_or("full")));
  if (settings_.baseline) line("baseline", quoted(*settings_.baseline));
  line("# threads", std::to_string(options_.jobs));
  line("# search path", list_text(search_path_));
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
