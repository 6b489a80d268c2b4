#include "cli/cxx_worker.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "validator/process.h"
#include "validator/worker_program.h"

namespace fullgraph::cli {
namespace {

using nlohmann::json;

// Where precompiled headers are kept; empty where there is no home.
std::string cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return std::string(cache) + "/fullgraph";
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? std::string() : std::string(home) + "/.cache/fullgraph";
}

// [file, line, column, length], from the entry `at` on
CxxPlace place_of(const json& row, std::size_t at) {
  return {row.at(at).get<std::size_t>(), row.at(at + 1).get<std::uint32_t>(), row.at(at + 2).get<std::uint32_t>(),
          row.at(at + 3).get<std::uint32_t>()};
}

// The worker is of this program's own version, so that anything else in the document is a mistake.
CxxDocument document_of(const json& value) {
  CxxDocument out;
  out.text = value.at("text").get<std::string>();
  out.files = value.at("files").get<std::vector<std::string>>();
  for (const json& row : value.at("spans"))
    out.spans.push_back(
        {row.at(0).get<std::uint32_t>(), row.at(1).get<std::uint32_t>(), place_of(row, 2), row.at(6).get<bool>()});
  for (const json& one : value.at("registrations"))
    out.registrations.push_back({one.at("kind").get<std::string>(), one.at("name").get<std::string>(),
                                 one.at("key").get<std::string>(), place_of(one.at("where"), 0)});
  for (const json& error : value.at("errors"))
    out.errors.push_back({place_of(error.at("where"), 0), error.at("message").get<std::string>()});
  out.errors_elsewhere = value.at("errors_elsewhere").get<std::size_t>();
  out.found_libtorch = value.at("libtorch").get<bool>();
  out.from_database = value.at("compile_commands").get<bool>();
  return out;
}

std::string ending(const validator::Finished& finished) {
  if (finished.end != validator::End::Signalled)
    return fmt::format("ended itself with status {}, without a result", finished.status);
  if (finished.status == SIGXCPU || finished.status == SIGKILL) return "took too long, or ran out of memory";
  return fmt::format("was ended by signal {} ({})", finished.status, strsignal(finished.status));
}

}  // namespace

Result<CxxWorker> CxxWorker::find(CxxCompiler compiler) {
  auto program = validator::find_worker(
      "fullgraph-clang", "FULLGRAPH_CLANG",
      "C++ sources are read by `fullgraph-clang`, which is neither beside fullgraph nor in PATH; build fullgraph where "
      "LLVM and Clang 19 are (Debian: libclang-19-dev llvm-19-dev), or name the program in FULLGRAPH_CLANG");
  if (!program) return std::unexpected(program.error());
  return CxxWorker(*std::move(program), std::move(compiler));
}

Result<void> CxxWorker::replace(const CxxTexts& texts) {
  overlays_.clear();
  if (texts.empty()) return {};
  auto folder = validator::TemporaryFolder::make();
  if (!folder) return std::unexpected(folder.error());
  for (const auto& [path, text] : texts) {
    const std::string name = std::to_string(overlays_.size());
    if (auto written = folder->write(name, text); !written) return written;
    overlays_.emplace_back(path, folder->path() + "/" + name);
  }
  texts_.emplace(*std::move(folder));
  return {};
}

Result<CxxDocument> CxxWorker::read(const std::string& path) const {
  validator::Command command;
  command.arguments = {program_};
  const auto add = [&](const char* name, const std::string& value) {
    command.arguments.insert(command.arguments.end(), {name, value});
  };
  if (!compiler_.torch.empty()) add("--torch", compiler_.torch);
  if (!compiler_.database.empty()) add("-p", compiler_.database);
  for (const std::string& argument : compiler_.extra_arguments) add("--extra-arg", argument);
  if (const std::string cache = cache_folder(); !cache.empty()) add("--cache", cache);
  for (const auto& [replaced, file] : overlays_) {
    add("--overlay", replaced);
    command.arguments.push_back(file);
  }
  command.arguments.push_back(path);
  command.errors = validator::Stderr::Discarded;
  const auto finished = validator::run(command);
  if (!finished) return std::unexpected(finished.error());
  const json value = json::parse(finished->output, nullptr, /*allow_exceptions=*/false);
  if (finished->end == validator::End::Exited && finished->status == 0 && value.is_object() &&
      value.value("version", "") == FULLGRAPH_VERSION) {
    try {
      return document_of(value);
    } catch (const json::exception&) {  // told below
    }
  }
  return std::unexpected(Error{ErrorKind::Internal, "fullgraph-clang " + ending(*finished), {}});
}

}  // namespace fullgraph::cli
