// Anything as FX text. The graphs must stand at the lines where they stand in the file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analyzer/graphs/fx_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fullgraph::graphs;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const Graphs graphs = read_fx_text(input);
  const auto lines = std::ranges::count(input, '\n') + (input.empty() || input.ends_with('\n') ? 0 : 1);
  if (graphs.texts.size() != 1 || std::ranges::count(graphs.texts.front().text, '\n') != lines) std::abort();
  const bool held = holds_fx_text(input);
  const bool written = graphs.texts.front().text.find_first_not_of('\n') != std::string::npos;
  if (written && !held) std::abort();
  return 0;
}
