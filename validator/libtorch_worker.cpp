#include "validator/libtorch_worker.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "validator/process.h"
#include "validator/worker_program.h"

namespace fullgraph::validator {
namespace {

using nlohmann::json;

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  const std::size_t end = text.rfind('\n');
  return end == std::string::npos ? text : text.substr(end + 1);
}

}  // namespace

Result<LibtorchWorker> LibtorchWorker::find() {
  auto path =
      find_worker("fullgraph-libtorch", "FULLGRAPH_LIBTORCH",
                  "archives and C++ sources are run by `fullgraph-libtorch`, which is neither beside fullgraph "
                  "nor in PATH; build fullgraph with libtorch (cmake -DCMAKE_PREFIX_PATH=\"$(python -c 'import "
                  "torch; print(torch.utils.cmake_prefix_path)')\"), or name the program in FULLGRAPH_LIBTORCH");
  if (!path) return std::unexpected(path.error());
  return LibtorchWorker(*std::move(path));
}

std::expected<json, Failure> LibtorchWorker::ask(const std::string& verb, json request, const std::string& name,
                                                 const TemporaryFolder& folder, const Limits& limits) const {
  const std::string base = folder.path() + "/" + name;
  const std::string result_file = base + ".result";
  const std::string progress_file = base + ".progress";
  request["progress"] = progress_file;
  const auto not_started = [](const std::string& message) {
    return std::unexpected(
        Failure{.kind = FailureKind::NotStarted, .stage = "", .message = message, .where = "", .output = ""});
  };
  if (auto written = folder.write(name + ".request", request.dump(-1, ' ', false, json::error_handler_t::replace));
      !written)
    return not_started(written.error().message);

  Command command;
  command.arguments = {path_, verb, base + ".request", result_file};
  command.directory = folder.path();  // what the model leaves there goes away with the folder
  command.set = {{"TMPDIR", folder.path()}};
  command.contained = true;
  command.most_output = std::size_t{64} << 10;
  command.timeout = limits.timeout;
  command.memory_limit = limits.memory;
  command.progress_file = progress_file;
  const auto finished = run(command);
  if (!finished) return not_started(finished.error().message);
  if (finished->end == End::Exited && finished->status == 0) {
    json result = json::parse(TemporaryFolder::read(result_file), nullptr, /*allow_exceptions=*/false);
    if (result.is_object() && result.contains("status")) return result;
  }
  return std::unexpected(failure_of(*finished, last_line(TemporaryFolder::read(progress_file)), limits));
}

Failure failure_of(const Finished& finished, const std::string& stage, const Limits& limits) {
  Failure out;
  out.stage = stage;
  out.output = finished.output;
  switch (finished.end) {
    case End::TimedOut:
      out.kind = FailureKind::TimedOut;
      out.message = fmt::format("took longer than {} seconds and was ended; --timeout gives it more",
                                std::chrono::duration_cast<std::chrono::seconds>(limits.timeout).count());
      break;
    case End::OutOfMemory:
      out.kind = FailureKind::OutOfMemory;
      out.message = fmt::format("used more than {} MiB and was ended; --memory-limit gives it more",
                                limits.memory.value_or(0) >> 20);
      break;
    case End::Signalled:
      out.kind = FailureKind::Killed;
      out.message = fmt::format("ended by signal {} ({})", finished.status, strsignal(finished.status));
      break;
    case End::Exited:
      out.kind = FailureKind::Exited;
      out.message = fmt::format("ended itself with status {}, without a result", finished.status);
      break;
  }
  return out;
}

}  // namespace fullgraph::validator
