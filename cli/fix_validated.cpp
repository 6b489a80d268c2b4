#include "cli/fix_validated.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "cli/commands.h"
#include "cli/discovery.h"
#include "cli/files.h"
#include "cli/validate_python.h"
#include "validator/process.h"

namespace fullgraph::cli {
namespace {

using validator::Case;
using validator::ValidationResult;

std::size_t breaks_on(const Case& one, bool after) {
  std::size_t out = 0;
  for (const validator::Run& run : one.runs) {
    const validator::Side* side = !after ? &run.before : run.after ? &*run.after : nullptr;
    if (!side || !side->capture) continue;
    for (const validator::GraphBreak& met : side->capture->breaks) out += met.count;
  }
  return out;
}

// Why the change must not stay; empty: it holds in every case, and what it is about is gone.
std::string objection(const ValidationResult& result) {
  bool fewer = false, changed = false;
  for (const Case& one : result.cases) {
    if (validator::has_failure(one)) return one.name + ": a run failed";
    const auto differences = validator::differences_of(one);
    if (!differences.empty()) return one.name + ": " + differences.back();  // what eager code does comes last
    const bool pair = std::ranges::any_of(one.runs, [](const validator::Run& run) { return run.after.has_value(); });
    changed |= pair;
    fewer |= pair && breaks_on(one, true) < breaks_on(one, false);
    for (const validator::FindingVerdict& finding : one.findings) {
      const bool hazard = finding.gb_id.empty() && finding.verdict == validator::Verdict::Confirmed;
      if (pair && hazard) fewer |= !finding.after;
    }
  }
  if (!changed) return "there is no fix";
  return fewer ? std::string() : "no break is gone";
}

class FixValidated {
 public:
  FixValidated(const ValidateOptions& options, const std::string& working_directory)
      : options_(options), working_directory_(working_directory) {
    options_.fix = false;
    options_.repetitions = 0;  // nothing is timed
  }

  Result<int> run() {
    const bool unsafe = std::exchange(options_.unsafe_fixes, false);
    Repairs seen;
    auto before = validate_python(options_, working_directory_, &seen);
    if (!before) return std::unexpected(before.error());
    if (before->cases.empty()) {
      return std::unexpected(Error{ErrorKind::Usage,
                                   "nothing to run: give --entry or --transformers, or put [[tool.fullgraph.case]] "
                                   "into the configuration",
                                   {}});
    }
    if (!before->errors.empty() || std::ranges::any_of(before->cases, validator::has_failure))
      return cli::deliver(*before, options_);
    options_.fix = true;
    options_.unsafe_fixes = unsafe;
    kept_ = seen.kept;

    auto all = attempt(seen.confirmed);
    if (!all) return std::unexpected(all.error());
    if (!all->objection.empty() && seen.confirmed.size() > 1) {
      auto kept = one_by_one(seen.confirmed);
      if (!kept) return std::unexpected(kept.error());
      all = attempt(*kept);
      if (!all) return std::unexpected(all.error());
    }
    return finish(seen, *all);
  }

 private:
  struct Attempt {
    Repairs repairs;
    std::string objection;
  };

  Result<Attempt> attempt(const std::set<std::string>& wanted) {
    Attempt out;
    out.repairs.wanted = wanted;
    out.repairs.kept = kept_;
    if (wanted.empty()) {
      out.objection = "no finding was confirmed";
      return out;
    }
    auto result = validate_python(options_, working_directory_, &out.repairs);
    if (!result) return std::unexpected(result.error());
    out.objection = result->errors.empty() ? objection(*result) : result->errors.front().message;
    if (out.objection.empty() && out.repairs.conflict)
      out.objection = "cases repair " + *out.repairs.conflict + " differently; name one of them with --case";
    return out;
  }

  // Those that hold on their own.
  Result<std::set<std::string>> one_by_one(const std::set<std::string>& confirmed) {
    std::set<std::string> out;
    for (const std::string& identity : confirmed) {
      auto alone = attempt({identity});
      if (!alone) return std::unexpected(alone.error());
      if (alone->objection.empty()) {
        out.insert(identity);
      } else if (!alone->repairs.files.empty()) {
        say("not kept: the fix of " + alone->repairs.shown + ": " + alone->objection);
      }
    }
    return out;
  }

  Result<int> finish(const Repairs& seen, const Attempt& attempt) {
    if (!attempt.objection.empty()) {
      say("nothing was repaired: " + attempt.objection);
      return seen.confirmed.empty() ? exit_clean : exit_findings;
    }
    std::vector<Replacement> files;
    for (const auto& [path, change] : attempt.repairs.files) files.push_back({path, change.before, change.after});
    if (auto done = replace_files(files); !done) return std::unexpected(done.error());
    for (const Replacement& file : files) print("Fixed " + shown_path(file.path, working_directory_) + "\n");
    return exit_clean;
  }

  void say(const std::string& text) const {
    if (options_.check.quiet == 0) fmt::print(stderr, "fullgraph: {}\n", text);
  }

  ValidateOptions options_;
  const std::string& working_directory_;
  decltype(Repairs::kept) kept_;
};

}  // namespace

int fix_validated(const ValidateOptions& options, const std::string& working_directory) {
  return interruptible([&] { return FixValidated(options, working_directory).run(); });
}

}  // namespace fullgraph::cli
