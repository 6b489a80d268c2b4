#include "validator/temporary_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace fullgraph::validator {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_read = std::size_t{256} << 20;

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

std::string TemporaryFolder::read(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return {};
  std::string out;
  struct stat about {};
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && static_cast<std::size_t>(about.st_size) <= most_read) {
    out.resize(static_cast<std::size_t>(about.st_size));
    std::size_t done = 0;
    for (ssize_t count = 0; (count = ::read(file, out.data() + done, out.size() - done)) > 0;)
      done += static_cast<std::size_t>(count);
    out.resize(done);
  }
  close(file);
  return out;
}

}  // namespace fullgraph::validator
