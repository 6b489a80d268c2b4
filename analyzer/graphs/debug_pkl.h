// The source maps of TorchScript's code files (`code/**/*.py.debug_pkl`).
//
// A row says which range of which source text stands behind the code from some byte on. Scripted code names the
// function's own text and where it starts in its file; traced code has the Python stack of the operator in place of a
// text, the innermost frame first.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/ir/error.h"
#include "analyzer/ir/source_map.h"

namespace fullgraph::graphs {

// `bytes` is the pickle and `code` the text it belongs to. Both layouts are read: sources spelled in a table of strings
// (torch 1.11 and later), or in each row. The error says what is wrong; who calls knows the member.
//
// Beyond the rows, what stands at the start of a code line before the first row with a source gets that source, as a
// statement's target has none of its own; and so does the head of a function, when a row in its body knows its text.
Result<ir::SourceMap> read_debug_pkl(std::string bytes, std::string_view code);

}  // namespace fullgraph::graphs
