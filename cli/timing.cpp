#include "cli/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace fullgraph::cli {

void Timing::lap(std::string_view phase) {
  const auto now = std::chrono::steady_clock::now();
  const double milliseconds = std::chrono::duration<double, std::milli>(now - last_).count();
  last_ = now;
  const auto known = std::ranges::find(laps_, phase, &std::pair<std::string_view, double>::first);
  if (known == laps_.end()) {
    laps_.emplace_back(phase, milliseconds);
  } else {
    known->second += milliseconds;
  }
}

std::string Timing::text() const {
  std::string out;
  for (const auto& [phase, milliseconds] : laps_) out += fmt::format(" {} {:.1f}", phase, milliseconds);
  return out;
}

void Timing::print() const {
  double total = 0;
  for (const auto& [phase, milliseconds] : laps_) {
    fmt::print(stderr, "{:<10} {:>10.1f} ms\n", phase, milliseconds);
    total += milliseconds;
  }
  fmt::print(stderr, "{:<10} {:>10.1f} ms\n", "total", total);
}

}  // namespace fullgraph::cli
