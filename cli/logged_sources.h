// The sources that logs of graph breaks speak of: who has a log alone gets the findings and repairs of its files at
// once.
#pragma once

#include <string>
#include <vector>

#include "cli/discovery.h"

namespace fullgraph::cli {

// Absolute paths of files on this machine in which the logs among `files` tell of breaks, each once, in order of path.
// Left out are installed packages, which are nobody's to repair, and files whose line no longer reads as the log has
// it. Nothing when a source is among `files`: then the user has said what to look at.
std::vector<std::string> sources_of_logs(const std::vector<SourcePath>& files);

}  // namespace fullgraph::cli
