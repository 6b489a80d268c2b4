// Lines of logs without what loggers and launchers put in front of them.
#pragma once

#include <string>
#include <string_view>

namespace fullgraph::graphs {

struct LogLine {
  std::string writer;     // the process that wrote it, as far as the line says; lines of several stand in one log
  std::string_view text;  // the rest
  bool is_torch = false;  // one of torch's own loggers wrote it
};

// "[rank0]:V1130 03:11:47.702000 11720 torch/_dynamo/output_graph.py:2835] [0/0] [__graph_code] TRACED GRAPH", and as
// torch 2.1 and 2.2 have it, "[2024-01-05 10:00:00,123] [0/0] torch._dynamo.output_graph.__graph_code: [DEBUG] TRACED
// GRAPH".
LogLine log_line(std::string_view line);

}  // namespace fullgraph::graphs
