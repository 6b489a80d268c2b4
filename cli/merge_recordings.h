// What recordings say, put together with what was found in the sources.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/profile/profile.h"
#include "cli/recordings.h"
#include "rules/diagnostic.h"

namespace fullgraph::cli {

// The sources that were linted in the same run.
using LintedSources = std::vector<std::shared_ptr<const ir::SourceFile>>;

// A finding of a recording whose line is in one of the sources moves there; where the source has the same finding, that
// one alone stays, and says so.
void merge_findings(std::vector<Diagnostic>& found, std::vector<Diagnostic> recorded, const LintedSources& sources);

// How a log's breaks relate to the findings.
struct LoggedBreaks {
  std::size_t logged = 0, confirmed = 0, only_at_run_time = 0;
};

// Findings on the statement of a logged break are confirmed by it; of the others one finding each is made (FG701). A
// break that was confirmed once is none of these, even if its finding is repaired by now.
LoggedBreaks merge_breaks(std::vector<Diagnostic>& found, Recording& log, const LintedSources& sources,
                          const std::string& working_directory, const profile::Profile& profile);

}  // namespace fullgraph::cli
