// One look at recorded graphs and logs: read, trace, judge, and back to the lines that their authors wrote.
//
// Each file is a program of its own: names in one archive mean nothing in another.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyzer/graphs/graph.h"
#include "analyzer/ir/error.h"
#include "cli/discovery.h"
#include "rules/diagnostic.h"

namespace fullgraph::cli {

struct Environment;  // analysis.h

// Is it a recording rather than a Python source? By its content; the names of Python's own files are believed. Error:
// it has the name of a recording, or the start of an archive, and is none.
Result<bool> is_recording(const SourcePath& source);

// What a recording has to say.
struct Recording {
  const SourcePath* file = nullptr;
  graphs::Format format = graphs::Format::FxText;
  std::vector<Diagnostic> findings;  // where the author wrote it, where that is remembered
  std::vector<graphs::RecordedBreak> breaks;
  std::vector<bool> confirmed;  // of the breaks: a finding stands for it, or did before it was repaired
  std::size_t roots = 0;
};

Result<Recording> look_at_recording(const SourcePath& file, const std::string& working_directory,
                                    const Environment& environment, const Settings& settings, unsigned jobs);

}  // namespace fullgraph::cli
