// `fullgraph validate` of Python models: the cases of a run, each before and after a change.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/validate.h"
#include "validator/python_worker.h"
#include "validator/temporary_folder.h"

namespace fullgraph::cli {

// The side before of a case, with the folder of what the side after is compared with.
struct KeptSide {
  validator::TemporaryFolder folder;
  validator::MeasuredSide side;
  std::vector<std::string> notes;
};

// Which findings are repaired in a run with fixes, and what came of it.
struct Repairs {
  std::set<std::string> wanted;     // identities (rules::identity) of the findings to repair
  std::set<std::string> confirmed;  // of those that a case saw happen
  struct Change {
    std::string before, after;
  };
  std::map<std::string, Change> files;  // that were repaired, by absolute path
  std::string shown;                    // one of the findings that were repaired: "model.py:12 FG401"
  std::optional<std::string> conflict;  // a file that two cases repair differently
  // By case; runs that share it measure the side before only once.
  std::shared_ptr<std::map<std::string, KeptSide>> kept = std::make_shared<std::map<std::string, KeptSide>>();
};

// Error: wrong options or configuration. What goes wrong with a case is in its result. With `repairs`, only what it
// wants is repaired.
Result<validator::ValidationResult> validate_python(const ValidateOptions& options,
                                                    const std::string& working_directory, Repairs* repairs = nullptr);

// Is there anything for it to do: cases on the command line or in the configuration?
Result<bool> has_python_cases(const ValidateOptions& options, const std::string& working_directory);

// The names of the cases, one a line, as --shard leaves them.
Result<std::string> list_python_cases(const ValidateOptions& options, const std::string& working_directory);

}  // namespace fullgraph::cli
