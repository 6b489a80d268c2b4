// Comments of C++ text, for the directives in them.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/ir/source.h"

namespace fullgraph::cli {

// Each with its "//" or "/* */", in order.
std::vector<ir::Span> comments_of_cxx(std::string_view text);

}  // namespace fullgraph::cli
