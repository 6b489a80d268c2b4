#include "cli/changed_lines.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "cli/git.h"
#include "cli/settings.h"

namespace fullgraph::cli {
namespace {

// git writes a path with special characters as a string of C: "a\303\244.py".
std::string unquoted(std::string_view path) {
  if (!path.starts_with('"') || !path.ends_with('"') || path.size() < 2) return std::string(path);
  std::string out;
  for (std::size_t at = 1; at + 1 < path.size(); ++at) {
    if (path[at] != '\\') {
      out += path[at];
      continue;
    }
    const char c = path[++at];
    constexpr std::string_view letters = "abtnvfr", meant = "\a\b\t\n\v\f\r";
    if (c >= '0' && c <= '3' && at + 3 < path.size()) {
      out += static_cast<char>((c - '0') * 64 + (path[at + 1] - '0') * 8 + (path[at + 2] - '0'));
      at += 2;
    } else if (const std::size_t letter = letters.find(c); letter != std::string_view::npos) {
      out += meant[letter];
    } else {
      out += c;
    }
  }
  return out;
}

// "+++ b/src/model.py", behind a path with blanks a tab; nothing for /dev/null.
std::optional<std::string> path_of(std::string_view header) {
  header.remove_prefix(4);
  if (header.ends_with('\t')) header.remove_suffix(1);
  const std::string path = unquoted(header);
  return path.starts_with("b/") ? std::optional(path.substr(2)) : std::nullopt;
}

// "@@ -3,2 +4,5 @@ …": lines 4 to 8; nothing where lines were only taken away.
std::optional<std::pair<unsigned, unsigned>> range_of(std::string_view header) {
  const std::size_t plus = header.find(" +");
  if (plus == std::string_view::npos) return std::nullopt;
  const char* const end = header.data() + header.size();
  unsigned first = 0, count = 1;
  auto read = std::from_chars(header.data() + plus + 2, end, first);
  if (read.ec == std::errc() && read.ptr < end && *read.ptr == ',') read = std::from_chars(read.ptr + 1, end, count);
  if (read.ec != std::errc() || count == 0) return std::nullopt;
  return std::pair(first, first + count - 1);
}

std::string canonical(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.string();
}

}  // namespace

ChangedLines ChangedLines::of_patch(std::string_view patch, const std::string& top) {
  ChangedLines out;
  std::vector<Range>* ranges = nullptr;
  // A line of a file may look like a header: of each hunk as many lines are passed over as it has.
  std::size_t inside = 0;
  while (!patch.empty()) {
    const std::size_t end = std::min(patch.find('\n'), patch.size());
    const std::string_view line = patch.substr(0, end);
    patch.remove_prefix(std::min(end + 1, patch.size()));
    if (inside > 0 && (line.starts_with('+') || line.starts_with('-') || line.starts_with('\\'))) {
      inside -= line.starts_with('+');
    } else if (line.starts_with("diff --git ")) {
      ranges = nullptr;
      inside = 0;
    } else if (line.starts_with("+++ ")) {
      const auto path = path_of(line);
      ranges = path ? &out.lines_[top + "/" + *path] : nullptr;
    } else if (line.starts_with("@@ ")) {
      const auto range = range_of(line);
      inside = range ? range->second - range->first + 1 : 0;
      if (range && ranges != nullptr) ranges->push_back(*range);
    }
  }
  return out;
}

Result<ChangedLines> ChangedLines::since(const std::string& revision, const std::string& folder) {
  const auto git = [&](const std::string& where, const std::vector<std::string>& arguments) -> Result<std::string> {
    if (auto said = run_git(where, arguments, Trust::OwnRepositories)) return std::move(*said);
    const std::string complaint = complaint_of_git(where, arguments, Trust::OwnRepositories);
    const bool shallow = complaint.contains("revision") || complaint.contains("merge base");
    return std::unexpected(
        Error{ErrorKind::Usage,
              "--diff-base " + revision + ": " + complaint + (shallow ? " (does the clone reach back so far?)" : ""),
              {}});
  };
  auto top = git(folder, {"rev-parse", "--show-toplevel"});
  if (!top) return std::unexpected(top.error());
  while (top->ends_with('\n')) top->pop_back();
  const auto patch =
      git(*top, {"diff", "--merge-base", "--unified=0", "--inter-hunk-context=0", "--text", "--no-color",
                 "--no-ext-diff", "--no-textconv", "--no-relative", "--find-renames", "--ignore-submodules",
                 "--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", revision, "--"});
  if (!patch) return std::unexpected(patch.error());
  const auto tracked = git(*top, {"ls-files", "-z"});
  if (!tracked) return std::unexpected(tracked.error());
  ChangedLines out = of_patch(*patch, *top);
  for (const std::string& name : names_in(*tracked)) out.add_unchanged(*top + "/" + name);
  return out;
}

bool ChangedLines::touch(const Diagnostic& finding, const std::string& working_directory) const {
  if (finding.place.source == nullptr) return false;
  const ir::SourceFile& source = *finding.place.source;
  const auto found = lines_.find(canonical(absolute_path(source.path(), working_directory)));
  if (found == lines_.end()) return true;
  const unsigned first = source.position(finding.place.span.begin).line,
                 last = source.position(finding.place.span.end).line;
  return std::ranges::any_of(found->second,
                             [&](const Range& range) { return range.first <= last && first <= range.second; });
}

}  // namespace fullgraph::cli
