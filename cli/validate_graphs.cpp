#include "cli/validate_graphs.h"

#include <unistd.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/files.h"
#include "validator/graphs.h"
#include "validator/process.h"

namespace fullgraph::cli {
namespace {

namespace fs = std::filesystem;

Error usage(std::string message) {
  return {ErrorKind::Usage, std::move(message), {}};
}

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// `--input` takes descriptions of tensors and, alone, a file that holds all of them.
Result<void> add_inputs(validator::GraphOptions& out, const ValidateOptions& options, const std::string& directory) {
  for (const std::string& input : options.inputs) {
    const std::string path = absolute_path(input, directory);
    std::error_code error;
    if (input.find('[') != std::string::npos || !exists(path)) {
      out.inputs.push_back(input);
    } else if (!fs::is_regular_file(path, error)) {
      return std::unexpected(Error{ErrorKind::Usage, "this is no file of tensors", ErrorLocation{input, 0, 0}});
    } else if (options.inputs.size() != 1) {
      return std::unexpected(usage("a file of tensors given with --input holds all inputs: give it alone"));
    } else {
      out.inputs_file = path;
    }
  }
  return {};
}

Result<validator::GraphOptions> graph_options(const ValidateOptions& options, const std::string& directory) {
  validator::GraphOptions out;
  if (options.paths.size() > 2) return std::unexpected(usage("validate takes one model, or two: before and after"));
  for (const std::string& path : options.paths) {
    if (!exists(absolute_path(path, directory))) {
      return std::unexpected(Error{ErrorKind::Io, "there is no such file or folder", ErrorLocation{path, 0, 0}});
    }
    if (path.ends_with(".py"))
      return std::unexpected(usage(path + " is a Python source: name its function with --entry " + path + ":FUNCTION"));
  }
  out.shown_before = options.paths[0];
  out.before = absolute_path(options.paths[0], directory);
  if (options.paths.size() == 2) {
    out.shown_after = options.paths[1];
    out.after = absolute_path(options.paths[1], directory);
  }
  if (auto added = add_inputs(out, options, directory); !added) return std::unexpected(added.error());
  if (!options.module.empty()) out.module = options.module;
  for (const std::string& library : options.link) {
    const std::string path = absolute_path(library, directory);
    out.libraries.push_back(exists(path) ? path : library);
  }
  if (!options.modes.empty()) {
    out.modes = options.modes;
    std::erase(out.modes, "decode");
    if (out.modes.empty()) return std::unexpected(usage("archives and C++ models have no mode `decode`"));
  }
  out.device = options.device;
  out.repetitions = options.repetitions;
  out.limits.timeout = options.timeout;
  out.limits.memory = memory_limit_of(options);
  return out;
}

}  // namespace

int validate_graphs(const ValidateOptions& options, const std::string& working_directory) {
  const auto graphs = graph_options(options, working_directory);
  if (!graphs) {
    print_error(graphs.error());
    return exit_error;
  }
  const auto result = validator::validate_graphs(*graphs);
  if (!result) {
    if (result.error().kind != ErrorKind::Interrupted) print_error(result.error());
    return exit_error;
  }
  return deliver(*result, options);
}

}  // namespace fullgraph::cli
