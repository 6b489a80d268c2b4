// TorchScript archives (torch.jit.save), scripted and traced.
//
// Each `code/**/*.py` is a text: it is Python by its grammar, with the places of its author's sources beside it. The
// objects of `data.pkl` become the text `__archive__`, whose `load()` makes and returns the module. `CONSTANTS` holds
// the constants that the code refers to (`CONSTANTS.c0`).
//
// `code/__torch__/models.py` is the module `__torch__.models`. What is a module may be a package as well, with others
// below it: classes of `__main__` stand in `code/__torch__.py`, and copies of a class in
// `code/__torch__/…/___torch_mangle_N.py`. The names begin at the root everywhere: the code has no imports.
#pragma once

#include "analyzer/graphs/archive.h"
#include "analyzer/graphs/graph.h"
#include "analyzer/ir/error.h"

namespace fullgraph::graphs {

Result<Graphs> read_torchscript(const Archive& archive);

}  // namespace fullgraph::graphs
