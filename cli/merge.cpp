#include "cli/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "analyzer/python/parse.h"
#include "cli/commands.h"
#include "cli/deliver.h"
#include "cli/discovery.h"
#include "cli/files.h"
#include "cli/invalid_source.h"
#include "reports/read_json.h"

namespace fullgraph::cli {
namespace {

Error usage(std::string message) {
  return {ErrorKind::Usage, std::move(message), {}};
}

// Every part is there, and none twice. Reports of whole runs are parts that need no others.
Result<void> are_complete(const std::vector<std::pair<unsigned, unsigned>>& shards) {
  std::set<std::pair<unsigned, unsigned>> seen;
  for (const auto& [number, of] : shards) {
    if (of != shards.front().second)
      return std::unexpected(usage(fmt::format("parts of {} and of {} are of two runs", shards.front().second, of)));
    if (!seen.emplace(number, of).second)
      return std::unexpected(usage(fmt::format("part {}/{} is there twice", number, of)));
  }
  for (unsigned number = 1; !shards.empty() && number <= shards.front().second; ++number) {
    if (!seen.contains({number, shards.front().second}))
      return std::unexpected(usage(fmt::format("part {}/{} is missing", number, shards.front().second)));
  }
  return {};
}

void add(reports::Report& out, reports::Report part) {
  std::ranges::move(part.findings, std::back_inserter(out.findings));
  for (Error& error : part.errors) {
    const auto same = [&](const Error& other) {
      return other.message == error.message && other.where.has_value() == error.where.has_value() &&
             (!error.where || std::tie(other.where->file, other.where->line, other.where->column) ==
                                  std::tie(error.where->file, error.where->line, error.where->column));
    };
    if (std::ranges::none_of(out.errors, same)) out.errors.push_back(std::move(error));
  }
  out.files += part.files;
  out.roots = std::max(out.roots, part.roots);  // each part traces all of them
  out.suppressed += part.suppressed;
  out.baselined += part.baselined;
}

Result<reports::Report> merged(const std::vector<std::string>& files, const std::string& working_directory) {
  const reports::SourceReader read = [&](const std::string& shown) -> std::shared_ptr<const ir::SourceFile> {
    const std::string path = absolute_path(shown, working_directory);
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return nullptr;
    if (auto source = python::read_source(path, shown)) return *source;
    const auto bytes = read_file(path);
    if (!bytes) return nullptr;
    return std::make_shared<const ir::SourceFile>(shown, replace_invalid(*bytes));
  };
  std::vector<reports::Report> parts;
  std::vector<std::pair<unsigned, unsigned>> shards;
  for (const std::string& file : files) {
    const auto text = read_file(absolute_path(file, working_directory));
    if (!text) return std::unexpected(text.error());
    auto part = reports::read_json(*text, file, read);
    if (!part) return std::unexpected(part.error());
    if (part->shard) shards.push_back(*part->shard);
    parts.push_back(std::move(*part));
  }
  if (auto complete = are_complete(shards); !complete) return std::unexpected(complete.error());
  std::ranges::stable_sort(parts, {}, &reports::Report::shard);
  reports::Report out;
  out.version = parts.front().version;
  out.torch_version = parts.front().torch_version;
  out.root = working_directory;
  for (reports::Report& part : parts) {
    if (part.version != out.version || part.torch_version != out.torch_version) {
      return std::unexpected(usage("the reports are of several versions of fullgraph or of PyTorch"));
    }
    add(out, std::move(part));
  }
  std::ranges::stable_sort(out.findings, {}, [](const Diagnostic& finding) {
    const auto& source = finding.place.source;
    return std::make_tuple(source == nullptr ? std::string_view() : std::string_view(source->path()),
                           finding.place.span.begin, std::string_view(finding.code));
  });
  return out;
}

}  // namespace

int merge(const std::vector<std::string>& files, const CheckOptions& options, const std::string& working_directory) {
  const auto report = merged(files, working_directory);
  if (!report) {
    print_error(report.error());
    return exit_error;
  }
  const std::string text = render(*report, options, options.flags);
  if (auto done = deliver(text, options); !done) {
    print_error(done.error());
    return exit_error;
  }
  for (const Error& error : report->errors) print_error(error);
  if (!report->errors.empty()) return exit_error;
  return options.exit_zero || !fails(*report) ? exit_clean : exit_findings;
}

}  // namespace fullgraph::cli
