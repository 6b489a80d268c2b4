#include "server/progress.h"

#include <fmt/format.h>

#include <utility>

namespace fullgraph::server {

namespace {
constexpr std::chrono::milliseconds interval{100};
}

void WorkProgress::send(Json value) {
  transport_.send(
      {{"jsonrpc", "2.0"}, {"method", "$/progress"}, {"params", {{"token", token_}, {"value", std::move(value)}}}});
}

void WorkProgress::update(std::string_view phase, std::size_t done, std::size_t total) {
  if (!enabled_) return;
  const std::scoped_lock guard(mutex_);
  // A look that only brings the last one up to date is over before anybody could read of it.
  if (!shown_ && phase != "reading") return;
  const auto now = Clock::now();
  if (!shown_) {
    shown_ = true;
    token_ = fmt::format("fullgraph-{}", ++count_);
    transport_.send({{"jsonrpc", "2.0"},
                     {"id", token_},
                     {"method", "window/workDoneProgress/create"},
                     {"params", {{"token", token_}}}});
    send({{"kind", "begin"}, {"title", "fullgraph"}, {"message", phase}, {"cancellable", false}});
  } else if (now - last_ < interval) {
    return;
  } else {
    Json report = {{"kind", "report"},
                   {"message", total == 0 ? std::string(phase) : fmt::format("{} {}/{}", phase, done, total)}};
    if (total != 0) report["percentage"] = 100 * done / total;
    send(std::move(report));
  }
  last_ = now;
}

void WorkProgress::end() {
  const std::scoped_lock guard(mutex_);
  if (std::exchange(shown_, false)) send({{"kind", "end"}});
}

}  // namespace fullgraph::server
