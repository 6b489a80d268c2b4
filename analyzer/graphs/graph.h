// Recorded graphs: archives of torch.export, TorchScript and torch.save, FX text, logs of graph breaks.
//
// Every one of them is a program that something has recorded, and is spelled as Python text here, which the Python
// frontend then reads like any other: TorchScript's code and FX text are Python already, an exported graph is written
// out as `print_readable()` would, a pickle is a program that makes objects and is spelled as the function that makes
// them. Nothing is imported, unpickled or executed, and weights are never read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/error.h"
#include "analyzer/ir/source_map.h"

namespace fullgraph::graphs {

enum class Format : std::uint8_t {
  ExportedProgram,  // torch.export.save
  TorchScript,      // torch.jit.save
  PickledModule,    // torch.save of a module or a GraphModule
  StateDict,        // torch.save of anything else
  CompiledPackage,  // AOTInductor: machine code, nothing to read
  FxText,           // print_readable(), gm.code, str(gm.graph), dumps of TORCH_LOGS
  GraphBreakLog,    // TORCH_LOGS=graph_breaks
  StructuredTrace,  // TORCH_TRACE, what tlparse reads
};

// One text that stands for a part of the graph.
struct Text {
  std::string module;  // dotted name under which the other texts of the file import it
  std::string member;  // of the archive, without the top folder ("code/__torch__/models.py"); empty: the file itself
  std::string text;
  ir::SourceMap map;
};

// A graph break that happened: Dynamo said so, or left the trace of it in what it recorded.
struct RecordedBreak {
  ir::Origin where;
  std::string gb_id;              // "GB0124"; empty: not said
  std::string reason;             // one line
  std::vector<ir::Origin> stack;  // the way there, outermost first, `where` left out
};

struct Graphs {
  Format format = Format::FxText;
  std::vector<Text> texts;
  // Module and function that makes the recorded object and returns it ("__archive__:load"); empty: the classes of the
  // texts are all there is.
  std::string entry;
  std::vector<RecordedBreak> breaks;
};

// What a file is, from its first bytes and, for an archive, the names in it. The suffix does not count, but that a log
// (`.log`) may tell of no break at all. Error: none of the formats, not readable.
Result<Format> format_of(const std::string& path, const std::string& shown);

// Reads one file. Errors name the member and what is wrong with it: cut, a wrong checksum, larger than what is read of
// such a file, a schema that is not known.
Result<Graphs> read(const std::string& path, const std::string& shown);

// Does it tell of a run, and hold no graph?
bool is_log(Format format);
// "an exported program", "FX text", …
std::string_view name_of(Format format);
// What a file of this format cannot show: one sentence, for the report.
std::string_view blind_spots_of(Format format);

}  // namespace fullgraph::graphs
