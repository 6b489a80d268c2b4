#include "cli/deliver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/terminal.h"

namespace fullgraph::cli {

reports::Style style_for(const CheckOptions& options, const Settings& settings, bool to_stderr) {
  reports::Style style;
  const bool to_file = options.output_file.has_value();
  const int descriptor = to_stderr ? STDERR_FILENO : STDOUT_FILENO;
  style.color = to_file ? options.color == Color::Always : use_color(options.color, descriptor);
  style.hyperlinks = style.color && !to_file && is_terminal(descriptor);
  style.summary = options.quiet == 0;
  style.unsafe_fixes = !settings.unsafe_fixes   ? reports::UnsafeFixes::Hinted
                       : *settings.unsafe_fixes ? reports::UnsafeFixes::Made
                                                : reports::UnsafeFixes::Ignored;
  style.show_fixes = settings.show_fixes.value_or(false);
  return style;
}

std::string render(const reports::Report& report, const CheckOptions& options, const Settings& settings,
                   bool to_stderr) {
  const reports::Format format =
      reports::format_of(settings.output_format.value_or("full")).value_or(reports::Format::Full);
  return options.statistics ? reports::render_statistics(report, format)
                            : reports::render(report, format, style_for(options, settings, to_stderr));
}

Result<void> deliver(const std::string& text, const CheckOptions& options, bool to_stderr) {
  if (options.output_file) return write_atomically(*options.output_file, text);
  if (options.quiet >= 2 && !options.diff) return {};
  if (to_stderr) {
    fmt::print(stderr, "{}", text);
  } else if (!print(text)) {
    return std::unexpected(Error{ErrorKind::Io, "cannot write the report to stdout", {}});
  }
  return {};
}

bool fails(const reports::Report& report) {
  return std::ranges::any_of(report.findings, [](const Diagnostic& one) { return one.severity != Severity::Info; });
}

}  // namespace fullgraph::cli
