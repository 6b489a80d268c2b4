#include "validator/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <set>
#include <string_view>
#include <thread>

#include "validator/process_tree.h"

extern char** environ;

namespace fullgraph::validator {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int tick_ms = 20;  // between two looks at a contained process

volatile std::sig_atomic_t pending_signal = 0;
// SIGUSR1: the process that waits for this one is gone (supervised.h).
constexpr int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1};
struct sigaction old_actions[std::size(handled)];

std::unexpected<Error> io_error(const std::string& what, int number) {
  return std::unexpected(Error{ErrorKind::Io, what + ": " + std::strerror(number), {}});
}

bool names_variable(const std::string& pattern, std::string_view entry) {
  if (pattern.ends_with('*')) return entry.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1));
  return entry.size() > pattern.size() && entry.starts_with(pattern) && entry[pattern.size()] == '=';
}

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool dropped =
        std::ranges::any_of(command.unset, [&](const std::string& name) { return names_variable(name, text); }) ||
        std::ranges::any_of(command.set, [&](const auto& pair) { return names_variable(pair.first, text); });
    if (!dropped) out.emplace_back(text);
  }
  for (const auto& [name, value] : command.set) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

Result<pid_t> spawn(const Command& command, int output) {
  const std::vector<std::string> environment = environment_of(command);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (command.errors == Stderr::Merged) {
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  if (!command.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (command.contained) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, command.arguments[0].c_str(), &actions, &attributes,
                                  pointers_to(command.arguments).data(), pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return io_error(command.arguments[0], failed);
  return child;
}

// One program that runs: its output, its limits, its end.
class Running {
 public:
  Running(const Command& command, pid_t child, int output, std::set<pid_t> others)
      : command_(command), child_(child), output_(output), others_(std::move(others)) {}
  // Only an exception leaves it running.
  ~Running() {
    if (command_.contained && !ended_) kill_all();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  Result<Finished> finish() {
    if (!command_.contained) return plain();
    bool open = true;
    while (!ended_) {
      open = open ? read_for(tick_ms) : wait_a_moment();
      watch();
      if (!ended_) look_for_end(WNOHANG);
    }
    kill_all();
    if (open) read_for(0);
    close(output_);
    if (Interruptions::signal() != 0) return std::unexpected(Error{ErrorKind::Interrupted, "ended by a signal", {}});
    return result();
  }

 private:
  Result<Finished> plain() {
    while (read_for(-1)) {
    }
    close(output_);
    look_for_end(0);
    return result();
  }

  Finished result() {
    out_.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    trim(command_.most_output);
    return std::move(out_);
  }

  // Takes what there is within that time; false when the last writer has closed it.
  bool read_for(int milliseconds) {
    pollfd wanted{output_, POLLIN, 0};
    if (poll(&wanted, 1, milliseconds) <= 0) return true;
    const ssize_t count = read(output_, buffer_.data(), buffer_.size());
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    out_.output.append(buffer_.data(), static_cast<std::size_t>(count));
    if (out_.output.size() > 2 * command_.most_output) trim(command_.most_output);
    return count > 0;
  }

  static bool wait_a_moment() {
    std::this_thread::sleep_for(1ms);
    return false;
  }

  void trim(std::size_t most) {
    if (out_.output.size() <= most) return;
    const std::size_t much = out_.output.size() - most;
    out_.output.erase(0, much);
    out_.dropped += much;
  }

  void look_for_end(int flags) {
    int status = 0;
    pid_t seen = 0;
    while ((seen = waitpid(child_, &status, flags)) < 0 && errno == EINTR) {
    }
    if (seen == 0) return;
    ended_ = true;
    if (out_.end != End::Exited) return;  // it is known why
    out_.end = WIFSIGNALED(status) ? End::Signalled : End::Exited;
    out_.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }

  void watch() {
    const auto now = Clock::now();
    if (now - last_look_ < std::chrono::milliseconds(tick_ms)) return;
    last_look_ = now;
    if (Interruptions::signal() != 0) return stop(End::Signalled, Interruptions::signal());
    if (command_.timeout) {
      if (progressed()) step_begin_ = now;
      if (now - step_begin_ > *command_.timeout) return stop(End::TimedOut, 0);
    }
    if (command_.memory_limit) {
      const std::uint64_t held = memory_of(processes(), *command_.memory_limit);
      out_.peak_memory = std::max(out_.peak_memory, held);
      if (held > *command_.memory_limit) stop(End::OutOfMemory, 0);
    }
  }

  bool progressed() {
    struct stat file {};
    if (command_.progress_file.empty() || stat(command_.progress_file.c_str(), &file) != 0) return false;
    const bool grown = file.st_size != progress_;
    progress_ = file.st_size;
    return grown;
  }

  void stop(End end, int status) {
    out_.end = end;
    out_.status = status;
    kill(-child_, SIGKILL);
    kill(child_, SIGKILL);
  }

  // The program and all that it started, orphans included.
  std::vector<pid_t> processes() const {
    std::vector<pid_t> out;
    for (const pid_t child : children_of_this()) {
      if (others_.contains(child)) continue;
      out.push_back(child);
      const auto below = descendants_of(child);
      out.insert(out.end(), below.begin(), below.end());
    }
    return out;
  }

  // What is killed can be starting something just then: look again until nothing is left.
  void kill_all() const {
    kill(-child_, SIGKILL);
    for (int round = 0; round < 1000; ++round) {
      const std::vector<pid_t> left = processes();
      if (left.empty()) return;
      for (const pid_t process : left) kill(process, SIGKILL);
      for (const pid_t process : left) waitpid(process, nullptr, WNOHANG);
      std::this_thread::sleep_for(1ms);
    }
  }

  const Command& command_;
  pid_t child_;
  int output_;
  std::set<pid_t> others_;  // children of this process from before
  std::vector<char> buffer_ = std::vector<char>(1 << 16);
  Finished out_;
  bool ended_ = false;
  off_t progress_ = 0;
  Clock::time_point begin_ = Clock::now(), step_begin_ = begin_, last_look_ = begin_;
};

void remember(int number) {
  pending_signal = number;
}

}  // namespace

Result<Finished> run(const Command& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return io_error("a pipe", errno);
  std::set<pid_t> others;
  if (command.contained) {
    // Orphans come here instead of to init.
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    others = children_of_this();
  }
  auto child = spawn(command, ends[1]);
  close(ends[1]);
  if (!child) {
    close(ends[0]);
    return std::unexpected(child.error());
  }
  return Running(command, *child, ends[0], std::move(others)).finish();
}

Interruptions::Interruptions() {
  pending_signal = 0;
  struct sigaction action {};
  action.sa_handler = remember;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(handled); ++i) {
    sigaction(handled[i], nullptr, &old_actions[i]);
    // What was started to outlast a signal (nohup, a background job) goes on ignoring it.
    if (old_actions[i].sa_handler != SIG_IGN) sigaction(handled[i], &action, nullptr);
  }
}

Interruptions::~Interruptions() {
  for (std::size_t i = 0; i < std::size(handled); ++i) sigaction(handled[i], &old_actions[i], nullptr);
}

int Interruptions::signal() {
  return pending_signal;
}

}  // namespace fullgraph::validator
