// Anything as the JSON of an exported program. What comes out must be Python, whatever names, lines of source and
// numbers the document has: one class, with nothing of theirs beside it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analyzer/graphs/exported_program.h"
#include "analyzer/python/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fullgraph;
  auto text = graphs::read_exported_program({reinterpret_cast<const char*>(data), size}, "fuzz", "models/model.json");
  if (!text) return 0;
  auto source = python::make_source(std::move(text->text), "fuzz");
  if (!source) std::abort();
  const auto module = python::parse(std::move(*source), text->module, false);
  if (!module->errors.empty() || module->body.count != 1) std::abort();
  return 0;
}
