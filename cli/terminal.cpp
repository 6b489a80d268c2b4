#include "cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace fullgraph::cli {
namespace {

constexpr auto delay = std::chrono::milliseconds(500);
constexpr auto interval = std::chrono::milliseconds(80);
constexpr std::size_t bar_width = 30;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

bool is_terminal(int descriptor) {
  return isatty(descriptor) == 1;
}

bool use_color(Color choice, int descriptor) {
  if (choice != Color::Auto) return choice == Color::Always;
  const std::string_view force = variable("FORCE_COLOR");
  if (!force.empty() && force != "0") return true;
  if (!variable("NO_COLOR").empty() || variable("TERM") == "dumb") return false;
  return is_terminal(descriptor);
}

Progress::Progress(bool enabled) : enabled_(enabled), start_(Clock::now()), last_(start_) {}

Progress::~Progress() {
  clear();
}

void Progress::phase(std::string_view name) {
  const std::lock_guard lock(mutex_);
  phase_ = name;
  if (listener_) listener_(phase_, 0, 0);
}

void Progress::update(std::size_t done, std::size_t total) {
  if ((!enabled_ && !listener_) || total == 0) return;
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  if (now - start_ < delay || now - last_ < interval) return;
  last_ = now;
  if (listener_) return listener_(phase_, done, total);
  drawn_ = true;
  const std::size_t filled = bar_width * done / total;
  fmt::print(stderr, "\r\x1b[K{:<8} [{}{}] {}/{}", phase_, std::string(filled, '#'),
             std::string(bar_width - filled, ' '), done, total);
  std::fflush(stderr);
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  if (!drawn_) return;
  drawn_ = false;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace fullgraph::cli
