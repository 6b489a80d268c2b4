// Verdicts on findings, from runs that are written down here: what Dynamo itself does is looked at in tests/validator.
#include <doctest/doctest.h>

#include "analyzer/python/parse.h"
#include "cli/verdicts.h"

using namespace fullgraph;
using namespace fullgraph::cli;
using validator::MeasuredRun;
using validator::Verdict;

namespace {

constexpr std::string_view text =
    "def forward(self, x):\n"
    "    if self.training:\n"      // 2
    "        y = call(x,\n"        // 3
    "                 x.sum())\n"  // 4
    "    return y\n";

Diagnostic finding(std::string_view at, std::string condition = "", std::string gb_id = "GB0124") {
  auto source = python::make_source(std::string(text), "model.py");
  REQUIRE(source);
  const auto begin = static_cast<std::uint32_t>(text.find(at));
  Diagnostic out;
  out.code = "FG402";
  out.place = {*source, {begin, begin + static_cast<std::uint32_t>(at.size())}};
  out.condition = std::move(condition);
  out.gb_id = std::move(gb_id);
  return out;
}

MeasuredRun run(std::string mode, unsigned first, unsigned last, bool traced = true, unsigned break_line = 0) {
  MeasuredRun out;
  out.mode = std::move(mode);
  out.checkpointing = "none";
  out.executed["model.py"] = {{first, last}};
  if (traced) out.traced = out.executed;
  out.side.capture.emplace();
  if (break_line != 0) {
    validator::GraphBreak one;
    one.id = "GB0124";
    one.file = "model.py";
    one.line = break_line;
    out.side.capture->breaks.push_back(one);
  }
  return out;
}

Verdict verdict(const Diagnostic& finding, const std::vector<MeasuredRun>& runs) {
  const auto same = [](const std::string& name) { return "/project/" + name; };
  return verdict_on(finding, {runs, "eager", same, same}, false).verdict;
}

}  // namespace

TEST_CASE("verdicts: a break anywhere on the statement confirms") {
  // The finding is on line 4, and Dynamo names line 3.
  CHECK(verdict(finding("x.sum()"), {run("train", 1, 5, true, 3)}) == Verdict::Confirmed);
  // The header of a compound statement is not its body.
  CHECK(verdict(finding("self.training"), {run("train", 1, 5, true, 3)}) == Verdict::Refuted);
}

TEST_CASE("verdicts: what ran under Dynamo without a break is refuted") {
  CHECK(verdict(finding("x.sum()"), {run("train", 1, 5)}) == Verdict::Refuted);
  CHECK(verdict(finding("x.sum()"), {run("train", 1, 5), run("eval", 1, 5, true, 4)}) == Verdict::Confirmed);
}

TEST_CASE("verdicts: what did not run, or not under Dynamo, or not under its condition, is not reached") {
  CHECK(verdict(finding("x.sum()"), {run("eval", 1, 2)}) == Verdict::NotReached);
  CHECK(verdict(finding("x.sum()"), {run("train", 1, 5, false)}) == Verdict::NotReached);
  CHECK(verdict(finding("x.sum()", "training"), {run("eval", 1, 5)}) == Verdict::NotReached);
  CHECK(verdict(finding("x.sum()", "training"), {run("train", 1, 5)}) == Verdict::Refuted);
  // A value of the configuration cannot be seen from outside.
  CHECK(verdict(finding("x.sum()", "config.flag and training"), {run("train", 1, 5)}) == Verdict::NotReached);
}

TEST_CASE("verdicts: hazards are not checked unless something shows them") {
  CHECK(verdict(finding("x.sum()", "", ""), {run("train", 1, 5)}) == Verdict::NotChecked);
}
