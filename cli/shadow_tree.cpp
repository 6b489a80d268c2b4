#include "cli/shadow_tree.h"

#include <filesystem>

#include "cli/files.h"

namespace fullgraph::cli {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> fail(const fs::path& path, const std::error_code& error) {
  return std::unexpected(Error{ErrorKind::Io, "cannot make a copy: " + error.message(), ErrorLocation{path.string()}});
}

// Is one of the changed files `folder` or below it? They are sorted by path.
bool holds_change(const ChangedFiles& changed, const std::string& folder) {
  const auto at = changed.lower_bound(folder + "/");
  return at != changed.end() && at->first.starts_with(folder + "/");
}

Result<void> make(const std::string& original, const ChangedFiles& changed, const fs::path& target, bool only_changed) {
  std::error_code error;
  fs::create_directories(target, error);
  if (error) return fail(target, error);
  for (fs::directory_iterator at(original, error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    const std::string name = at->path().filename().string();
    if (changed.contains(path)) continue;
    if (holds_change(changed, path)) {
      if (auto done = make(path, changed, target / name, false); !done) return done;
    } else if (!only_changed && name != ".git") {
      std::error_code failed;
      fs::create_symlink(at->path(), target / name, failed);
      if (failed) return fail(target / name, failed);
    }
  }
  for (const auto& [path, text] : changed) {
    if (!text || fs::path(path).parent_path() != original) continue;
    if (auto done = write_atomically((target / fs::path(path).filename()).string(), *text); !done) return done;
  }
  return {};
}

}  // namespace

Result<void> make_shadow_tree(const std::string& original, const ChangedFiles& changed, const std::string& target,
                              bool only_changed) {
  return make(original, changed, target, only_changed);
}

}  // namespace fullgraph::cli
