#include "cli/nearest.h"

#include <algorithm>
#include <cctype>

namespace fullgraph::cli {

unsigned distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<unsigned>> d(a.size() + 1, std::vector<unsigned>(b.size() + 1));
  for (unsigned i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (unsigned j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::optional<std::string> nearest(std::string_view name, std::span<const std::string> known) {
  const auto lower = [](std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
  };
  if (name.size() > 60) return std::nullopt;
  const std::string wanted = lower(name);
  unsigned best = std::max<unsigned>(1, static_cast<unsigned>(name.size()) / 3) + 1;
  std::optional<std::string> out;
  for (const std::string& candidate : known) {
    const unsigned edits = distance(wanted, lower(candidate));
    if (edits < best) {
      best = edits;
      out = candidate;
    }
  }
  return out;
}

std::string suggestion(std::string_view name, std::span<const std::string> known) {
  const std::optional<std::string> found = nearest(name, known);
  return found ? ", did you mean `" + *found + "`?" : std::string();
}

}  // namespace fullgraph::cli
