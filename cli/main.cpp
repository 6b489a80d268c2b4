// The way in: parse the command line, run the command, and let no exception leave without a message.
#include <fmt/format.h>
#include <unistd.h>
#ifdef FULLGRAPH_MIMALLOC
#include <mimalloc.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "cli/commands.h"
#include "cli/fix_validated.h"
#include "cli/merge.h"
#include "cli/validate.h"
#include "server/server.h"

namespace {

int run(int argc, char** argv) {
  using namespace fullgraph::cli;
  std::error_code error;
  const std::string working_directory = std::filesystem::current_path(error).string();
  if (error) {
    print_error({fullgraph::ErrorKind::Io, "the working directory cannot be found: " + error.message(), {}});
    return exit_error;
  }
  auto command = parse_command_line(std::vector<std::string>(argv + 1, argv + argc), working_directory);
  if (!command) {
    print_error(command.error());
    if (command.error().kind == fullgraph::ErrorKind::Usage) fmt::print(stderr, "Try `fullgraph --help`.\n");
    return exit_error;
  }
  switch (command->kind) {
    case Command::Kind::Check:
      return check(command->check, working_directory);
    case Command::Kind::Validate:
      return validate(*command->validate, working_directory);
    case Command::Kind::FixValidated:
      return fix_validated(*command->validate, working_directory);
    case Command::Kind::Rule:
      return show_rule(*command);
    case Command::Kind::Config:
      return show_config(*command);
    case Command::Kind::Dump:
      return dump(*command, working_directory);
    case Command::Kind::Version:
      return show_version(*command);
    case Command::Kind::Clean:
      return exit_clean;  // nothing is cached yet
    case Command::Kind::Merge:
      return merge(command->files, command->check, working_directory);
    case Command::Kind::Server:
#ifdef FULLGRAPH_MIMALLOC
      // A server makes copies of itself all the time, and that takes time for each page.
      mi_option_enable(mi_option_large_os_pages);
#endif
      return fullgraph::server::serve(working_directory);
    case Command::Kind::Print:
      if (print(command->text)) return exit_clean;
      print_error({fullgraph::ErrorKind::Io, "cannot write to stdout", {}});
      return exit_error;
  }
  return exit_error;
}

}  // namespace

int main(int argc, char** argv) {
  int status = 2;
  try {
    status = run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fullgraph: internal error: {}\n", error.what());
  }
  // Large programs take a while to take apart; the system does it faster.
  std::fflush(nullptr);
  _exit(status);
}
