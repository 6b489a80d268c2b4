#include "cli/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <tuple>

#include "analyzer/python/parse.h"
#include "cli/environment.h"
#include "cli/invalid_source.h"
#include "cli/merge_recordings.h"
#include "cli/relocate.h"
#include "cli/suppression.h"
#include "rules/rule.h"

namespace fullgraph::cli {

Result<Environment> environment_for(const Settings& settings, const std::string& base) {
  Environment out;
  const auto add_packages = [&](const std::vector<std::string>& folders) {
    out.search_path.insert(out.search_path.end(), folders.begin(), folders.end());
    out.packages.insert(out.packages.end(), folders.begin(), folders.end());
  };
  for (const std::string& path : settings.python_path.value_or(Names{})) {
    // A virtual environment stands for its packages.
    const auto packages = site_packages_of(path);
    if (packages.empty()) out.search_path.push_back(path);
    add_packages(packages);
  }
  for (const std::string& path : settings.src.value_or(Names{base, base + "/src"})) out.search_path.push_back(path);
  if (const auto environment = environment_of(base)) add_packages(site_packages_of(*environment));

  std::string version;
  if (settings.torch_version) {
    version = *settings.torch_version;
  } else if (const auto installed = installed_torch(out.search_path)) {
    version = *installed;
  } else if (!profile::Profile::versions().empty()) {
    version = profile::Profile::versions().back();
  }
  auto profile = profile::Profile::find(version);
  if (!profile) return std::unexpected(profile.error());
  out.profile = *profile;
  return out;
}

trace::Options trace_options(const Settings& settings, unsigned jobs) {
  trace::Options options;
  const std::string mode = settings.mode.value_or("any");
  options.mode = mode == "train" ? trace::Mode::Train : mode == "eval" ? trace::Mode::Eval : trace::Mode::Any;
  options.fullgraph = settings.fullgraph.value_or(false);
  options.jobs = jobs;
  return options;
}

Analysis::Analysis(const CheckOptions& options, const std::string& working_directory, const Settings& settings,
                   const std::vector<SourcePath>& sources, const Environment& environment, Progress& progress,
                   Timing& timing)
    : options_(options),
      working_directory_(working_directory),
      settings_(settings),
      sources_(sources),
      environment_(environment),
      progress_(progress),
      timing_(timing) {
  for (std::size_t i = 0; i < sources_.size(); ++i) by_shown_[sources_[i].shown] = i;
  for (const SourcePath& source : sources_) {
    const auto recorded = source.given && !is_cxx(source.path) ? is_recording(source) : Result<bool>(false);
    is_recording_.push_back(!recorded || *recorded);
    if (!recorded) recording_errors_.push_back(recorded.error());
  }
}

const SourcePath* Analysis::source(const std::string& shown) const {
  const auto found = by_shown_.find(shown);
  return found == by_shown_.end() ? nullptr : &sources_[found->second];
}

Findings Analysis::run(const Texts& texts, unsigned jobs) {
  found_ = {};

  // Every file is read here, in parallel. In a large tree, files that do not matter on their own are parsed on
  // demand.
  load(texts, jobs);
  timing_.lap("load");
  if (!recordings_) look_at_recordings(jobs);
  look_at_cxx_sources(jobs);
  trace::Native native = native_names(cxx_->registrations, *program_);
  if (session_ && native != native_) session_->forget();
  native_ = std::move(native);

  // What happens in traced code, as events that judge nothing.
  trace(jobs);
  timing_.lap("trace");
  if (found_.cancelled) return std::move(found_);

  // Events become findings; what the parser could not read joins them. Findings in files that were not asked for go.
  found_.list = rules::judge(events_, *environment_.profile, jobs);
  events_.clear();
  add_invalid_sources();
  keep_linted();
  merge_recordings();
  merge_cxx();

  // Rules that are switched off go before comments are looked at, so that no comment counts as needed by them.
  select();
  if (drop_others_) drop_others();
  set_elsewhere_apart();
  suppress();
  leave_out_unusual();
  std::ranges::move(elsewhere_, std::back_inserter(found_.list));
  elsewhere_.clear();
  sort();
  timing_.lap("judge");
  return std::move(found_);
}

void Analysis::keep(std::function<bool()> cancelled) {
  session_.emplace();
  cancelled_ = std::move(cancelled);
}

void Analysis::take_over(Analysis& before) {
  program_ = std::move(before.program_);
  texts_ = std::move(before.texts_);
  stale_ = std::move(before.stale_);
  reload_ = true;
}

bool Analysis::is_of_interest(const ir::Module& module) const {
  return !focus_ || focus_->contains(module.source->path());
}

// Puts changed sources in the place of what they were. False when that is not possible: one was not there before, or
// cannot be read now.
bool Analysis::replace_changed(const Texts& texts) {
  if (program_ == nullptr || reload_) return false;
  std::set<std::string> changed = stale_;
  for (const auto& [path, text] : texts) {
    const auto before = texts_.find(path);
    if (before == texts_.end() || before->second != text) changed.insert(path);
  }
  for (const auto& [path, text] : texts_) {
    if (!texts.contains(path)) changed.insert(path);
  }
  std::vector<std::pair<const python::Program::File*, std::shared_ptr<const ir::Module>>> modules;
  for (const std::string& path : changed) {
    const auto file = std::ranges::find(program_->files(), path, &python::Program::File::path);
    if (file == program_->files().end() || !file->readable) return false;
    const auto text = texts.find(path);
    auto source =
        text != texts.end() ? python::make_source(text->second, file->shown) : python::read_source(path, file->shown);
    if (!source) return false;
    if (file->module != nullptr && file->module->source->text() == (*source)->text()) {
      broken_.erase(path);
      continue;
    }
    const python::ModuleName name = python::module_name_of(path);
    // One file is edited at a time.
    python::KeptTree* const kept = session_ && text != texts.end() ? &kept_tree_ : nullptr;
    if (kept != nullptr && std::exchange(kept_tree_of_, path) != path) kept_tree_ = {};
    modules.emplace_back(&*file, python::parse(std::move(*source), name.name, name.is_package, kept));
  }
  for (auto& [file, module] : modules) {
    broken_.erase(file->path);
    const bool was_whole = file->module != nullptr && file->module->errors.empty();
    if (session_ && was_whole && !module->errors.empty()) {
      broken_[file->path] = std::move(module);
    } else {
      program_->replace(file->path, std::move(module));
    }
  }
  texts_ = texts;
  stale_.clear();
  return true;
}

void Analysis::load(const Texts& texts, unsigned jobs) {
  if (replace_changed(texts)) return;
  broken_.clear();
  reload_ = false;
  if (session_) session_->forget();
  progress_.phase("reading");
  // What was parsed by the look before and is not changed stays as it was, even if the file on the disk does not.
  std::unordered_map<std::string, std::shared_ptr<const ir::Module>> known;
  if (program_ != nullptr) {
    for (const python::Program::File& file : program_->files()) {
      if (!texts_.contains(file.path) && !stale_.contains(file.path)) known[file.path] = file.module;
    }
  }
  texts_ = texts;
  stale_.clear();
  program_ = std::make_unique<python::Program>(environment_.search_path);
  // The profile describes torch; looking into its sources would only repeat that, slowly.
  program_->set_opaque({"torch", "numpy"});
  std::vector<python::Program::Input> inputs;
  inputs.reserve(sources_.size());
  for (std::size_t at = 0; at < sources_.size(); ++at) {
    const SourcePath& source = sources_[at];
    if (is_recording_[at] || is_cxx(source.path)) continue;
    const auto text = texts_.find(source.path);
    if (text != texts_.end()) {
      inputs.push_back({source.path, source.shown, &text->second});
      continue;
    }
    const auto module = known.find(source.path);
    inputs.push_back(
        {source.path, source.shown, nullptr, source.given, module == known.end() ? nullptr : module->second});
  }
  python::Program::Wanted wanted;
  if (is_large_tree()) wanted = [](std::string_view text) { return trace::may_start(text) || may_direct(text); };
  program_->load(inputs, jobs, wanted);
}

// Parsing what no root needs, for its syntax errors alone, is cheap for a project and dear for a whole installation.
bool Analysis::is_large_tree() const {
  constexpr std::uintmax_t large = 8u << 20;
  std::uintmax_t bytes = 0;
  for (const SourcePath& source : sources_) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(source.path, error);
    if (!error) bytes += size;
  }
  return bytes > large;
}

void Analysis::trace(unsigned jobs) {
  progress_.phase("tracing");
  trace::Options options = trace_options(settings_, jobs);
  const std::string roots = settings_.roots.value_or("auto");
  options.roots = roots == "compiled"  ? trace::Roots::Compiled
                  : roots == "modules" ? trace::Roots::Modules
                                       : trace::Roots::Auto;
  options.entries = settings_.entry.value_or(Names{});
  options.native = native_;
  options.progress = [this](std::size_t done, std::size_t total) { progress_.update(done, total); };
  options.cancelled = cancelled_;
  if (focus_) options.wanted = [this](const ir::Module& module) { return is_of_interest(module); };
  trace::Outcome outcome = session_ ? session_->trace(*program_, *environment_.profile, options)
                                    : trace::trace(*program_, *environment_.profile, options);
  progress_.clear();
  found_.cancelled = outcome.cancelled;
  events_ = std::move(outcome.events);
  found_.roots = outcome.roots;
  found_.errors.insert(found_.errors.end(), outcome.errors.begin(), outcome.errors.end());
}

void Analysis::add_invalid_sources() {
  for (const auto& [path, module] : broken_) {
    for (const ir::SyntaxError& error : module->errors) found_.list.push_back(syntax_error(*module, error));
  }
  for (const python::Program::File& file : program_->files()) {
    if (file.module != nullptr) {
      for (const ir::SyntaxError& error : file.module->errors) found_.list.push_back(syntax_error(*file.module, error));
    } else if (file.readable) {
      continue;  // nothing needed it
    } else if (file.error.kind == ErrorKind::Encoding || file.error.kind == ErrorKind::Syntax) {
      found_.list.push_back(unreadable_text(file));
    } else {
      Error error = file.error;
      error.where = ErrorLocation{file.shown, 0, 0};
      found_.errors.push_back(std::move(error));
    }
  }
}

void Analysis::keep_linted() {
  const std::size_t before = found_.list.size();
  found_.list = relocate(
      std::move(found_.list), [this](const std::string& shown) { return by_shown_.contains(shown); },
      [this](const std::string& shown) {
        const std::string path = absolute_path(shown, working_directory_);
        return std::ranges::any_of(environment_.packages,
                                   [&](const std::string& folder) { return path.starts_with(folder + "/"); });
      });
  for (Diagnostic& finding : found_.list) drop_fixes_elsewhere(finding);
  if (options_.verbose && found_.list.size() != before) {
    fmt::print(stderr, "{} findings are in files that were not given\n", before - found_.list.size());
  }
}

void Analysis::look_at_recordings(unsigned jobs) {
  recordings_.emplace();
  for (std::size_t at = 0; at < sources_.size(); ++at) {
    if (!is_recording_[at]) continue;
    const bool failed = std::ranges::any_of(
        recording_errors_, [&](const Error& error) { return error.where && error.where->file == sources_[at].shown; });
    if (failed) continue;
    auto recording = look_at_recording(sources_[at], working_directory_, environment_, settings_, jobs);
    if (recording)
      recordings_->push_back(std::move(*recording));
    else
      recording_errors_.push_back(recording.error());
  }
  timing_.lap("recordings");
}

void Analysis::merge_recordings() {
  found_.errors.insert(found_.errors.end(), recording_errors_.begin(), recording_errors_.end());
  if (recordings_->empty()) return;
  LintedSources linted;
  for (const python::Program::File& file : program_->files()) {
    if (file.module != nullptr) linted.push_back(file.module->source);
  }
  for (Recording& recording : *recordings_) {
    found_.roots += recording.roots;
    found_.notes.push_back(fmt::format("{} is {}: {}", recording.file->shown, graphs::name_of(recording.format),
                                       graphs::blind_spots_of(recording.format)));
    merge_findings(found_.list, recording.findings, linted);
    const LoggedBreaks breaks = merge_breaks(found_.list, recording, linted, working_directory_, *environment_.profile);
    if (breaks.logged == 0 && !graphs::is_log(recording.format)) continue;
    found_.notes.push_back(
        fmt::format("{} tells of {} graph breaks: {} found in the sources as well, {} only at run time",
                    recording.file->shown, breaks.logged, breaks.confirmed, breaks.only_at_run_time));
  }
  std::erase_if(found_.list, [this](const Diagnostic& finding) {
    const SourcePath* const source = this->source(finding.place.source->path());
    return source != nullptr && source->only_logged && finding.evidence == Evidence::Static;
  });
}

void Analysis::look_at_cxx_sources(unsigned jobs) {
  Texts texts;
  for (const auto& [path, text] : texts_) {
    if (is_cxx(path)) texts[path] = text;
  }
  if (cxx_ && texts == cxx_texts_) return;
  std::vector<const SourcePath*> files;
  for (const SourcePath& source : sources_) {
    if (is_cxx(source.path)) files.push_back(&source);
  }
  cxx_texts_ = std::move(texts);
  cxx_ = look_at_cxx(files, cxx_texts_, working_directory_, environment_, settings_, jobs);
  if (!files.empty()) timing_.lap("C++ sources");
}

void Analysis::merge_cxx() {
  found_.roots += cxx_->roots;
  found_.errors.insert(found_.errors.end(), cxx_->errors.begin(), cxx_->errors.end());
  found_.notes.insert(found_.notes.end(), cxx_->notes.begin(), cxx_->notes.end());
  for (Diagnostic finding : cxx_->list) {
    drop_fixes_elsewhere(finding);
    found_.list.push_back(std::move(finding));
  }
  std::vector<trace::Event> events;
  for (const auto& [name, where] : native_.operators_without_fake) {
    trace::Event& defined = events.emplace_back();
    defined.kind = trace::EventKind::OperatorWithoutFake;
    defined.where = where;
    defined.callee = name;
  }
  for (Diagnostic& finding : rules::judge(events, *environment_.profile)) {
    const std::string& path = finding.place.source->path();
    finding.roots = {source(path) != nullptr ? path : cxx_->first};
    found_.list.push_back(std::move(finding));
  }
}

// What stands in none of the sources belongs to the one that tells of it.
void Analysis::drop_others() {
  std::erase_if(found_.list, [this](const Diagnostic& finding) {
    const std::string& path = finding.place.source->path();
    return !focus_->contains(source(path) != nullptr ? path : finding.roots.front());
  });
}

// Comments and texts are there for sources that were linted only.
void Analysis::set_elsewhere_apart() {
  const auto first = std::ranges::stable_partition(found_.list, [this](const Diagnostic& finding) {
    const std::string& path = finding.place.source->path();
    const auto at = by_shown_.find(path);
    return is_cxx(path) || (at != by_shown_.end() && !is_recording_[at->second]);
  });
  elsewhere_.assign(std::make_move_iterator(first.begin()), std::make_move_iterator(first.end()));
  found_.list.erase(first.begin(), first.end());
}

// A fix that would change a file that was not given is advice.
void Analysis::drop_fixes_elsewhere(Diagnostic& finding) const {
  for (Fix& fix : finding.fixes) {
    const bool here = std::ranges::all_of(fix.edits, [&](const Edit& edit) {
      return edit.place.source != nullptr && by_shown_.contains(edit.place.source->path());
    });
    if (here) continue;
    fix.applicability = Applicability::Display;
    fix.edits.clear();
  }
}

const RuleChoice& Analysis::choice_of(const SourcePath& source) {
  auto& entry = choices_[source.config];
  if (entry == nullptr)
    entry = std::make_unique<RuleChoice>(source.config->settings, options_.flags, options_.error_on_warning);
  return *entry;
}

// Makes of the finding what the configuration says; false when it is not to be reported.
bool Analysis::take(Diagnostic& finding, const RuleChoice& choice) const {
  const std::optional<Severity> severity = choice.severity(finding);
  if (!severity) return false;
  finding.severity = *severity;
  for (Fix& fix : finding.fixes) fix.applicability = choice.applicability(finding.code, fix.applicability);
  return true;
}

// Drops the findings of rules that are switched off.
void Analysis::select() {
  std::vector<Diagnostic> out;
  for (Diagnostic& finding : found_.list) {
    // What only a recording knows of is judged by the configuration of the recording.
    const SourcePath* const linted = this->source(finding.place.source->path());
    const SourcePath& source = linted != nullptr ? *linted : *this->source(finding.roots.front());
    const RuleChoice& choice = choice_of(source);
    if (choice.enabled(finding.code, source.path) && take(finding, choice)) out.push_back(std::move(finding));
  }
  found_.list = std::move(out);
}

void Analysis::suppress() {
  if (options_.ignore_noqa) return;
  std::unordered_map<std::string, std::vector<Diagnostic>> by_file;
  for (Diagnostic& finding : found_.list) by_file[finding.place.source->path()].push_back(std::move(finding));
  const std::size_t before = found_.list.size();
  found_.list.clear();
  std::vector<Diagnostic> about_comments;
  const auto look_at = [&](const std::string& shown, const ir::Module* module) {
    auto found = by_file.find(shown);
    std::vector<Diagnostic> mine = found == by_file.end() ? std::vector<Diagnostic>() : std::move(found->second);
    if (module != nullptr && is_of_interest(*module)) mine = suppress_in(*module, std::move(mine), about_comments);
    found_.list.insert(found_.list.end(), std::make_move_iterator(mine.begin()), std::make_move_iterator(mine.end()));
  };
  for (const python::Program::File& file : program_->files()) look_at(file.shown, file.module.get());
  for (const auto& source : cxx_->sources) look_at(source->source->path(), source.get());
  found_.suppressed = before - found_.list.size();
  found_.list.insert(found_.list.end(), std::make_move_iterator(about_comments.begin()),
                     std::make_move_iterator(about_comments.end()));
}

std::vector<Diagnostic> Analysis::suppress_in(const ir::Module& module, std::vector<Diagnostic> findings,
                                              std::vector<Diagnostic>& about_comments) {
  std::vector<Directive> directives = directives_of(module);
  if (directives.empty()) return findings;
  findings = cli::suppress(module, directives, std::move(findings));
  const SourcePath* const linted = this->source(module.source->path());
  if (linted == nullptr) return findings;  // a header that others include
  const SourcePath& source = *linted;
  if (source.only_logged) return findings;
  const RuleChoice& choice = choice_of(source);
  // In one mode only, a comment may be needed for the other.
  const bool any_mode = settings_.mode.value_or("any") == "any";
  std::vector<Diagnostic> about = judge_directives(module, directives, [&](std::string_view code) {
    return choice.enabled(code, source.path) && (code != "FG901" || any_mode);
  });
  if (module.recording == ir::Recording::Cxx) {  // nothing is repaired there yet
    for (Diagnostic& finding : about) finding.fixes.clear();
  }
  // Only a comment that names these rules suppresses them: one for all rules would hide that it is unused itself.
  std::erase_if(directives, [](const Directive& directive) { return directive.codes.empty(); });
  for (Diagnostic& finding : cli::suppress(module, directives, std::move(about))) {
    if (take(finding, choice)) about_comments.push_back(std::move(finding));
  }
  return findings;
}

// After comments have been looked at: one that suppresses such a finding is needed, whether it is shown or not.
void Analysis::leave_out_unusual() {
  if (settings_.unusual.value_or(false)) return;
  found_.unusual = std::erase_if(found_.list, [](const Diagnostic& finding) { return finding.unusual; });
}

void Analysis::sort() {
  std::ranges::stable_sort(found_.list, {}, [](const Diagnostic& d) {
    return std::make_tuple(std::string_view(d.place.source->path()), d.place.span.begin, std::string_view(d.code));
  });
}

}  // namespace fullgraph::cli
