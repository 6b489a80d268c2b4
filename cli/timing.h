// How long each phase of a run took (`--timing`).
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fullgraph::cli {

class Timing {
 public:
  // The time since the last call goes to this phase.
  void lap(std::string_view phase);
  void print() const;                      // on stderr
  [[nodiscard]] std::string text() const;  // " load 1.2 trace 3.4"

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::vector<std::pair<std::string_view, double>> laps_;  // in the order of their first lap; milliseconds
};

}  // namespace fullgraph::cli
