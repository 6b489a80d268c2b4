// Is a name one of a few? What the models of Python and PyTorch ask of nearly every call.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace fullgraph::trace {

inline bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  // Most names differ in their length or first letter, which is cheaper to see than that they are the same.
  return std::any_of(names.begin(), names.end(), [&](std::string_view one) {
    return one.size() == name.size() && (name.empty() || one.front() == name.front()) && one == name;
  });
}

}  // namespace fullgraph::trace
