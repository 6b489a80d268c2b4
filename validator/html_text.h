// Text as it may stand in a page: what comes from somebody's code, files and output is never markup.
#pragma once

#include <string>
#include <string_view>

namespace fullgraph::validator {

// For element content and quoted attributes. Bytes that are no UTF-8, control characters and characters that change the
// direction of text become visible signs.
std::string escaped(std::string_view text);

}  // namespace fullgraph::validator
