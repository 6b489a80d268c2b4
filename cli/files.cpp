#include "cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace fullgraph::cli {
namespace {

std::unexpected<Error> io_error(const std::string& path, std::string_view doing) {
  return std::unexpected(
      Error{ErrorKind::Io, std::string(doing) + ": " + std::strerror(errno), ErrorLocation{path, 0, 0}});
}

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = write(file, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

Result<void> write_directly(const std::string& path, std::string_view content) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return io_error(path, "cannot write");
  const bool written = write_all(file, content);
  if (close(file) != 0 || !written) return io_error(path, "cannot write");
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return io_error(path, "cannot read");
  std::string out;
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      close(file);
      return io_error(path, "cannot read");
    }
    if (count == 0) break;
    out.append(buffer, static_cast<std::size_t>(count));
  }
  close(file);
  return out;
}

Result<void> write_atomically(const std::string& path, std::string_view content) {
  struct stat info {};
  mode_t mode = 0;
  std::string target = path;
  if (stat(path.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode)) return write_directly(path, content);
    mode = info.st_mode & 07777;
    std::error_code error;
    const auto real = std::filesystem::canonical(path, error);
    if (!error) target = real.string();
  }
  std::string temporary = target + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return io_error(path, "cannot write");
  if (mode == 0) {
    const mode_t mask = umask(0);
    umask(mask);
    mode = 0666 & ~mask;
  }
  bool done = write_all(file, content) && fchmod(file, mode) == 0;
  done = close(file) == 0 && done;
  if (!done || rename(temporary.c_str(), target.c_str()) != 0) {
    const int code = errno;
    unlink(temporary.c_str());
    errno = code;
    return io_error(path, "cannot write");
  }
  return {};
}

}  // namespace fullgraph::cli
