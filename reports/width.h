// How many terminal columns a text takes, and how its invisible parts are made visible.
//
// A frame's underline must stand under the right characters: ideographs take two columns, combining marks none, tabs up
// to four. Control characters and bidirectional overrides are replaced, so that a source cannot write to the terminal
// or show its code in another order than Python reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fullgraph::reports {

// One code point of a line as it is shown.
struct Cell {
  std::uint32_t offset = 0;  // bytes from the line's begin
  std::string text;          // what to print
  unsigned width = 1;        // columns
};

constexpr unsigned tab_width = 4;

// The line's code points; tabs are expanded for a line that begins in column 0.
std::vector<Cell> cells_of(std::string_view line);

// Columns of a whole text without tabs.
unsigned display_width(std::string_view text);

// The text with control characters and bidirectional overrides replaced (line feeds and tabs stay).
std::string printable(std::string_view text);

}  // namespace fullgraph::reports
