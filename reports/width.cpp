#include "reports/width.h"

#include <algorithm>
#include <array>

namespace fullgraph::reports {
namespace {

struct Interval {
  std::uint32_t first, last;
};

// Marks and format characters without a column of their own (general categories Mn, Me and Cf of the blocks that occur
// in identifiers and comments; not the whole of Unicode).
constexpr std::array zero_width = {
    Interval{0x0300, 0x036F}, Interval{0x0483, 0x0489},   Interval{0x0591, 0x05BD},   Interval{0x0610, 0x061A},
    Interval{0x064B, 0x065F}, Interval{0x06D6, 0x06DC},   Interval{0x0900, 0x0902},   Interval{0x093C, 0x093C},
    Interval{0x0941, 0x0948}, Interval{0x094D, 0x094D},   Interval{0x0E31, 0x0E31},   Interval{0x0E34, 0x0E3A},
    Interval{0x0E47, 0x0E4E}, Interval{0x1AB0, 0x1AFF},   Interval{0x1DC0, 0x1DFF},   Interval{0x200B, 0x200D},
    Interval{0x2060, 0x2064}, Interval{0x20D0, 0x20F0},   Interval{0xFE00, 0xFE0F},   Interval{0xFE20, 0xFE2F},
    Interval{0xFEFF, 0xFEFF}, Interval{0x1F3FB, 0x1F3FF}, Interval{0xE0100, 0xE01EF},
};

// East Asian Wide and Fullwidth, and the emoji that terminals show in two columns.
constexpr std::array double_width = {
    Interval{0x1100, 0x115F},   Interval{0x231A, 0x231B},   Interval{0x23E9, 0x23EC},   Interval{0x23F0, 0x23F0},
    Interval{0x23F3, 0x23F3},   Interval{0x25FD, 0x25FE},   Interval{0x2614, 0x2615},   Interval{0x2648, 0x2653},
    Interval{0x267F, 0x267F},   Interval{0x2693, 0x2693},   Interval{0x26A1, 0x26A1},   Interval{0x26AA, 0x26AB},
    Interval{0x26BD, 0x26BE},   Interval{0x26C4, 0x26C5},   Interval{0x26CE, 0x26CE},   Interval{0x26D4, 0x26D4},
    Interval{0x26EA, 0x26EA},   Interval{0x26F2, 0x26F3},   Interval{0x26F5, 0x26F5},   Interval{0x26FA, 0x26FA},
    Interval{0x26FD, 0x26FD},   Interval{0x2705, 0x2705},   Interval{0x270A, 0x270B},   Interval{0x2728, 0x2728},
    Interval{0x274C, 0x274C},   Interval{0x274E, 0x274E},   Interval{0x2753, 0x2755},   Interval{0x2757, 0x2757},
    Interval{0x2795, 0x2797},   Interval{0x27B0, 0x27B0},   Interval{0x2B1B, 0x2B1C},   Interval{0x2B50, 0x2B50},
    Interval{0x2B55, 0x2B55},   Interval{0x2E80, 0x303E},   Interval{0x3041, 0x33FF},   Interval{0x3400, 0x4DBF},
    Interval{0x4E00, 0x9FFF},   Interval{0xA000, 0xA4CF},   Interval{0xA960, 0xA97F},   Interval{0xAC00, 0xD7A3},
    Interval{0xF900, 0xFAFF},   Interval{0xFE30, 0xFE6F},   Interval{0xFF01, 0xFF60},   Interval{0xFFE0, 0xFFE6},
    Interval{0x16FE0, 0x18AFF}, Interval{0x1B000, 0x1B2FF}, Interval{0x1F004, 0x1F004}, Interval{0x1F0CF, 0x1F0CF},
    Interval{0x1F18E, 0x1F18E}, Interval{0x1F191, 0x1F19A}, Interval{0x1F200, 0x1F320}, Interval{0x1F32D, 0x1F335},
    Interval{0x1F337, 0x1F37C}, Interval{0x1F37E, 0x1F393}, Interval{0x1F3A0, 0x1F3CA}, Interval{0x1F3CF, 0x1F3D3},
    Interval{0x1F3E0, 0x1F3F0}, Interval{0x1F3F4, 0x1F3F4}, Interval{0x1F3F8, 0x1F3FA}, Interval{0x1F400, 0x1F43E},
    Interval{0x1F440, 0x1F440}, Interval{0x1F442, 0x1F4FC}, Interval{0x1F4FF, 0x1F53D}, Interval{0x1F54B, 0x1F54E},
    Interval{0x1F550, 0x1F567}, Interval{0x1F57A, 0x1F57A}, Interval{0x1F595, 0x1F596}, Interval{0x1F5A4, 0x1F5A4},
    Interval{0x1F5FB, 0x1F64F}, Interval{0x1F680, 0x1F6C5}, Interval{0x1F6CC, 0x1F6CC}, Interval{0x1F6D0, 0x1F6D2},
    Interval{0x1F6D5, 0x1F6D7}, Interval{0x1F6DC, 0x1F6DF}, Interval{0x1F6EB, 0x1F6EC}, Interval{0x1F6F4, 0x1F6FC},
    Interval{0x1F7E0, 0x1F7EB}, Interval{0x1F7F0, 0x1F7F0}, Interval{0x1F90C, 0x1F93A}, Interval{0x1F93C, 0x1F945},
    Interval{0x1F947, 0x1F9FF}, Interval{0x1FA70, 0x1FAFF}, Interval{0x20000, 0x2FFFD}, Interval{0x30000, 0x3FFFD},
};

template <std::size_t N>
bool in(const std::array<Interval, N>& table, std::uint32_t code_point) {
  const auto found = std::ranges::upper_bound(table, code_point, {}, &Interval::first);
  return found != table.begin() && code_point <= std::prev(found)->last;
}

bool bidirectional(std::uint32_t c) {
  return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x061C;
}

struct Decoded {
  std::uint32_t code_point;
  unsigned bytes;
};

Decoded decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(at);
  if (first < 0x80) return {first, 1};
  unsigned length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  if (length == 1 || at + length > text.size()) return {0xFFFD, 1};
  std::uint32_t code_point = first & (0xFFu >> (length + 1));
  for (unsigned i = 1; i < length; ++i) {
    // A byte that begins a character takes nothing with it that does not belong to it.
    if (byte(at + i) >> 6 != 0x2) return {0xFFFD, 1};
    code_point = code_point << 6 | (byte(at + i) & 0x3F);
  }
  return {code_point, length};
}

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// U+2400 shows NUL, U+2401 the next control character, …
std::string control_picture(std::uint32_t control) {
  const std::uint32_t c = control == 0x7F ? 0x2421 : 0x2400 + control;
  return {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
          static_cast<char>(0x80 | (c & 0x3F))};
}

Cell cell_of(std::string_view text, std::size_t at, Decoded c) {
  Cell cell{static_cast<std::uint32_t>(at), std::string(text.substr(at, c.bytes)), 1};
  if (c.code_point < 0x20 || c.code_point == 0x7F) {
    cell.text = control_picture(c.code_point);
  } else if ((c.code_point >= 0x80 && c.code_point < 0xA0) || bidirectional(c.code_point) || c.code_point == 0xFFFD) {
    cell.text = replacement;
  } else if (c.code_point >= 0x300 && in(zero_width, c.code_point)) {
    cell.width = 0;
  } else if (c.code_point >= 0x1100 && in(double_width, c.code_point)) {
    cell.width = 2;
  }
  return cell;
}

}  // namespace

std::vector<Cell> cells_of(std::string_view line) {
  std::vector<Cell> out;
  unsigned column = 0;
  for (std::size_t at = 0; at < line.size();) {
    const Decoded c = decode(line, at);
    if (c.code_point == '\t') {
      const unsigned width = tab_width - column % tab_width;
      out.push_back({static_cast<std::uint32_t>(at), std::string(width, ' '), width});
    } else {
      out.push_back(cell_of(line, at, c));
    }
    column += out.back().width;
    at += c.bytes;
  }
  return out;
}

unsigned display_width(std::string_view text) {
  unsigned width = 0;
  for (const Cell& cell : cells_of(text)) width += cell.width;
  return width;
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded c = decode(text, at);
    out += c.code_point == '\n' || c.code_point == '\t' ? std::string(1, text[at]) : cell_of(text, at, c).text;
    at += c.bytes;
  }
  return out;
}

}  // namespace fullgraph::reports
