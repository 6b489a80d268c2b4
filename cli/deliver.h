// A report on its way out: how it looks, where it goes, what it means for the exit status.
#pragma once

#include <string>

#include "cli/options.h"
#include "reports/report.h"

namespace fullgraph::cli {

// `to_stderr`: where stdout is taken by something else.
reports::Style style_for(const CheckOptions& options, const Settings& settings, bool to_stderr = false);
// In the format of the settings, or the counts of --statistics.
std::string render(const reports::Report& report, const CheckOptions& options, const Settings& settings,
                   bool to_stderr = false);
// To --output-file, or to stdout; to nowhere where only errors are wanted.
Result<void> deliver(const std::string& text, const CheckOptions& options, bool to_stderr = false);

// Is there a finding that a run fails for?
bool fails(const reports::Report& report);

}  // namespace fullgraph::cli
