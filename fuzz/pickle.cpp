// Anything as a pickle, and what it describes spelled as Python: the objects of a file as torch.save wrote it
// before 1.6.
#include <cstddef>
#include <cstdint>
#include <string>

#include "analyzer/graphs/pickled_module.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string file = "N.N.N.";  // the three pickles that come before, which nobody looks at
  file.append(reinterpret_cast<const char*>(data), size);
  (void)fullgraph::graphs::read_legacy_save(std::move(file), "fuzz");
  return 0;
}
