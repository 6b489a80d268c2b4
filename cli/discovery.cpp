#include "cli/discovery.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unordered_map>

#include "cli/cxx_sources.h"
#include "cli/files.h"
#include "cli/git.h"
#include "cli/glob.h"

namespace fullgraph::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 26> default_exclude = {".bzr",
                                                              ".direnv",
                                                              ".eggs",
                                                              ".git",
                                                              ".git-rewrite",
                                                              ".hg",
                                                              ".ipynb_checkpoints",
                                                              ".mypy_cache",
                                                              ".nox",
                                                              ".pants.d",
                                                              ".pyenv",
                                                              ".pytest_cache",
                                                              ".pytype",
                                                              ".ruff_cache",
                                                              ".svn",
                                                              ".tox",
                                                              ".venv",
                                                              ".vscode",
                                                              "__pypackages__",
                                                              "_build",
                                                              "buck-out",
                                                              "build",
                                                              "dist",
                                                              "node_modules",
                                                              "site-packages",
                                                              "venv"};

enum class FileType { None, File, Directory, Other };

FileType type_of(const std::string& path, bool* link = nullptr) {
  struct stat info {};
  if (link != nullptr) *link = lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
  if (stat(path.c_str(), &info) != 0) return FileType::None;
  if (S_ISREG(info.st_mode)) return FileType::File;
  return S_ISDIR(info.st_mode) ? FileType::Directory : FileType::Other;
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

bool any_matches(const Patterns& patterns, std::string_view path) {
  return std::ranges::any_of(patterns, [&](const Pattern& pattern) { return matches_path(pattern, path); });
}

// Is exactly this path left out (a folder above it is asked for on its own)?
bool excluded_here(const std::string& path, const Settings& settings) {
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  if (is_leftover(name)) return true;
  if (settings.exclude) {
    if (any_matches(*settings.exclude, path)) return true;
  } else {
    if (std::ranges::find(default_exclude, name) != default_exclude.end()) return true;
  }
  return any_matches(settings.extend_exclude, path);
}

bool included(const std::string& path, const Settings& settings) {
  if (settings.include ? any_matches(*settings.include, path) : path.ends_with(".py") || is_libtorch_source(path))
    return true;
  return any_matches(settings.extend_include, path);
}

class Finder {
 public:
  Finder(const std::string& working_directory, Configs& configs, const Settings& flags)
      : working_directory_(working_directory), configs_(configs), flags_(flags) {}

  Result<void> add(const std::string& argument) {
    const std::string path = absolute_path(argument, working_directory_);
    switch (type_of(path)) {
      case FileType::Directory:
        return add_folder(path);
      case FileType::None:
        found_.errors.push_back({ErrorKind::Io, std::strerror(errno), ErrorLocation{argument, 0, 0}});
        return {};
      case FileType::File:
      case FileType::Other:
        break;
    }
    const std::string parent = parent_of(path);
    auto settings = settings_of(parent);
    if (!settings) return std::unexpected(settings.error());
    if ((*settings)->values.force_exclude.value_or(false) &&
        excluded(path, (*settings)->values, (*settings)->config->directory))
      return {};
    found_.files.push_back({path, shown_path(path, working_directory_), (*settings)->config, true});
    return {};
  }

  Discovered take() {
    std::ranges::stable_sort(found_.files, [](const SourcePath& a, const SourcePath& b) {
      return std::make_pair(std::string_view(a.path), !a.given) < std::make_pair(std::string_view(b.path), !b.given);
    });
    const auto repeated = std::ranges::unique(found_.files, {}, &SourcePath::path);
    found_.files.erase(repeated.begin(), repeated.end());
    return std::move(found_);
  }

 private:
  // The settings that hold in a folder: its configuration file's with the flags on top.
  struct FolderSettings {
    const Config* config;
    Settings values;
  };

  Result<const FolderSettings*> settings_of(const std::string& folder) {
    auto config = configs_.find(folder);
    if (!config) return std::unexpected(config.error());
    auto [entry, added] = settings_.try_emplace(*config);
    if (added) {
      entry->second = {*config, (*config)->settings};
      overlay(entry->second.values, flags_);
    }
    return &entry->second;
  }

  Result<void> add_folder(const std::string& folder) {
    auto settings = settings_of(folder);
    if (!settings) return std::unexpected(settings.error());
    const Settings& values = (*settings)->values;
    if (values.force_exclude.value_or(false) && excluded(folder, values, (*settings)->config->directory)) return {};
    if (values.respect_gitignore.value_or(true)) {
      if (auto listed = list_with_git(folder)) return add_listed(folder, *listed);
    }
    return walk(folder);
  }

  // What git tracks or would track below `folder`, relative to it. Nothing: ask the file system.
  std::optional<std::vector<std::string>> list_with_git(const std::string& folder) {
    const auto listing = run_git(folder, {"ls-files", "-co", "--exclude-standard", "-z"}, Trust::OnlyNames);
    if (!listing) return std::nullopt;
    // Nothing there, or the whole folder is ignored: then it was named for a reason.
    if (listing->empty() && run_git(folder, {"check-ignore", "-q", "."}, Trust::OnlyNames)) return std::nullopt;
    return names_in(*listing);
  }

  Result<void> add_listed(const std::string& folder, const std::vector<std::string>& listed) {
    open_.clear();
    open_[folder] = true;
    for (const std::string& name : listed) {
      // Repositories within the repository are listed as folders.
      const bool nested = name.ends_with('/');
      std::string path = (folder == "/" ? "/" : folder + "/") + name;
      if (nested) path.pop_back();
      auto open = is_open(parent_of(path));
      if (!open) return std::unexpected(open.error());
      if (!*open) continue;
      if (auto added = add_entry(path, nested || name.find('.') == std::string::npos); !added) return added;
    }
    return {};
  }

  // A path that git listed. `maybe_folder`: worth asking whether it is a submodule.
  Result<void> add_entry(const std::string& path, bool maybe_folder) {
    auto settings = settings_of(parent_of(path));
    if (!settings) return std::unexpected(settings.error());
    const Settings& values = (*settings)->values;
    const bool wanted = included(path, values);
    if ((!wanted && !maybe_folder) || excluded_here(path, values)) return {};
    bool link = false;
    const FileType type = type_of(path, &link);
    if (type == FileType::Directory && !link && !is_environment(path)) {
      auto before = std::move(open_);
      auto added = add_folder(path);
      open_ = std::move(before);
      return added;
    }
    if (wanted && type == FileType::File) {
      found_.files.push_back({path, shown_path(path, working_directory_), (*settings)->config, false});
    }
    return {};
  }

  // Are this folder and all above it, up to the one that was asked for, to be looked at?
  Result<bool> is_open(const std::string& folder) {
    if (const auto known = open_.find(folder); known != open_.end()) return known->second;
    const std::string parent = parent_of(folder);
    if (parent == folder) return true;
    auto above = is_open(parent);
    if (!above) return above;
    bool open = *above;
    if (open) {
      auto settings = settings_of(parent);
      if (!settings) return std::unexpected(settings.error());
      open = !excluded_here(folder, (*settings)->values) && !is_environment(folder);
    }
    open_[folder] = open;
    return open;
  }

  static bool is_environment(const std::string& folder) { return type_of(folder + "/pyvenv.cfg") == FileType::File; }

  Result<void> walk(const std::string& folder) {
    auto settings = settings_of(folder);
    if (!settings) return std::unexpected(settings.error());
    const FolderSettings& here = **settings;
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      entries.push_back(*at);
    if (error) {
      found_.errors.push_back(
          {ErrorKind::Io, error.message(), ErrorLocation{shown_path(folder, working_directory_), 0, 0}});
      return {};
    }
    for (const fs::directory_entry& entry : entries) {
      const std::string path = (folder == "/" ? "/" : folder + "/") + entry.path().filename().string();
      std::error_code ignored;
      const bool folder_entry = entry.is_directory(ignored);
      if (folder_entry && entry.is_symlink(ignored)) continue;
      if (!folder_entry && !included(path, here.values)) continue;
      if (excluded_here(path, here.values)) continue;
      if (folder_entry) {
        if (is_environment(path)) continue;
        if (auto walked = walk(path); !walked) return walked;
      } else if (entry.is_regular_file(ignored)) {
        found_.files.push_back({path, shown_path(path, working_directory_), here.config, false});
      }
    }
    return {};
  }

  const std::string& working_directory_;
  Configs& configs_;
  const Settings& flags_;
  Discovered found_;
  std::unordered_map<const Config*, FolderSettings> settings_;
  std::unordered_map<std::string, bool> open_;
};

}  // namespace

bool excluded(const std::string& path, const Settings& settings, const std::string& top) {
  for (std::string at = path; at.size() > 1 && at != top; at = parent_of(at)) {
    if (excluded_here(at, settings)) return true;
  }
  return false;
}

std::string shown_path(const std::string& path, const std::string& working_directory) {
  const std::string prefix = working_directory.ends_with('/') ? working_directory : working_directory + "/";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : path;
}

Result<Discovered> discover(const std::vector<std::string>& paths, const std::string& working_directory,
                            Configs& configs, const Settings& flags) {
  Finder finder(working_directory, configs, flags);
  for (const std::string& path : paths) {
    if (auto added = finder.add(path); !added) return std::unexpected(added.error());
  }
  return finder.take();
}

}  // namespace fullgraph::cli
