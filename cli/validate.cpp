#include "cli/validate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/validate_graphs.h"
#include "cli/validate_python.h"
#include "validator/process.h"
#include "validator/report.h"
#include "validator/supervised.h"

namespace fullgraph::cli {
namespace {

using validator::ValidationResult;

// The results of several machines as one. Cases come in the order of their names, whatever the order of the files.
Result<ValidationResult> merged(const std::vector<std::string>& files, const std::string& working_directory) {
  ValidationResult out;
  for (const std::string& file : files) {
    auto text = read_file(absolute_path(file, working_directory));
    if (!text) return std::unexpected(text.error());
    auto part = validator::read_json(*text, file);
    if (!part) return std::unexpected(part.error());
    if (out.torch.empty()) {
      ValidationResult first = std::move(*part);
      std::ranges::move(first.errors, std::back_inserter(out.errors));
      std::ranges::move(first.cases, std::back_inserter(out.cases));
      out.version = first.version;
      out.torch = first.torch;
      out.python = first.python;
      out.before = first.before;
      out.after = first.after;
      continue;
    }
    if (!part->torch.empty() && part->torch != out.torch) {
      return std::unexpected(Error{ErrorKind::Usage,
                                   fmt::format("results of torch {} and {} cannot be merged", out.torch, part->torch),
                                   ErrorLocation{file}});
    }
    std::ranges::move(part->errors, std::back_inserter(out.errors));
    std::ranges::move(part->cases, std::back_inserter(out.cases));
  }
  std::ranges::stable_sort(out.cases, {}, &validator::Case::name);
  return out;
}

Result<int> run(const ValidateOptions& options, const std::string& working_directory) {
  if (!options.merge.empty()) {
    const auto result = merged(options.merge, working_directory);
    if (!result) return std::unexpected(result.error());
    return deliver(*result, options);
  }
  if (!options.paths.empty()) return validate_graphs(options, working_directory);
  auto any = has_python_cases(options, working_directory);
  if (!any) return std::unexpected(any.error());
  if (!*any) {
    return std::unexpected(Error{ErrorKind::Usage,
                                 "nothing to validate: give --entry, --transformers or an archive, or put "
                                 "[[tool.fullgraph.case]] into the configuration",
                                 {}});
  }
  if (options.list) {
    const auto list = list_python_cases(options, working_directory);
    if (!list) return std::unexpected(list.error());
    return print(*list) ? exit_clean : exit_error;
  }
  const auto result = validate_python(options, working_directory);
  if (!result) return std::unexpected(result.error());
  return deliver(*result, options);
}

}  // namespace

std::uint64_t memory_limit_of(const ValidateOptions& options) {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  return options.memory_limit.value_or(pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 2);
}

int deliver(const ValidationResult& result, const ValidateOptions& options) {
  std::string text;
  if (options.format == "json") {
    text = validator::render_json(result);
  } else if (options.format == "html") {
    text = validator::render_html(result);
  } else {
    const bool color =
        options.output_file ? options.check.color == Color::Always : use_color(options.check.color, STDOUT_FILENO);
    text = validator::render_text(result, color);
  }
  if (!options.output_file) {
    if (!print(text)) return exit_error;
  } else if (auto written = write_atomically(*options.output_file, text); !written) {
    print_error(written.error());
    return exit_error;
  }
  return validator::exit_status_of(result);
}

int interruptible(const std::function<Result<int>()>& command) {
  return validator::supervised([&] {
    int status = exit_error;
    {
      const validator::Interruptions interruptions;
      auto done = command();
      if (done) {
        status = *done;
      } else if (done.error().kind != ErrorKind::Interrupted) {
        print_error(done.error());
      }
    }
    // Everything is put away: end as the signal would have ended this process.
    if (const int signal = validator::Interruptions::signal(); signal != 0) std::raise(signal);
    return status;
  });
}

int validate(const ValidateOptions& options, const std::string& working_directory) {
  return interruptible([&] { return run(options, working_directory); });
}

}  // namespace fullgraph::cli
