// How programs are run and ended, and what is written of results. What is run here are shells: the tests of the command
// (tests/validator) run Python.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/prctl.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "validator/process.h"
#include "validator/process_tree.h"
#include "validator/report.h"
#include "validator/temporary_folder.h"

using namespace fullgraph;
using namespace fullgraph::validator;
using namespace std::chrono_literals;

namespace {

Command shell(const std::string& script) {
  Command command;
  command.arguments = {"/bin/sh", "-c", script};
  command.contained = true;
  command.timeout = 20s;
  return command;
}

Finished finished(const Command& command) {
  const auto done = run(command);
  REQUIRE(done);
  CHECK(children_of_this().empty());
  return *done;
}

}  // namespace

TEST_CASE("process: exit status, output of both kinds, any bytes") {
  const Finished done = finished(shell("printf 'a\\000\\377'; printf b >&2; exit 3"));
  CHECK(done.end == End::Exited);
  CHECK(done.status == 3);
  CHECK(done.output == std::string("a\0\377b", 4));
}

TEST_CASE("process: only the end of long output is kept") {
  Command command = shell("i=0; while [ $i -lt 5000 ]; do echo 0123456789; i=$((i+1)); done; echo end");
  command.most_output = 100;
  const Finished done = finished(command);
  CHECK(done.output.size() == 100);
  CHECK(done.output.ends_with("end\n"));
  CHECK(done.dropped == 5000 * 11 + 4 - 100);
}

TEST_CASE("process: environment and folder") {
  Command command = shell("echo $ADDED; echo ${GIT_DIR-unset}; pwd");
  setenv("GIT_DIR", "/nowhere", 1);
  command.set = {{"ADDED", "yes"}};
  command.unset = {"GIT_*"};
  command.directory = "/";
  CHECK(finished(command).output == "yes\nunset\n/\n");
  unsetenv("GIT_DIR");
}

TEST_CASE("process: what cannot be started is an error") {
  Command command;
  command.arguments = {"/nonexistent/program"};
  const auto done = run(command);
  REQUIRE(!done);
  CHECK(done.error().message.find("/nonexistent/program") != std::string::npos);
}

TEST_CASE("process: the time limit ends it and its children") {
  Command command = shell("sleep 100 & (sleep 101 & setsid sleep 102 &) ; wait");
  command.timeout = 200ms;
  const Finished done = finished(command);
  CHECK(done.end == End::TimedOut);
  CHECK(done.seconds < 5);
}

TEST_CASE("process: the time limit begins anew with each step") {
  auto folder = TemporaryFolder::make();
  REQUIRE(folder);
  Command command = shell("for i in 1 2 3 4; do sleep 0.3; echo step >> " + folder->path() + "/steps; done");
  command.timeout = 800ms;
  command.progress_file = folder->path() + "/steps";
  CHECK(finished(command).end == End::Exited);  // 1.2 seconds in all
  command.progress_file.clear();
  CHECK(finished(command).end == End::TimedOut);
}

TEST_CASE("process: what is left behind is killed, in whatever session, and its output is not waited for") {
  const Finished done = finished(shell("(setsid sh -c 'echo left; sleep 100' &) ; sleep 0.2; echo done"));
  CHECK(done.end == End::Exited);
  CHECK(done.status == 0);
  CHECK(done.seconds < 5);
  CHECK(done.output.find("done") != std::string::npos);
}

TEST_CASE("process: a signal is told") {
  const Finished done = finished(shell("kill -SEGV $$"));
  CHECK(done.end == End::Signalled);
  CHECK(done.status == SIGSEGV);
}

TEST_CASE("process: memory is limited for all processes together") {
  // Each holds 60 MB: a string that the shell keeps.
  const std::string hold = "x=$(head -c 60000000 /dev/zero | tr '\\0' x); sleep 20";
  Command command = shell("(" + hold + ") & (" + hold + ") & wait");
  command.memory_limit = 100'000'000;
  CHECK(finished(command).end == End::OutOfMemory);
  command.arguments[2] = "x=$(head -c 30000000 /dev/zero | tr '\\0' x); true";
  const Finished small = finished(command);
  CHECK(small.end == End::Exited);
}

TEST_CASE("process: a signal to this process ends what runs") {
  const Interruptions interruptions;
  std::thread later([] {
    std::this_thread::sleep_for(200ms);
    kill(getpid(), SIGTERM);
  });
  const auto done = run(shell("sleep 100 & wait"));
  later.join();
  REQUIRE(!done);
  CHECK(done.error().kind == ErrorKind::Interrupted);
  CHECK(Interruptions::signal() == SIGTERM);
  CHECK(children_of_this().empty());
}

TEST_CASE("temporary folder: goes away with whatever is in it") {
  std::string path;
  {
    auto folder = TemporaryFolder::make();
    REQUIRE(folder);
    path = folder->path();
    REQUIRE(folder->write("a/b/c.txt", "text"));
    std::filesystem::permissions(path + "/a/b", std::filesystem::perms::none);
    const TemporaryFolder moved = std::move(*folder);
    CHECK(std::filesystem::exists(path));
  }
  CHECK(!std::filesystem::exists(path));
}

namespace {

ValidationResult sample() {
  ValidationResult result;
  result.version = "0.1.0";
  result.torch = "2.13.0";
  result.after = "after --fix";
  Case one;
  one.name = "model";
  one.kind = CaseKind::Transformers;
  Run run;
  run.mode = "train";
  run.checkpointing = "reentrant";
  run.before.capture.emplace();
  run.before.capture->breaks.push_back({"GB0206", "type", "why", "partial", "a.py", 3, "forward", {}, 2});
  run.before.capture->fullgraph = false;
  run.before.gradients = {{"weight", 1.5}, {"bias", std::nullopt}};
  run.after.emplace();
  run.after->capture.emplace();
  run.after->eager_time = Duration{0.25, 0.125, 0.5, 7};
  run.after->peak_memory = std::uint64_t{1} << 40;
  run.change = Comparison{{{"grad weight", true, Equality::Lost, std::nullopt, std::nullopt}}, "", {"a hook"}};
  one.runs = {run};
  FindingVerdict finding;
  finding.code = "FG101";
  finding.verdict = Verdict::Confirmed;
  one.findings = {finding};
  result.cases = {one};
  return result;
}

}  // namespace

TEST_CASE("result: what is written can be read") {
  const std::string text = render_json(sample());
  const auto read = read_json(text, "r.json");
  REQUIRE(read);
  CHECK(render_json(*read) == text);
  CHECK(read->cases[0].runs[0].before.gradients[1].norm == std::nullopt);
  CHECK(read->cases[0].runs[0].after->peak_memory == std::uint64_t{1} << 40);
  CHECK(!read_json("{\"schema\": 2}", "r.json"));
  CHECK(!read_json("[]", "r.json"));
  const auto wrong = read_json("{\"schema\": 1, \"cases\": [{\"name\": 1}]}", "r.json");
  REQUIRE(!wrong);
  CHECK(wrong.error().message.find("name") != std::string::npos);
}

TEST_CASE("result: what a program printed can be any bytes") {
  ValidationResult result = sample();
  result.cases[0].failure = Failure{FailureKind::Killed, "eager", "killed by signal 9", "", "\xff\x1b[2J\n"};
  CHECK(read_json(render_json(result), "r.json"));
  CHECK(render_text(result, false).find('\x1b') == std::string::npos);
  CHECK(exit_status_of(result) == 2);
}

TEST_CASE("result: problems of a pair are what the change brought") {
  ValidationResult result = sample();
  Case& one = result.cases[0];
  CHECK(problems_of(one) ==
        std::vector<std::string>{
            "train, reentrant checkpoints: the change makes a difference: grad weight is lost; a hook"});
  CHECK(exit_status_of(result) == 1);
  one.runs[0].change.reset();
  CHECK(exit_status_of(result) == 0);
  // A break that was there before, on another line, is no new one; its finding is if it is confirmed again.
  one.runs[0].after->capture->breaks = one.runs[0].before.capture->breaks;
  one.runs[0].after->capture->breaks[0].line = 9;
  CHECK(exit_status_of(result) == 0);
  one.findings[0].after = true;
  CHECK(exit_status_of(result) == 1);
  one.findings.clear();
  one.runs[0].after->capture->breaks[0].function = "other";
  CHECK(exit_status_of(result) == 1);
  // Alone, every break is a problem.
  one.runs[0].after.reset();
  CHECK(problems_of(one) == std::vector<std::string>{"train, reentrant checkpoints: a graph break: a.py:3 GB0206"});
}
