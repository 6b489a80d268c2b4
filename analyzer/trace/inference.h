// How a function uses its own names: what inference.cpp collects once for each module.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analyzer/ir/ir.h"

namespace fullgraph::trace {

// A place where a local name is used in a way that says something about its type.
struct ParameterUse {
  enum class Role : std::uint8_t {
    Tensor,     // as only a tensor can be used
    Other,      // as no tensor is used
    Attribute,  // of which `outer` is read
    Method,     // of which `outer` is called
    Argument,   // number `position`, or `keyword`, of the call `outer`
    Stored,     // assigned anew, for all uses from here on
  };
  std::uint32_t offset = 0;
  std::uint16_t slot = 0;
  Role role = Role::Other;
  ir::ExprId outer;
  std::size_t position = 0;
  ir::Symbol keyword;
};

}  // namespace fullgraph::trace
