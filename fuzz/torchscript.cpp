// A TorchScript archive whose members are anything: code, its source map and the objects, with "\nNEXT\n" between them.
// Packed here, with the right checksums, which made-up archives never have.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/graphs/archive.h"
#include "analyzer/graphs/torchscript.h"
#include "tests/unit/archives.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fullgraph::graphs;
  constexpr std::string_view separator = "\nNEXT\n";
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::array<std::string, 3> parts;
  for (std::string& part : parts) {
    const std::size_t end = std::min(input.find(separator), input.size());
    part = input.substr(0, end);
    input.remove_prefix(std::min(end + separator.size(), input.size()));
  }
  const std::string bytes = samples::make_zip({{"m/code/__torch__/m.py", parts[0]},
                                               {"m/code/__torch__/m.py.debug_pkl", parts[1]},
                                               {"m/constants.pkl", parts[2]},
                                               {"m/data.pkl", parts[2]}},
                                              samples::Compression::None);
  if (const auto archive = Archive::in_memory(bytes, "fuzz")) (void)read_torchscript(*archive);
  return 0;
}
