// A code file and its source map. The code ends at the first NUL byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/graphs/debug_pkl.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\0'), size);
  const std::string_view code = input.substr(0, end);
  const auto map = fullgraph::graphs::read_debug_pkl(std::string(input.substr(std::min(end + 1, size))), code);
  if (map)
    for (std::uint32_t offset = 0; offset <= code.size(); ++offset) (void)map->at(offset);
  return 0;
}
