// Findings of the linter, held against what was seen when the code ran.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rules/diagnostic.h"
#include "validator/python_worker.h"
#include "validator/result.h"

namespace fullgraph::cli {

struct Witnesses {
  const std::vector<validator::MeasuredRun>& runs;
  std::string backend;  // of torch.compile
  // The path of the file on the disk that a name in a run stands for; the same for a path that a finding shows.
  std::function<std::string(const std::string& name)> path_in_run;
  std::function<std::string(const std::string& shown)> path_of_finding;
};

// Confirmed: a break on the statement of the finding, in some run. Refuted: it ran and Dynamo followed it, under the
// condition that the finding states, and there was none. A condition that cannot be decided from outside (a value of
// the configuration) refutes nothing.
validator::FindingVerdict verdict_on(const Diagnostic& finding, const Witnesses& witnesses, bool after);

}  // namespace fullgraph::cli
