// Text that comes from user code: messages, names, paths, output of processes. Any bytes at all.
#pragma once

#include <string>
#include <string_view>

namespace fullgraph::page {

// For HTML, between tags and in quoted attributes. What is no UTF-8 becomes U+FFFD; controls, and characters that turn
// the direction of text around, are shown by their numbers.
std::string escaped(std::string_view text);

// For a terminal: the same become question marks, of tabs spaces; line ends stay.
std::string printable(std::string_view text);

}  // namespace fullgraph::page
