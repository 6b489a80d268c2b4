#include "validator/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace fullgraph::validator {
namespace {

// A process may end at any moment: what cannot be read is empty.
std::string read_proc(pid_t process, std::string_view name) {
  const std::string path = "/proc/" + std::to_string(process) + "/" + std::string(name);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string out;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(file, buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(count));
  close(file);
  return out;
}

// By process its parent. What ends while this is read is missing.
std::map<pid_t, pid_t> parents() {
  std::map<pid_t, pid_t> out;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return out;
  while (const dirent* entry = readdir(folder)) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    const auto process = static_cast<pid_t>(std::atoi(entry->d_name));
    const std::string stat = read_proc(process, "stat");
    // "123 (name) S 1 …": the name may hold anything, parentheses too.
    const std::size_t end = stat.rfind(')');
    if (end == std::string::npos || end + 4 >= stat.size()) continue;
    out[process] = static_cast<pid_t>(std::atoi(stat.c_str() + end + 4));
  }
  closedir(folder);
  return out;
}

std::uint64_t resident(pid_t process) {
  const std::string statm = read_proc(process, "statm");
  const std::size_t space = statm.find(' ');
  if (space == std::string::npos) return 0;
  return std::strtoull(statm.c_str() + space, nullptr, 10) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// What the process holds alone, and its part of what it shares.
std::uint64_t proportional(pid_t process) {
  const std::string rollup = read_proc(process, "smaps_rollup");
  const std::size_t at = rollup.find("\nPss:");
  if (at == std::string::npos) return resident(process);
  return std::strtoull(rollup.c_str() + at + 5, nullptr, 10) * 1024;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t root) {
  const auto parent_of = parents();
  std::set<pid_t> below = {root};
  std::vector<pid_t> out;
  // Numbers of processes start again at some time: a parent may come behind its child.
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [process, parent] : parent_of) {
      if (!below.contains(parent) || !below.insert(process).second) continue;
      out.push_back(process);
      grown = true;
    }
  }
  return out;
}

std::set<pid_t> children_of_this() {
  std::set<pid_t> out;
  const pid_t self = getpid();
  for (const auto& [process, parent] : parents()) {
    if (parent == self) out.insert(process);
  }
  return out;
}

std::uint64_t memory_of(const std::vector<pid_t>& processes, std::uint64_t enough) {
  std::uint64_t quick = 0, exact = 0;
  for (const pid_t process : processes) quick += resident(process);
  if (quick < enough) return quick;
  for (const pid_t process : processes) exact += proportional(process);
  return exact;
}

}  // namespace fullgraph::validator
