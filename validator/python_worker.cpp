#include "validator/python_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "validator/json.h"
#include "validator/process.h"

namespace fullgraph::validator {
namespace {

using Json = nlohmann::json;

struct EmbeddedFile {
  const char* name;
  const char* text;
};
constexpr EmbeddedFile probe_files[] = {
#include "probe_files.inc"
};

constexpr std::size_t most_output = 64 << 10;  // kept of what a worker prints
constexpr std::size_t shown_output = 4 << 10;  // in a failure
constexpr unsigned most_starts = 64;           // of workers for one side

std::string text_at(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int number_at(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number_integer() ? found->get<int>() : 0;
}

LinesByFile lines_of(const Json& json, const char* name) {
  LinesByFile out;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_object()) return out;
  for (const auto& [file, spans] : found->items()) {
    for (const Json& span : spans) {
      if (span.is_array() && span.size() == 2 && span[0].is_number_unsigned() && span[1].is_number_unsigned())
        out[file].emplace_back(span[0].get<unsigned>(), span[1].get<unsigned>());
    }
  }
  return out;
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

Failure failure_of_end(const Finished& end, const PythonPlan& plan) {
  switch (end.end) {
    case End::TimedOut:
      return {
          FailureKind::TimedOut, "",
          fmt::format("did not end within {:.3g} s, and was killed (--timeout)", double(plan.timeout.count()) / 1000),
          "", ""};
    case End::OutOfMemory:
      return {FailureKind::OutOfMemory, "",
              fmt::format("held more than {} MiB of memory, and was killed (--memory-limit)",
                          plan.memory_limit.value_or(0) >> 20),
              "", ""};
    case End::Signalled:
      return {FailureKind::Killed, "", "the process was killed by " + signal_name(end.status), "", ""};
    case End::Exited:
      break;
  }
  return {FailureKind::Exited, "",
          fmt::format("the process ended itself with status {} and without a result", end.status), "", ""};
}

// All runs of one side, over as many workers as it takes.
class Measuring {
 public:
  Measuring(const PythonCase& one, const PythonSide& side, const PythonPlan& plan, const TemporaryFolder& folder)
      : case_(one), side_(side), plan_(plan), folder_(folder) {
    for (const std::string& mode : one.modes) {
      for (const std::string& kind : one.checkpointing) {
        // Without gradients a checkpoint does nothing.
        if (mode != "train" && kind != "none") continue;
        out_.runs.push_back({mode, kind, {}, {}, {}, {}});
      }
    }
    known_.resize(out_.runs.size());
  }

  Result<MeasuredSide> all() {
    for (const EmbeddedFile& file : probe_files) {
      if (auto done = folder_.write(std::string("probe/") + file.name, file.text); !done)
        return std::unexpected(done.error());
    }
    for (unsigned start = 0; start < most_starts && !out_.failure; ++start) {
      const std::vector<unsigned> wanted = next();
      if (wanted.empty()) break;
      if (auto done = work(wanted); !done) return std::unexpected(done.error());
    }
    return std::move(out_);
  }

 private:
  // The runs for the next worker: under several processes they come one by one.
  std::vector<unsigned> next() const {
    std::vector<unsigned> wanted;
    for (unsigned i = 0; i < known_.size(); ++i) {
      if (!known_[i]) wanted.push_back(i);
    }
    if (is_distributed() && wanted.size() > 1) wanted.resize(1);
    return wanted;
  }

  [[nodiscard]] bool is_distributed() const { return case_.processes > 1; }

  Result<void> work(const std::vector<unsigned>& wanted) {
    ++workers_;
    result_file_ = fmt::format("{}/{}-{}.jsonl", folder_.path(), side_.name, workers_);
    current_.reset();
    const std::string request = fmt::format("{}-{}.json", side_.name, workers_);
    if (auto done = folder_.write(request, request_for(wanted)); !done) return done;
    std::error_code ignored;
    std::filesystem::create_directories(folder_.path() + "/tmp", ignored);
    auto finished = run(command_for(folder_.path() + "/" + request));
    if (!finished) return std::unexpected(finished.error());
    output_ = finished->output.substr(finished->output.size() - std::min(finished->output.size(), shown_output));
    read_results();
    if (!out_.failure) settle(wanted, *finished);
    return {};
  }

  std::string request_for(const std::vector<unsigned>& wanted) const {
    Json runs = Json::array();
    for (const MeasuredRun& one : out_.runs) runs.push_back({{"mode", one.mode}, {"checkpointing", one.checkpointing}});
    const Json config = Json::parse(case_.config, nullptr, false);
    const Json request = {{"name", case_.name},
                          {"entry", case_.entry},
                          {"transformers", case_.transformers},
                          {"class", case_.class_name},
                          {"config", config.is_object() ? config : Json::object()},
                          {"compile", case_.compile},
                          {"side", side_.name},
                          {"path", side_.path},
                          {"sources", side_.sources},
                          {"replaced", side_.replaced},
                          {"runs", runs},
                          {"wanted", wanted},
                          {"device", plan_.device},
                          {"backend", plan_.backend},
                          {"repetitions", is_distributed() ? 0 : plan_.repetitions},
                          {"result", result_file_},
                          {"tensors", folder_.path()}};
    return request.dump(2, ' ', false, Json::error_handler_t::replace);
  }

  Command command_for(const std::string& request) const {
    Command command;
    command.arguments = {plan_.interpreter};
    const std::string probe = folder_.path() + "/probe";
    if (is_distributed()) {
      command.arguments.insert(command.arguments.end(),
                               {"-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
                                std::to_string(case_.processes), probe + "/__main__.py", request});
    } else {
      command.arguments.insert(command.arguments.end(), {probe, request});
    }
    command.directory = plan_.directory;
    // Nothing is written beside the user's sources, and what libraries cache goes away with the folder.
    command.set = {{"PYTHONDONTWRITEBYTECODE", "1"},
                   {"PYTHONHASHSEED", "0"},
                   {"PYTHONUNBUFFERED", "1"},
                   {"OMP_NUM_THREADS", "1"},
                   {"TMPDIR", folder_.path() + "/tmp"},
                   {"TORCHINDUCTOR_CACHE_DIR", folder_.path() + "/tmp/inductor"},
                   {"FULLGRAPH_SHARED_FOLDER", folder_.path()}};
    command.unset = {"TORCH_LOGS", "RANK", "WORLD_SIZE", "LOCAL_RANK"};
    command.most_output = most_output;
    command.contained = true;
    command.timeout = plan_.timeout;
    command.progress_file = result_file_;
    command.memory_limit = plan_.memory_limit;
    return command;
  }

  void read_results() {
    const std::string text = TemporaryFolder::read(result_file_);
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      if (end == std::string_view::npos) break;  // cut off: the worker was killed
      const Json line = Json::parse(rest.substr(0, end), nullptr, false);
      rest.remove_prefix(end + 1);
      if (line.is_object()) take(line);
    }
  }

  void take(const Json& line) {
    const std::string kind = text_at(line, "kind");
    if (kind == "environment") {
      out_.torch = text_at(line, "torch");
      out_.python = text_at(line, "python");
      out_.device = text_at(line, "device");
      if (line.contains("device") && line["device"].is_null()) skip_all("there is no GPU (--device cuda)");
    } else if (kind == "failure") {
      const auto side =
          side_of(Json{{"failure", line.value("failure", Json::object())}}.dump(), "the worker's failure");
      out_.failure = side && side->failure ? *side->failure : unreadable();
      add_output(*out_.failure);
    } else if (const auto found = line.find("run"); found != line.end() && found->is_number_unsigned()) {
      const auto number = found->get<unsigned>();
      if (number < known_.size()) take(number, kind, line);
    }
  }

  void take(unsigned number, const std::string& kind, const Json& line) {
    MeasuredRun& one = out_.runs[number];
    if (kind == "stage") {
      current_ = number;
      stage_ = text_at(line, "stage");
    } else if (kind == "run") {
      take_run(one, line);
      // Under several processes each may tell why it failed; the first to do so is the cause.
      known_[number] = true;
      current_.reset();
    } else if (kind == "ended" && !known_[number]) {
      Finished end;
      end.end = line.contains("signal") ? End::Signalled : End::Exited;
      end.status = number_at(line, line.contains("signal") ? "signal" : "status");
      fail(number, failure_of_end(end, plan_));
    }
  }

  static Failure unreadable() {
    return {FailureKind::NotStarted, "", "what the worker wrote of it cannot be read", "", ""};
  }

  // Of what was raised the worker gives the traceback; of an end without a word what was printed last may tell.
  void add_output(Failure& failure) const {
    if (failure.output.empty() && failure.kind != FailureKind::BadInput) failure.output = output_;
  }

  void take_run(MeasuredRun& one, const Json& line) {
    if (one.side.failure) return;
    auto side = side_of(line.value("side", Json::object()).dump(), "the worker's result");
    if (!side) {
      one.side.failure = unreadable();
      return;
    }
    one.side = std::move(*side);
    if (one.side.failure) add_output(*one.side.failure);
    if (const auto change = line.find("change"); change != line.end() && change->is_object()) {
      if (auto comparison = comparison_of(change->dump(), "the worker's result")) one.change = std::move(*comparison);
    }
    one.executed = lines_of(line, "executed");
    one.traced = lines_of(line, "traced");
  }

  void skip_all(const std::string& why) {
    for (unsigned i = 0; i < known_.size(); ++i) {
      out_.runs[i].side.skipped = why;
      known_[i] = true;
    }
  }

  void fail(unsigned number, Failure failure) {
    failure.stage = current_ == number ? stage_ : "";
    failure.output = output_;
    out_.runs[number].side.failure = std::move(failure);
    known_[number] = true;
  }

  // The worker is gone: what became of the runs that it told nothing of?
  void settle(const std::vector<unsigned>& wanted, const Finished& end) {
    if (current_ && !known_[*current_]) return fail(*current_, failure_of_end(end, plan_));
    const bool any = std::ranges::any_of(wanted, [&](unsigned i) { return known_[i]; });
    if (any) return;  // it got somewhere: the next one goes on from there
    // It did not even begin, and the next one would not, either.
    out_.failure = failure_of_end(end, plan_);
    out_.failure->stage = "import";
    out_.failure->output = output_;
    if (out_.torch.empty() && end.end == End::Exited && end.status != 0) {
      out_.failure->kind = FailureKind::NotStarted;
      out_.failure->message = "the worker could not start in " + plan_.interpreter + ": it needs torch (--python)";
    }
  }

  const PythonCase& case_;
  const PythonSide& side_;
  const PythonPlan& plan_;
  const TemporaryFolder& folder_;
  MeasuredSide out_;
  std::vector<bool> known_;  // by run
  unsigned workers_ = 0;
  std::string result_file_, output_, stage_;
  std::optional<unsigned> current_;  // the run that is being measured
};

}  // namespace

Result<MeasuredSide> measure(const PythonCase& one, const PythonSide& side, const PythonPlan& plan,
                             const TemporaryFolder& folder) {
  return Measuring(one, side, plan, folder).all();
}

}  // namespace fullgraph::validator
