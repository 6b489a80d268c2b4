#include "cli/environment.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace fullgraph::cli {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    out.push_back(at->path().filename().string());
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

std::vector<std::string> site_packages_of(const std::string& prefix) {
  std::vector<std::string> out;
  for (const char* lib : {"lib", "lib64"}) {
    for (const std::string& name : names_in(fs::path(prefix) / lib)) {
      if (!name.starts_with("python3")) continue;
      const fs::path folder = fs::path(prefix) / lib / name / "site-packages";
      if (!is_folder(folder)) continue;
      // lib64 is a link to lib in most environments.
      std::error_code error;
      const bool repeated =
          std::ranges::any_of(out, [&](const std::string& known) { return fs::equivalent(known, folder, error); });
      if (!repeated) out.push_back(folder.string());
    }
  }
  return out;
}

std::optional<std::string> environment_of(const std::string& directory) {
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != 0 && is_folder(value)) return value;
  }
  for (fs::path at = directory; !at.empty(); at = at.parent_path()) {
    for (const char* name : {".venv", "venv"}) {
      std::error_code error;
      if (fs::is_regular_file(at / name / "pyvenv.cfg", error)) return (at / name).string();
    }
    if (at == at.parent_path()) break;
  }
  return std::nullopt;
}

std::optional<std::string> installed_torch(const std::vector<std::string>& search_path) {
  for (const std::string& folder : search_path) {
    for (const std::string& name : names_in(folder)) {
      constexpr std::string_view begin = "torch-", end = ".dist-info";
      if (!name.starts_with(begin) || !name.ends_with(end)) continue;
      const std::string version = name.substr(begin.size(), name.size() - begin.size() - end.size());
      return version.substr(0, version.find('+'));
    }
  }
  return std::nullopt;
}

}  // namespace fullgraph::cli
