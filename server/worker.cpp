#include "server/worker.h"

#include <chrono>

namespace fullgraph::server {

namespace {
// Shorter looks are finished although there is something newer: who types fast sees results, too.
constexpr std::chrono::milliseconds patience{300};
}  // namespace

Worker::Worker(Workspace::Hooks hooks, Seen seen)
    : workspace_(std::move(hooks)), seen_(std::move(seen)), thread_([this] { run(); }) {}

Worker::~Worker() {
  {
    const std::scoped_lock guard(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
}

void Worker::update(Snapshot snapshot) {
  {
    const std::scoped_lock guard(mutex_);
    next_ = std::move(snapshot);
    newest_ = next_.generation;
  }
  wake_.notify_all();
}

void Worker::changed_on_disk(std::string path, bool content) {
  const std::scoped_lock guard(mutex_);
  touched_.emplace_back(std::move(path), content);
}

void Worker::post(Task task) {
  {
    const std::scoped_lock guard(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_all();
}

bool Worker::is_outdated(std::uint64_t generation) const {
  return stop_ || newest_ != generation;
}

bool Worker::look(const Snapshot& now) {
  const auto begin = std::chrono::steady_clock::now();
  auto look = workspace_.look(now, [&] {
    return stop_ || (is_outdated(now.generation) && std::chrono::steady_clock::now() - begin > patience);
  });
  if (!look || stop_) return false;
  seen_(std::make_shared<const Look>(std::move(*look)));
  return true;
}

void Worker::run() {
  std::uint64_t seen = 0;  // generation
  Snapshot now;
  while (true) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || next_.generation != seen || (seen != 0 && !tasks_.empty()); });
      if (stop_) return;
      if (next_.generation != seen) {
        now = next_;
        for (const auto& [path, content] : std::exchange(touched_, {})) workspace_.changed_on_disk(path, content);
      } else {
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
    }
    if (task) {
      task(workspace_, now);
    } else if (look(now)) {
      seen = now.generation;
    }
  }
}

}  // namespace fullgraph::server
