// What a string literal says: prefixes and escapes.
#pragma once

#include <string>
#include <string_view>

namespace fullgraph::python {

struct StringPrefix {
  bool raw = false;
  bool bytes = false;
  bool format = false;  // f or t
};

// `start` is the literal's prefix and opening quotes.
StringPrefix string_prefix(std::string_view start);

// Appends what `content` (between the quotes) stands for. Escapes are resolved unless raw, line ends become "\n", and
// with `format` doubled braces become single ones. `\N{…}` needs the Unicode name table and becomes U+FFFD.
void append_decoded(std::string& result, std::string_view content, StringPrefix prefix);

}  // namespace fullgraph::python
