#include "validator/worker_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace fullgraph::validator {
namespace {

namespace fs = std::filesystem;

bool is_executable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> in_path(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::size_t colon = std::min(folders.find(':'), folders.size());
    const fs::path candidate = fs::path(folders.substr(0, colon)) / name;
    if (colon != 0 && is_executable(candidate)) return candidate.string();
    folders.remove_prefix(std::min(colon + 1, folders.size()));
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> find_worker(std::string_view name, const char* variable, std::string_view missing) {
  if (const char* named = std::getenv(variable); named != nullptr && *named != '\0') {
    if (is_executable(named)) return std::string(named);
    return std::unexpected(
        Error{ErrorKind::Usage, fmt::format("{} names `{}`, which cannot be run", variable, named), {}});
  }
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  if (const fs::path beside = own.parent_path() / name; !error && is_executable(beside)) return beside.string();
  if (auto found = in_path(name)) return *std::move(found);
  return std::unexpected(Error{ErrorKind::Usage, std::string(missing), {}});
}

}  // namespace fullgraph::validator
