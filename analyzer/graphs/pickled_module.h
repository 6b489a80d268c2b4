// Modules that torch.save wrote: the one format in which hooks survive.
//
// The objects become the text `__archive__`, whose `load()` makes and returns them, with their hooks registered by the
// calls that register them. The code of a GraphModule, which its pickle holds, becomes a text of its own. Classes of
// the user's are referred to by their names, and so are hooks: their code is not in the file.
#pragma once

#include <string>

#include "analyzer/graphs/archive.h"
#include "analyzer/graphs/graph.h"
#include "analyzer/ir/error.h"

namespace fullgraph::graphs {

// From a zip archive, as torch.save writes it since 1.6. Weights and whatever else holds no module: a StateDict,
// without texts.
Result<Graphs> read_saved(const Archive& archive);

// Whether `bytes` begin as the files of torch.save do that are no archives (before 1.6, and on request since).
bool is_legacy_save(std::string_view bytes);
// From such a file, of which `bytes` are the beginning: the weights stand at its end.
Result<Graphs> read_legacy_save(std::string bytes, const std::string& shown);

}  // namespace fullgraph::graphs
