// The JSON of an exported program → FX text, as `print_readable()` would show it.
//
// Sources: torch/_export/serde/schema.py (schema 8.x of torch 2.13; older ones have the same fields). Of an archive
// only this document is read. What the loader of torch does when it runs the program is written as statements:
// mutations of inputs and buffers are `copy_` at the end.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/graphs/graph.h"

namespace fullgraph::graphs {

// `document`: models/<name>.json, or serialized_exported_program.json of older layouts. `member`: what it is called in
// messages, and the name of the text. Errors: no JSON, another schema, nested too deep, names that are none.
Result<Text> read_exported_program(std::string_view document, const std::string& shown, const std::string& member);

}  // namespace fullgraph::graphs
