#include "cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

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

constexpr std::string_view leftover_begin = ".fullgraph-", leftover_end = ".tmp";

// A file beside another one, which is to take its place. Goes away unless it is renamed.
class NewFile {
 public:
  // `old`: what is there now, whose permissions and owner are kept; null when there is nothing.
  static Result<NewFile> write(const std::string& path, const struct stat* old, std::string_view content) {
    NewFile out;
    out.path_ = out.target_ = path;
    if (old != nullptr) {
      std::error_code error;
      const auto real = std::filesystem::canonical(path, error);
      if (!error) out.target_ = real.string();
    }
    // The name depends on nothing: a long one with more at its end might be too long.
    std::string name = (std::filesystem::path(out.target_).parent_path() / leftover_begin).string();
    name.append("XXXXXX").append(leftover_end);
    const int file = mkostemps(name.data(), static_cast<int>(leftover_end.size()), O_CLOEXEC);
    if (file < 0) return io_error(path, "cannot write");
    out.temporary_ = std::move(name);
    bool done = write_all(file, content);
    if (old != nullptr) {
      // Only root may give files away, and need not here.
      if (old->st_uid != geteuid() || old->st_gid != getegid()) (void)!fchown(file, old->st_uid, old->st_gid);
      done = done && fchmod(file, old->st_mode & 07777) == 0;
    } else {
      const mode_t mask = umask(0);
      umask(mask);
      done = done && fchmod(file, 0666 & ~mask) == 0;
    }
    done = done && fsync(file) == 0;
    done = close(file) == 0 && done;
    if (!done) return io_error(path, "cannot write");
    return out;
  }

  NewFile(NewFile&& other) noexcept
      : path_(std::move(other.path_)),
        target_(std::move(other.target_)),
        temporary_(std::exchange(other.temporary_, {})) {}
  NewFile& operator=(NewFile&&) = delete;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (temporary_.empty()) return;
    const int code = errno;
    unlink(temporary_.c_str());
    errno = code;
  }

  Result<void> rename() {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) return io_error(path_, "cannot write");
    temporary_.clear();
    return {};
  }

  // The file itself, where `path` is a link to it.
  [[nodiscard]] const std::string& target() const { return target_; }

 private:
  NewFile() = default;
  std::string path_, target_, temporary_;
};

}  // namespace

bool ends_with_any(std::string_view path, std::span<const std::string_view> suffixes) {
  return std::ranges::any_of(suffixes, [&](std::string_view suffix) { return path.ends_with(suffix); });
}

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

bool is_leftover(std::string_view name) {
  return name.starts_with(leftover_begin) && name.ends_with(leftover_end) &&
         name.size() == leftover_begin.size() + 6 + leftover_end.size();
}

Result<void> write_atomically(const std::string& path, std::string_view content) {
  struct stat info {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) return write_directly(path, content);
  auto beside = NewFile::write(path, exists ? &info : nullptr, content);
  if (!beside) return std::unexpected(beside.error());
  return beside->rename();
}

Result<void> replace_files(const std::vector<Replacement>& files, const std::function<void()>& before_rename) {
  std::vector<NewFile> prepared;
  std::vector<const Replacement*> wanted;
  std::map<std::string, const Replacement*> by_target;
  for (const Replacement& file : files) {
    struct stat info {};
    if (stat(file.path.c_str(), &info) != 0 || access(file.path.c_str(), W_OK) != 0)
      return io_error(file.path, "cannot write");
    auto beside = NewFile::write(file.path, &info, file.after);
    if (!beside) return std::unexpected(beside.error());
    const auto [known, added] = by_target.try_emplace(beside->target(), &file);
    if (added) {
      prepared.push_back(std::move(*beside));
      wanted.push_back(&file);
    } else if (known->second->after != file.after) {
      return std::unexpected(Error{ErrorKind::Io, "the same file as " + known->second->path + ", with other changes",
                                   ErrorLocation{file.path, 0, 0}});
    }
  }
  if (before_rename) before_rename();
  for (const Replacement* file : wanted) {
    const auto now = read_file(file->path);
    if (!now) return std::unexpected(now.error());
    if (*now != file->before)
      return std::unexpected(Error{ErrorKind::Io, "the file has changed while it was looked at; nothing was written",
                                   ErrorLocation{file->path, 0, 0}});
  }
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    auto renamed = prepared[i].rename();
    if (renamed) continue;
    while (i-- > 0) (void)write_atomically(wanted[i]->path, wanted[i]->before);
    return renamed;
  }
  return {};
}

}  // namespace fullgraph::cli
