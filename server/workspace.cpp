#include "server/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "cli/analysis.h"
#include "cli/baseline.h"
#include "cli/config.h"
#include "cli/cxx_sources.h"
#include "cli/discovery.h"
#include "cli/fix.h"

namespace fullgraph::server {

namespace {

namespace fs = std::filesystem;

std::string parent_of(const std::string& path) {
  return fs::path(path).parent_path().string();
}

bool lies_in(const std::string& path, const std::string& folder) {
  return path.starts_with(folder.ends_with('/') ? folder : folder + "/");
}

bool is_configuration(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return name == ".fullgraph.toml" || name == "fullgraph.toml" || name == "pyproject.toml" || name == ".gitignore";
}

std::string text_of(const Error& error) {
  if (!error.where) return error.message;
  std::string place = error.where->file;
  if (error.where->line != 0) place += fmt::format(":{}", error.where->line);
  return place + ": " + error.message;
}

}  // namespace

std::string Finding::path_of(const Place& place) const {
  return place.source == nullptr ? std::string() : cli::absolute_path(place.source->path(), *root);
}

// One `fullgraph check`.
struct Workspace::Project {
  Project(std::string root_, bool loose_, const Hooks& hooks_)
      : root(std::make_shared<const std::string>(std::move(root_))), loose(loose_), hooks(hooks_) {
    progress.listen(hooks.progress);
  }

  const std::shared_ptr<const std::string> root;
  const bool loose;
  const Hooks& hooks;
  cli::CheckOptions options;
  std::unique_ptr<cli::Configs> configs;
  const cli::Config* config = nullptr;
  cli::Settings settings;
  std::vector<cli::SourcePath> sources;  // sorted by path
  cli::Environment environment;
  cli::Progress progress{false};
  cli::Timing timing;
  std::unique_ptr<cli::Analysis> analysis;
  std::optional<cli::Baseline> baseline;
  cli::Findings found;  // by the last look that was not cancelled
  std::function<bool()> cancelled;

  // Reads the configuration and finds the sources anew. `open`: texts that belong here.
  Result<void> set_up(const ClientSettings& client, const std::vector<std::string>& open) {
    std::vector<std::string> told;
    options = check_options_of(client, *root, told);
    for (const std::string& sentence : told) hooks.warn(sentence);
    auto fresh = std::make_unique<cli::Configs>(options.config_file, options.isolated, *root);
    auto found_config = fresh->find(*root);
    if (!found_config) return std::unexpected(found_config.error());
    std::vector<cli::SourcePath> found_sources;
    if (!loose) {
      auto discovered = cli::discover({*root}, *root, *fresh, options.flags);
      if (!discovered) return std::unexpected(discovered.error());
      for (const Error& error : discovered->errors) hooks.log(text_of(error));
      found_sources = std::move(discovered->files);
      // Half a second for each, at the first look and after each edit of one: not at the pace of typing.
      std::erase_if(found_sources, [](const cli::SourcePath& source) { return cli::is_cxx(source.path); });
    }
    // The analysis refers to all of these.
    std::unique_ptr<cli::Analysis> before = std::move(analysis);
    config = *found_config;
    settings = config->settings;
    cli::overlay(settings, options.flags);
    sources = std::move(found_sources);
    const std::unique_ptr<cli::Configs> old_configs = std::exchange(configs, std::move(fresh));
    for (const std::string& path : open) add(path);
    std::ranges::sort(sources, {}, &cli::SourcePath::path);
    auto made = cli::environment_for(settings, config->directory);
    if (!made) return std::unexpected(made.error());
    environment = std::move(*made);
    read_baseline();
    analysis = std::make_unique<cli::Analysis>(options, *root, settings, sources, environment, progress, timing);
    if (before != nullptr) analysis->take_over(*before);
    analysis->keep([this] { return cancelled && cancelled(); });
    return {};
  }

  // What is open and on no disk yet, or was found by nobody since it is in no folder. What is excluded stays so.
  void add(const std::string& path) {
    if (holds(path)) return;
    std::error_code error;
    if (!loose && fs::exists(path, error)) return;
    auto own = configs->find(parent_of(path));
    if (!own) return;
    cli::Settings here = (*own)->settings;
    cli::overlay(here, options.flags);
    if (!loose && cli::excluded(path, here, *root)) return;
    sources.push_back({path, cli::shown_path(path, *root), *own, loose});
  }

  [[nodiscard]] bool holds(const std::string& path) const {
    return std::ranges::find(sources, path, &cli::SourcePath::path) != sources.end();
  }

  void read_baseline() {
    baseline.reset();
    std::error_code error;
    if (!settings.baseline || !fs::exists(*settings.baseline, error)) return;
    auto read = cli::Baseline::read(*settings.baseline);
    if (read) {
      baseline = std::move(*read);
    } else {
      hooks.warn(text_of(read.error()));
    }
  }

  [[nodiscard]] cli::Analysis::Texts texts(const Snapshot& now) const {
    cli::Analysis::Texts out;
    for (const auto& [path, text] : now.open) {
      if (holds(path)) out.emplace(path, std::string(text.source->text()));
    }
    return out;
  }

  [[nodiscard]] std::vector<Diagnostic> without_baseline(std::vector<Diagnostic> findings) const {
    return baseline ? cli::Baseline(*baseline).filter(std::move(findings), *root) : findings;
  }

  bool look(const Snapshot& now) {
    std::optional<std::set<std::string>> focus;
    if (!now.settings.whole_workspace) {
      focus.emplace();
      for (const auto& [path, text] : now.open) focus->insert(cli::shown_path(path, *root));
    }
    analysis->focus(std::move(focus));
    const auto begin = std::chrono::steady_clock::now();
    timing = {};
    cli::Findings seen = analysis->run(texts(now), options.jobs);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    hooks.trace(fmt::format("{}: {} after {:.1f} ms", *root, seen.cancelled ? "broken off" : "looked at", took.count()),
                fmt::format("{} of {} roots traced;{}", analysis->traced_anew(), seen.roots, timing.text()));
    if (seen.cancelled) return false;
    found = std::move(seen);
    for (const Error& error : found.errors) hooks.log(text_of(error));
    return true;
  }
};

Workspace::Workspace(Hooks hooks) : hooks_(std::move(hooks)) {}
Workspace::~Workspace() = default;

void Workspace::changed_on_disk(const std::string& path, bool content) {
  touched_.insert(path);
  rediscover_ = rediscover_ || !content || is_configuration(path);
}

Workspace::Project* Workspace::project_of(const std::string& path) const {
  const auto loose = projects_.find(parent_of(path) + "/");
  if (loose != projects_.end() && loose->second->holds(path)) return loose->second.get();
  Project* best = nullptr;
  for (const auto& [key, project] : projects_) {
    if (!project->loose && lies_in(path, *project->root) &&
        (best == nullptr || project->root->size() > best->root->size()))
      best = project.get();
  }
  return best;
}

// Makes projects of folders and open files, and sets those up for which something has changed.
void Workspace::arrange(const Snapshot& now) {
  std::map<std::string, std::vector<std::string>> wanted;  // with the open files that are theirs
  for (const std::string& folder : now.folders) wanted[folder];
  for (const auto& [path, text] : now.open) {
    std::string home;
    for (const std::string& folder : now.folders) {
      if (lies_in(path, folder) && folder.size() > home.size()) home = folder;
    }
    wanted[home.empty() ? parent_of(path) + "/" : home].push_back(path);
  }
  std::erase_if(projects_, [&](const auto& entry) { return !wanted.contains(entry.first); });

  const bool all = rediscover_ || !arranged_ || arranged_->settings != now.settings;
  for (const auto& [key, open] : wanted) {
    auto& project = projects_[key];
    const bool loose = key.ends_with('/') && key.size() > 1;
    if (project == nullptr) {
      project = std::make_unique<Project>(loose ? key.substr(0, key.size() - 1) : key, loose, hooks_);
    } else if (!all && project->analysis != nullptr) {
      const bool knows_all = std::ranges::all_of(open, [&](const std::string& path) {
        std::error_code error;
        return project->holds(path) || (!loose && fs::exists(path, error));
      });
      const bool needs_all = std::ranges::all_of(project->sources, [&](const cli::SourcePath& source) {
        std::error_code error;
        return loose ? std::ranges::find(open, source.path) != open.end()
                     : now.open.contains(source.path) || !arranged_->open.contains(source.path) ||
                           fs::exists(source.path, error);
      });
      if (knows_all && needs_all) continue;
    } else if (!all) {
      continue;  // it could not be set up, and nothing has changed
    }
    if (auto done = project->set_up(now.settings, open); !done) hooks_.warn(text_of(done.error()));
  }
  rediscover_ = false;
  arranged_ = now;
}

std::optional<Look> Workspace::look(const Snapshot& now, const std::function<bool()>& cancelled) {
  arrange(now);
  for (const std::string& path : std::exchange(touched_, {})) {
    for (auto& [key, project] : projects_) {
      if (project->analysis != nullptr && project->holds(path)) project->analysis->reread(path);
    }
  }
  Look out{now.generation, now.open, {}};
  for (auto& [key, project] : projects_) {
    if (project->analysis == nullptr) continue;
    project->cancelled = cancelled;
    const bool seen = project->look(now);
    project->cancelled = nullptr;
    if (!seen) return std::nullopt;
    for (Diagnostic& finding : project->without_baseline(project->found.list)) {
      if (finding.place.source == nullptr) continue;
      Finding one{std::move(finding), project->root};
      const std::string path = one.path_of(one.diagnostic.place);
      // A folder within a folder is another project's.
      if (project_of(path) != project.get()) continue;
      out.findings[path].push_back(std::move(one));
    }
  }
  return out;
}

Result<Repairs> Workspace::repair(const Snapshot& now, const std::string& path) {
  Repairs out;
  Project* const project = project_of(path);
  if (project == nullptr || project->analysis == nullptr || !project->holds(path)) return out;
  const std::string shown = cli::shown_path(path, *project->root);
  project->cancelled = nullptr;
  const auto wanted = [&](const std::vector<Diagnostic>& findings) {
    std::vector<Diagnostic> mine;
    std::ranges::copy_if(project->without_baseline(findings), std::back_inserter(mine),
                         [&](const Diagnostic& finding) { return finding.place.source->path() == shown; });
    return mine;
  };
  const cli::FixTask task{project->options,    *project->root, *project->analysis,
                          project->texts(now), wanted,         project->settings.unsafe_fixes.value_or(false)};
  cli::Findings before = project->found;
  auto done = cli::repair(task, before);
  if (!done) return std::unexpected(done.error());
  for (auto& [file, text] : done->after)
    out.texts[cli::absolute_path(file, *project->root)] = {std::move(done->before.at(file)), std::move(text)};
  out.count = done->repaired.size();
  return out;
}

}  // namespace fullgraph::server
