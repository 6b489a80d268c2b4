// FX text: what `print_readable()`, `gm.code`, `str(gm.graph)` and TORCH_LOGS print of a graph, alone or in the middle
// of a log.
//
// It is Python but for what stands around it. The text that comes out has the graphs at the lines where they stand in
// the file and nothing else, so that a place in it is a place in the file.
#pragma once

#include <string_view>

#include "analyzer/graphs/graph.h"

namespace fullgraph::graphs {

// Does the text hold a graph?
bool holds_fx_text(std::string_view text);

// One text, and the breaks that names of resumed functions tell of (`torch_dynamo_resume_in_forward_at_12`).
Graphs read_fx_text(std::string_view text);

}  // namespace fullgraph::graphs
