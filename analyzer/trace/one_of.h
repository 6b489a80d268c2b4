// Is a name one of a few? What the models of Python and PyTorch ask of nearly every call.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace fullgraph::trace {

inline bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace fullgraph::trace
