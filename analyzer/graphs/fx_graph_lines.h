// `str(gm.graph)`: a graph as one line for each node.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fullgraph::graphs {

// The same graph as the body of `def forward(self, …)`, line for line: `lines` starts with "graph():".
// What is not understood becomes `...`.
std::vector<std::string> python_of_graph_lines(std::span<const std::string_view> lines);

}  // namespace fullgraph::graphs
