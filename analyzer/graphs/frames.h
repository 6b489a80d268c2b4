// Python tracebacks as graphs and logs keep them.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/ir/source_map.h"

namespace fullgraph::graphs {

// `File "m.py", line 5, in forward` and, where it follows, the line of source below. Outermost first; anything else in
// the text (carets, blank lines) is passed over.
std::vector<ir::Origin> frames_of(std::string_view traceback);

// Is this a file of PyTorch itself, on whatever machine?
bool is_torch_source(std::string_view path);

// `Frame` as of `# File: m.py:5 in forward, code: x = y`; false when the comment says no such thing.
bool read_file_comment(std::string_view comment, ir::Origin& origin);

}  // namespace fullgraph::graphs
