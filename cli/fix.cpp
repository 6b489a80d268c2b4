#include "cli/fix.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "cli/files.h"
#include "fixer/diff.h"

namespace fullgraph::cli {
namespace {

namespace fs = std::filesystem;

// Takes the edits out of fixes in files that must not be written to, and says so once for each file.
class Guard {
 public:
  explicit Guard(const FixTask& task) : task_(task) {
    for (const std::string& path : task.options.paths)
      given_paths_.push_back(absolute_path(path, task.working_directory));
  }

  void disarm(std::vector<Diagnostic>& findings) {
    for (Diagnostic& finding : findings) {
      for (Fix& fix : finding.fixes) {
        if (!is_applicable(fix, task_.unsafe)) continue;
        if (std::ranges::any_of(fix.edits, [&](const Edit& edit) { return refused(edit.place.source->path()); }))
          fix.applicability = Applicability::Display;
      }
    }
  }

 private:
  bool refused(const std::string& shown) {
    const auto [known, added] = refused_.try_emplace(shown, false);
    if (!added) return known->second;
    const SourcePath& source = *task_.analysis.source(shown);
    if (task_.given.contains(source.path)) return false;
    // A log may come from anywhere and name any file.
    const auto why =
        source.only_logged ? refusal(source.path, {task_.working_directory}) : refusal(source.path, given_paths_);
    if (why && task_.options.quiet < 2) fmt::print(stderr, "fullgraph: warning: {}: not repaired: {}\n", shown, *why);
    known->second = why.has_value();
    return known->second;
  }

  const FixTask& task_;
  std::vector<std::string> given_paths_;
  std::map<std::string, bool> refused_;
};

}  // namespace

std::optional<std::string> refusal(const std::string& path, const std::vector<std::string>& given_paths) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return error.message();
  for (const std::string& given : given_paths) {
    const fs::path folder = fs::canonical(given, error);
    if (error) continue;
    const fs::path inside = real.lexically_relative(folder);
    if (!inside.empty() && *inside.begin() != "..") return std::nullopt;
  }
  const bool link = real != fs::path(path).lexically_normal();
  return (link ? "it is a link to " + real.string() + ", which is" : std::string("it is")) +
         " outside of the given paths";
}

Result<fixer::Outcome> repair(const FixTask& task, Findings& findings) {
  Guard guard(task);
  const auto by_path = [&](const fixer::Texts& changed) {
    Analysis::Texts texts = task.given;
    for (const auto& [shown, text] : changed) texts[task.analysis.source(shown)->path] = text;
    return texts;
  };
  fixer::Request request;
  request.unsafe = task.unsafe;
  request.wanted = task.wanted;
  // A suppression whose reason is gone is repaired in the next round.
  request.may_follow = [](const Diagnostic& finding) { return finding.code == "FG901"; };
  request.is_foreign = [&](const std::string& shown) { return is_cxx(task.analysis.source(shown)->path); };
  request.read = [&](const std::string& shown) -> Result<std::string> {
    const std::string& path = task.analysis.source(shown)->path;
    if (const auto text = task.given.find(path); text != task.given.end()) return text->second;
    auto text = read_file(path);
    if (!text) text.error().where = ErrorLocation{shown, 0, 0};
    return text;
  };
  // Not every look is at what is kept in the end.
  std::vector<std::pair<fixer::Texts, Findings>> looks;
  request.look = [&](const fixer::Texts& changed, bool careful) {
    Findings seen = task.analysis.run(by_path(changed), careful ? 1 : task.options.jobs);
    guard.disarm(seen.list);
    std::vector<Diagnostic> list = std::exchange(seen.list, {});
    looks.emplace_back(changed, std::move(seen));
    return list;
  };
  guard.disarm(findings.list);
  auto outcome = fixer::repair(std::move(findings.list), request);
  if (!outcome) return outcome;
  for (auto& [texts, seen] : looks) {
    if (texts == outcome->after) findings = std::move(seen);
  }
  findings.list = std::move(outcome->findings);
  if (task.options.quiet < 2) {
    for (const fixer::RolledBack& one : outcome->rolled_back) {
      fmt::print(stderr, "fullgraph: warning: {}:{}: the fix of {} was rolled back: {}\n", one.file, one.line, one.code,
                 one.why);
    }
    if (!outcome->settled) fmt::print(stderr, "fullgraph: warning: fixes are left; run again to go on\n");
  }
  return outcome;
}

Result<void> write_repaired(const fixer::Outcome& outcome, const std::string& working_directory) {
  std::vector<Replacement> files;
  for (const auto& [shown, text] : outcome.after)
    files.push_back({absolute_path(shown, working_directory), outcome.before.at(shown), text});
  return replace_files(files);
}

std::string patch_of(const fixer::Outcome& outcome, const std::string& working_directory) {
  std::string out;
  for (const auto& [shown, text] : outcome.after) {
    const std::string name =
        shown.starts_with('/') ? fs::path(shown).lexically_relative(working_directory).string() : shown;
    out += fixer::unified_diff(name, outcome.before.at(shown), text);
  }
  return out;
}

}  // namespace fullgraph::cli
