// Times of one piece of work: warmed up, repeated, and told with their spread.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <nlohmann/json_fwd.hpp>

namespace fullgraph::libtorch {

struct ClockOptions {
  int warm_up = 3;
  int repeats = 11;
  double budget_seconds = 10;  // stops earlier, after three measurements at least
};

// Milliseconds: {"median", "low", "high", "samples"}, low and high being the quartiles. `prepare` runs before each
// repetition and is not timed.
nlohmann::ordered_json time_work(const std::function<void()>& prepare, const std::function<void()>& work,
                                 at::Device device, const ClockOptions& options);

}  // namespace fullgraph::libtorch
