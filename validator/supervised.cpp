#include "validator/supervised.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iterator>

namespace fullgraph::validator {
namespace {

volatile std::sig_atomic_t working = 0;  // the process that does the work
constexpr int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void pass_on(int signal) {
  const int number = errno;
  kill(static_cast<pid_t>(working), signal);
  errno = number;
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

int supervised(const std::function<int()>& work) {
  // Signals wait until there is somebody to pass them on to.
  sigset_t held, before;
  sigemptyset(&held);
  for (const int signal : passed_on) sigaddset(&held, signal);
  sigprocmask(SIG_BLOCK, &held, &before);
  const pid_t waiting = getpid();
  const pid_t child = fork();
  if (child <= 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (child < 0) return work();  // no process to spare: it goes without
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    return getppid() == waiting ? work() : 2;
  }
  working = child;
  struct sigaction action {
  }, old[std::size(passed_on)];
  action.sa_handler = pass_on;
  for (std::size_t i = 0; i < std::size(passed_on); ++i) {
    sigaction(passed_on[i], nullptr, &old[i]);
    if (old[i].sa_handler != SIG_IGN) sigaction(passed_on[i], &action, nullptr);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  const int status = wait_for(child);
  for (std::size_t i = 0; i < std::size(passed_on); ++i) sigaction(passed_on[i], &old[i], nullptr);
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  std::raise(WTERMSIG(status));
  return 2;
}

}  // namespace fullgraph::validator
