// Where the sources of a case come from before and after a change, and what the linter says of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/analysis.h"
#include "cli/shadow_tree.h"
#include "cli/validate.h"
#include "fixer/repair.h"
#include "validator/python_worker.h"
#include "validator/temporary_folder.h"

namespace fullgraph::cli {

// What holds for all cases of a run.
struct Project {
  const ValidateOptions& options;
  const std::string& working_directory;
  Configs& configs;
  const Config& config;
  Settings settings;        // of the configuration with the flags on top
  std::string interpreter;  // of the project
  Environment environment;  // as the linter sees it
};

// Files that a case ran, looked at by the linter.
class Looked {
 public:
  // `files`: absolute paths; `entry`: of the case, may be empty; `whole`: the model was compiled as a whole, so that
  // every module is what the linter begins with where the configuration does not say.
  static Result<std::unique_ptr<Looked>> at(const Project& project, const std::vector<std::string>& files,
                                            const std::string& entry, bool whole);

  std::vector<Diagnostic> findings;

  [[nodiscard]] std::string path_of(const std::string& shown) const;
  // What `check --fix` would make of these files, of those findings that `wanted` leaves (all when it is empty).
  Result<ChangedFiles> repaired(const std::function<std::vector<Diagnostic>(const std::vector<Diagnostic>&)>& wanted);

 private:
  explicit Looked(const Project& project) : project_(project) {}
  const Project& project_;
  CheckOptions options_;
  Settings settings_;
  std::vector<SourcePath> sources_;
  Progress progress_{false};
  Timing timing_;
  std::unique_ptr<Analysis> analysis_;
  Findings found_;
};

// The deepest of the folders that holds the path; empty: none does.
std::string deepest(const std::vector<std::string>& folders, const std::string& path);

// The folders in which the project's modules are found.
std::vector<std::string> import_roots(const Project& project);

// The files that a patch for the working directory changes.
Result<ChangedFiles> patched_files(const Project& project, const std::string& patch,
                                   const validator::TemporaryFolder& folder);

// A side for changed files: copies of the folders that hold them, in `folder`.
Result<validator::PythonSide> changed_side(const Project& project, const ChangedFiles& changed,
                                           const validator::TemporaryFolder& folder);

// `FILE:function` with the file where it is on this side; `roots` are the folders that have a counterpart there.
std::string entry_on(const validator::PythonSide& side, const std::string& entry,
                     const std::vector<std::string>& roots);

}  // namespace fullgraph::cli
