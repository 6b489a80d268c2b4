// Anything as a log of graph breaks and as a structured trace.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analyzer/graphs/break_log.h"

namespace {

void read(std::string_view log) {
  using namespace fullgraph::graphs;
  const auto breaks = read_graph_breaks(log);
  if (!breaks.empty() && !holds_graph_breaks(log)) std::abort();
  for (const RecordedBreak& one : breaks) {
    if (one.where.line == 0 || one.reason.find('\n') != std::string::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  read(input);
  (void)fullgraph::graphs::is_structured_trace(input);
  const std::string payloads = fullgraph::graphs::payloads_of(input);
  if (std::ranges::count(payloads, '\n') < std::ranges::count(input, '\n')) std::abort();
  read(payloads);
  return 0;
}
