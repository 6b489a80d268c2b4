// Progress of a long look, for clients that show it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "server/transport.h"

namespace fullgraph::server {

class WorkProgress {
 public:
  explicit WorkProgress(Transport& transport) : transport_(transport) {}
  void enable(bool enabled) { enabled_ = enabled; }

  // From any thread. The first call begins; `total` 0: nobody knows how much there is.
  void update(std::string_view phase, std::size_t done, std::size_t total);
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  void send(Json value);
  Transport& transport_;
  std::atomic<bool> enabled_ = false;
  std::mutex mutex_;
  bool shown_ = false;
  std::uint64_t count_ = 0;
  std::string token_;
  Clock::time_point last_;
};

}  // namespace fullgraph::server
