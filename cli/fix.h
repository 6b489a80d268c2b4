// `check --fix` and `--diff`: from the command line's side of repairing to files or a patch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/analysis.h"
#include "fixer/repair.h"

namespace fullgraph::cli {

struct FixTask {
  const CheckOptions& options;
  const std::string& working_directory;
  Analysis& analysis;
  Analysis::Texts given;  // sources that are on no disk (stdin), by absolute path
  // What of the findings is to be repaired (what is in the baseline is not); all when empty.
  std::function<std::vector<Diagnostic>(const std::vector<Diagnostic>&)> wanted;
  bool unsafe = false;
};

// Repairs in memory. `findings` become those that are left. Says on stderr what was rolled back or refused.
Result<fixer::Outcome> repair(const FixTask& task, Findings& findings);

// Puts the repaired files on the disk, all or none.
Result<void> write_repaired(const fixer::Outcome& outcome, const std::string& working_directory);

// All changes as one patch for the working directory.
std::string patch_of(const fixer::Outcome& outcome, const std::string& working_directory);

// Why the fixer must not write to this path although it is linted; nothing when it may. A link is followed only to
// files that lie under one of the given paths.
std::optional<std::string> refusal(const std::string& path, const std::vector<std::string>& given_paths);

}  // namespace fullgraph::cli
