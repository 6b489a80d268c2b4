#include "validator/libtorch/clock.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "validator/libtorch/device.h"

namespace fullgraph::libtorch {

nlohmann::ordered_json time_work(const std::function<void()>& prepare, const std::function<void()>& work,
                                 at::Device device, const ClockOptions& options) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t fewest = 3;
  const auto begin = Clock::now();
  const auto seconds_since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  std::vector<double> samples;
  for (int run = 0; run < options.warm_up + options.repeats; ++run) {
    if (samples.size() >= fewest && seconds_since(begin) > options.budget_seconds) break;
    prepare();
    wait_for(device);
    const auto start = Clock::now();
    work();
    wait_for(device);
    if (run >= options.warm_up) samples.push_back(seconds_since(start) * 1000);
  }
  if (samples.empty()) return nullptr;
  std::vector<double> sorted = samples;
  std::ranges::sort(sorted);
  const auto at_share = [&](double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
  };
  return {{"median", at_share(0.5)}, {"low", at_share(0.25)}, {"high", at_share(0.75)}, {"samples", samples}};
}

}  // namespace fullgraph::libtorch
