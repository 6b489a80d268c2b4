#include "cli/git.h"

#include <algorithm>
#include <utility>

#include "validator/process.h"

namespace fullgraph::cli {
namespace {

Result<validator::Finished> run(const std::string& folder, const std::vector<std::string>& arguments, Trust trust,
                                validator::Stderr errors) {
  validator::Command command;
  // `fsmonitor` names a program that git would start.
  command.arguments = {"git", "-c", "core.fsmonitor=false"};
  if (trust == Trust::OnlyNames) command.arguments.insert(command.arguments.end(), {"-c", "safe.directory=*"});
  command.arguments.insert(command.arguments.end(), {"-C", folder});
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.unset = {"GIT_*"};
  command.errors = errors;
  return validator::run(command);
}

}  // namespace

std::optional<std::string> run_git(const std::string& folder, const std::vector<std::string>& arguments, Trust trust) {
  auto done = run(folder, arguments, trust, validator::Stderr::Discarded);
  if (!done || done->end != validator::End::Exited || done->status != 0) return std::nullopt;
  return std::move(done->output);
}

std::string complaint_of_git(const std::string& folder, const std::vector<std::string>& arguments, Trust trust) {
  const auto done = run(folder, arguments, trust, validator::Stderr::Merged);
  if (!done) return done.error().message;
  const std::string said = done->output.substr(0, done->output.find('\n'));
  return said.empty() ? "git failed" : "git: " + said;
}

std::vector<std::string> names_in(std::string_view listing) {
  std::vector<std::string> out;
  while (!listing.empty()) {
    const std::size_t end = std::min(listing.find('\0'), listing.size());
    out.emplace_back(listing.substr(0, end));
    listing.remove_prefix(std::min(end + 1, listing.size()));
  }
  return out;
}

}  // namespace fullgraph::cli
