#include "validator/libtorch/failure.h"

#include <c10/util/Exception.h>

#include <algorithm>

namespace fullgraph::libtorch {

std::string message_of(const std::exception& error) {
  const auto* of_libtorch = dynamic_cast<const c10::Error*>(&error);
  std::string out = of_libtorch != nullptr ? of_libtorch->what_without_backtrace() : error.what();
  out.resize(std::min({out.size(), out.find("Exception raised from "), out.find("frame #0: ")}));
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  return out.empty() ? "libtorch gives no reason" : out;
}

}  // namespace fullgraph::libtorch
