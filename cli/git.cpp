#include "cli/git.h"

#include <utility>

#include "validator/process.h"

namespace fullgraph::cli {

Result<std::string> run_git(const std::string& folder, const std::vector<std::string>& arguments, Trust trust) {
  validator::Command command;
  // `fsmonitor` names a program that git would start.
  command.arguments = {"git", "-c", "core.fsmonitor=false"};
  if (trust == Trust::OnlyNames) command.arguments.insert(command.arguments.end(), {"-c", "safe.directory=*"});
  command.arguments.insert(command.arguments.end(), {"-C", folder});
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.unset = {"GIT_*"};
  command.errors = validator::Stderr::Discarded;
  auto done = validator::run(command);
  if (!done) return std::unexpected(done.error());
  if (done->end == validator::End::Exited && done->status == 0) return std::move(done->output);
  command.errors = validator::Stderr::Merged;
  done = validator::run(command);
  std::string said = done ? done->output : std::string();
  said = said.substr(0, said.find('\n'));
  return std::unexpected(Error{ErrorKind::Io, said.empty() ? "git failed" : "git: " + said, {}});
}

}  // namespace fullgraph::cli
