// Foreign bytes in messages and texts.
#pragma once

#include <string>
#include <string_view>

namespace fullgraph::graphs {

// A name as a message shows it: on one line, valid UTF-8, of bearable length.
std::string printable(std::string_view bytes);

// A Python string literal of these bytes, which are UTF-8 as pickles hold it.
std::string python_string(std::string_view text);

// Whether a name can be spelled as one of Python's (ASCII letters, digits, `_`; none of its keywords).
bool is_identifier(std::string_view name);

}  // namespace fullgraph::graphs
