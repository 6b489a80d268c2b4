// Anything as an archive: opened, every member unpacked, and read as both of the kinds that hold pickles.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analyzer/graphs/archive.h"
#include "analyzer/graphs/pickled_module.h"
#include "analyzer/graphs/torchscript.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fullgraph::graphs;
  constexpr std::uint64_t limit = 1 << 20;
  const auto archive = Archive::in_memory({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!archive) return 0;
  for (const std::string& member : archive->names()) (void)archive->read(member, limit);
  (void)read_torchscript(*archive);
  (void)read_saved(*archive);
  return 0;
}
