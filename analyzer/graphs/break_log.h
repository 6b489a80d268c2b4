// Graph breaks that a run has logged: TORCH_LOGS=graph_breaks, and the records that TORCH_TRACE keeps for tlparse.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/graphs/graph.h"

namespace fullgraph::graphs {

bool holds_graph_breaks(std::string_view text);
// Have torch's loggers written any of it? A run without graph breaks leaves such a log too.
bool is_log_of_torch(std::string_view text);

// Each place once.
std::vector<RecordedBreak> read_graph_breaks(std::string_view text);

// TORCH_TRACE: one record of JSON for each line, what belongs to it below, behind a tab.
bool is_structured_trace(std::string_view text);
// What stands behind the tabs, at the lines where it stands; the records themselves become empty lines.
std::string payloads_of(std::string_view text);

}  // namespace fullgraph::graphs
