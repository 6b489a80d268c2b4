#include "validator/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace fullgraph::validator {
namespace {

namespace fs = std::filesystem;

// What was run may have left folders that their owner cannot write to.
void unlock(const fs::path& top) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(top, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored) && !at->is_symlink(ignored))
      fs::permissions(at->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
  }
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    return std::unexpected(
        Error{ErrorKind::Io, "there is no folder for temporary files (" + error.message() + "); set TMPDIR", {}});
  }
  std::string pattern = (fs::canonical(parent, error) / "fullgraph-XXXXXX").string();
  if (error || mkdtemp(pattern.data()) == nullptr) {
    const std::string why = error ? error.message() : std::strerror(errno);
    return std::unexpected(
        Error{ErrorKind::Io, "cannot make a temporary folder in " + parent.string() + ": " + why + "; set TMPDIR", {}});
  }
  return TemporaryFolder(std::move(pattern));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code error;
  fs::remove_all(path_, error);
  if (!error) return;
  unlock(path_);
  fs::remove_all(path_, error);
}

Result<void> TemporaryFolder::write(std::string_view name, std::string_view text) const {
  const fs::path file = fs::path(path_) / name;
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  std::ofstream out(file, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) return std::unexpected(Error{ErrorKind::Io, "cannot write a temporary file", ErrorLocation{file.string()}});
  return {};
}

}  // namespace fullgraph::validator
