// Colours, links and progress: what depends on whether a person looks at a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace fullgraph::cli {

enum class Color { Auto, Always, Never };

// Auto: FORCE_COLOR (not empty, not 0) switches on, else NO_COLOR (not empty) and TERM=dumb switch off, else a terminal
// decides.
bool use_color(Color choice, int descriptor);
bool is_terminal(int descriptor);

// A bar on stderr that appears when a run takes longer than half a second, and goes when it is done.
class Progress {
 public:
  explicit Progress(bool enabled);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void phase(std::string_view name);
  // From any thread.
  void update(std::size_t done, std::size_t total);
  void clear();
  // Who shows it instead of stderr.
  using Listener = std::function<void(std::string_view phase, std::size_t done, std::size_t total)>;
  void listen(Listener listener) { listener_ = std::move(listener); }

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool drawn_ = false;
  std::string phase_;
  Clock::time_point start_, last_;
  std::mutex mutex_;
  Listener listener_;
};

}  // namespace fullgraph::cli
