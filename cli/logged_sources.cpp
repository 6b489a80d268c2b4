#include "cli/logged_sources.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "analyzer/graphs/frames.h"
#include "analyzer/graphs/graph.h"
#include "analyzer/graphs/lines.h"
#include "cli/files.h"
#include "cli/recordings.h"

namespace fullgraph::cli {
namespace {

bool is_installed(std::string_view path) {
  return path.find("/site-packages/") != std::string_view::npos ||
         path.find("/dist-packages/") != std::string_view::npos || graphs::is_torch_source(path);
}

// The lines of a source, where there is one on this machine.
class Lines {
 public:
  explicit Lines(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::path(path).is_absolute() || !std::filesystem::is_regular_file(path, error)) return;
    if (auto bytes = read_file(path)) source_.emplace(path, std::move(*bytes));
  }

  // Without a line to compare, the file has to be long enough.
  [[nodiscard]] bool has(const ir::Origin& where) const {
    if (!source_ || where.line == 0 || where.line > source_->line_count()) return false;
    const std::string_view code = graphs::trimmed(where.code);
    return code.empty() || graphs::trimmed(source_->line_text(where.line)) == code;
  }

 private:
  std::optional<ir::SourceFile> source_;
};

}  // namespace

std::vector<std::string> sources_of_logs(const std::vector<SourcePath>& files) {
  std::map<std::string, Lines> known;
  std::set<std::string> out;
  for (const SourcePath& file : files) {
    const auto recorded = is_recording(file);
    if (recorded && !*recorded) return {};
    if (!recorded) continue;
    const auto format = graphs::format_of(file.path, file.shown);
    if (!format || !graphs::is_log(*format)) continue;
    const auto log = graphs::read(file.path, file.shown);
    if (!log) continue;  // told when it is looked at
    for (const graphs::RecordedBreak& one : log->breaks) {
      if (is_installed(one.where.file)) continue;
      if (known.try_emplace(one.where.file, one.where.file).first->second.has(one.where)) out.insert(one.where.file);
    }
  }
  return {out.begin(), out.end()};
}

}  // namespace fullgraph::cli
