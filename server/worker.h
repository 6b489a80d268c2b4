// The thread that looks: it takes the newest snapshot of the editor, looks, and hands on what it saw.
//
// Whoever reads from the editor never waits for it. Edits that arrive during a look are taken together by the next one;
// a look that takes long is broken off for them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/workspace.h"

namespace fullgraph::server {

class Worker {
 public:
  using Task = std::function<void(Workspace&, const Snapshot&)>;
  using Seen = std::function<void(std::shared_ptr<const Look>)>;

  // `seen` is called on the thread.
  Worker(Workspace::Hooks hooks, Seen seen);
  ~Worker();  // waits for what is being done

  // From any thread.
  void update(Snapshot snapshot);
  void changed_on_disk(std::string path, bool content);
  // Runs when the newest snapshot has been looked at.
  void post(Task task);

 private:
  void run();
  bool look(const Snapshot& now);
  [[nodiscard]] bool is_outdated(std::uint64_t generation) const;

  Workspace workspace_;
  Seen seen_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Snapshot next_;
  std::atomic<std::uint64_t> newest_ = 0;  // generation of `next_`
  std::vector<std::pair<std::string, bool>> touched_;
  std::deque<Task> tasks_;
  std::atomic<bool> stop_ = false;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace fullgraph::server
