// The value of a call of which the profile knows only what type it returns.
#pragma once

#include "analyzer/profile/profile.h"
#include "analyzer/trace/heap.h"

namespace fullgraph::trace {

// A scalar of that type; null for everything that is none.
inline Value scalar_of(Heap& heap, profile::Returns returns) {
  switch (returns) {
    case profile::Returns::Bool:
      return heap.typed(Kind::Bool);
    case profile::Returns::Int:
      return heap.typed(Kind::Int);
    case profile::Returns::Float:
      return heap.typed(Kind::Float);
    case profile::Returns::String:
      return heap.typed(Kind::Str);
    default:
      return nullptr;
  }
}

}  // namespace fullgraph::trace
