#include "cli/verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/statement_lines.h"
#include "reports/position.h"
#include "reports/report.h"
#include "rules/rule.h"

namespace fullgraph::cli {
namespace {

using validator::Equality;
using validator::FindingVerdict;
using validator::MeasuredRun;
using validator::Verdict;

struct Lines {
  std::string path;  // on the disk
  unsigned first = 0, last = 0;
};

Lines statement_at(const Place& place, const Witnesses& witnesses) {
  const StatementLines lines = statement_lines(place);
  return {witnesses.path_of_finding(std::string(reports::position_of(place).file)), lines.first, lines.last};
}

bool meets(const Lines& lines, unsigned first, unsigned last) {
  return first <= lines.last && last >= lines.first;
}

bool in(const validator::LinesByFile& files, const Lines& lines, const Witnesses& witnesses) {
  return std::ranges::any_of(files, [&](const auto& entry) {
    return witnesses.path_in_run(entry.first) == lines.path &&
           std::ranges::any_of(entry.second, [&](const auto& span) { return meets(lines, span.first, span.second); });
  });
}

std::vector<std::string> breaks_at(const MeasuredRun& run, const Lines& lines, const Witnesses& witnesses) {
  std::vector<std::string> ids;
  if (!run.side.capture) return ids;
  for (const validator::GraphBreak& one : run.side.capture->breaks) {
    if (witnesses.path_in_run(one.file) == lines.path && meets(lines, one.line, one.line))
      ids.push_back(one.id.empty() ? one.type : one.id);
  }
  return ids;
}

std::string title(const MeasuredRun& run) {
  validator::Run named;
  named.mode = run.mode;
  named.checkpointing = run.checkpointing;
  return validator::title_of(named);
}

std::string joined(std::vector<std::string> names) {
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// Does the condition hold in this run? Nothing: that cannot be seen from outside.
std::optional<bool> holds(std::string_view condition, const MeasuredRun& run) {
  const bool trains = run.mode.starts_with("train");
  bool unknown = false;
  while (!condition.empty()) {
    const std::size_t end = std::min(condition.find(" and "), condition.size());
    const std::string_view term = condition.substr(0, end);
    condition.remove_prefix(std::min(condition.size(), end + 5));
    if (term == "training" || term == "not training") {
      if ((term == "training") != trains) return false;
    } else {
      unknown = true;
    }
  }
  if (unknown) return std::nullopt;
  return true;
}

class Judge {
 public:
  Judge(const Diagnostic& finding, const Witnesses& witnesses, FindingVerdict& out)
      : finding_(finding), witnesses_(witnesses), out_(out), statement_(statement_at(finding.place, witnesses)) {}

  void judge() {
    if (finding_.gb_id.empty()) return hazard();
    // A hook breaks where its module is called, and is found where it is registered: both are places of the finding.
    std::vector<Lines> places = {statement_};
    for (const Related& related : finding_.related) places.push_back(statement_at(related.place, witnesses_));
    std::vector<std::string> ids;
    for (const MeasuredRun& run : witnesses_.runs) {
      std::vector<std::string> here;
      for (const Lines& place : places) std::ranges::move(breaks_at(run, place, witnesses_), std::back_inserter(here));
      if (here.empty()) continue;
      out_.runs.push_back(title(run));
      std::ranges::move(here, std::back_inserter(ids));
    }
    if (!ids.empty()) return say(Verdict::Confirmed, "Dynamo breaks there: " + joined(std::move(ids)));
    not_seen();
  }

 private:
  void say(Verdict verdict, std::string why) {
    out_.verdict = verdict;
    out_.why = std::move(why);
  }

  [[nodiscard]] bool executed(const MeasuredRun& run) const { return in(run.executed, statement_, witnesses_); }
  [[nodiscard]] bool traced(const MeasuredRun& run) const { return in(run.traced, statement_, witnesses_); }

  void not_seen() {
    std::vector<std::string> clean, perhaps;
    bool ran = false, outside = false;
    for (const MeasuredRun& run : witnesses_.runs) {
      if (!executed(run)) continue;
      ran = true;
      if (!traced(run)) {
        outside = true;
        continue;
      }
      const auto condition = holds(finding_.condition, run);
      if (condition == true) clean.push_back(title(run));
      if (!condition) perhaps.push_back(title(run));
    }
    if (!clean.empty()) {
      out_.runs = clean;
      return say(Verdict::Refuted, "Dynamo followed it without a break");
    }
    if (!perhaps.empty()) {
      out_.runs = perhaps;
      return say(Verdict::NotReached, "it ran without a break; whether `" + finding_.condition + "` held is not known");
    }
    say(Verdict::NotReached, outside ? "it ran, but not under Dynamo"
                             : ran   ? "it ran, but not under `" + finding_.condition + "`"
                                     : "no run executed it");
  }

  // A hazard shows in what training gets, where that is measured.
  void hazard() {
    if (finding_.code == "FG201") return hooks();
    if (finding_.code == "FG304") return policy();
    if (finding_.code == "FG303") return lost_gradients();
    if (finding_.code == "FG504") return divergence();
    if (finding_.code == "FG203") {
      return counted(&validator::Side::registered, "lost", "the parameter with the hook is no longer the model's",
                     "the hook is on a parameter of the model");
    }
    if (finding_.code == "FG301" || finding_.code == "FG302") {
      return counted(&validator::Side::checkpoints, "reentrant", "the checkpoint is a reentrant one",
                     "the checkpoint is not a reentrant one");
    }
    say(Verdict::NotChecked, "nothing that is measured shows it");
  }

  // Found where it is registered: Dynamo breaks wherever a module is called that carries it.
  void hooks() {
    std::vector<std::string> ids;
    for (const MeasuredRun& run : witnesses_.runs) {
      if (!run.side.capture || !std::ranges::any_of(run.side.hooks, [&](const auto& hook) { return is_here(hook); }))
        continue;
      const std::size_t before = ids.size();
      for (const validator::GraphBreak& one : run.side.capture->breaks) {
        if (rule_names(one.id)) ids.push_back(one.id);
      }
      if (ids.size() != before) out_.runs.push_back(title(run));
    }
    if (ids.empty()) return say(Verdict::NotReached, "no run had a break at a module with a hook from there");
    say(Verdict::Confirmed, "modules with a hook from there break the graph: " + joined(std::move(ids)));
  }

  // What runs counted at the finding's statement: of the kind that it is about, or of another one.
  void counted(std::vector<validator::HookCount> validator::Side::*list, std::string_view kind, const char* seen,
               const char* not_seen) {
    std::vector<std::string> of_kind, others;
    for (const MeasuredRun& run : witnesses_.runs) {
      for (const validator::HookCount& one : run.side.*list) {
        if (at_statement(one)) (one.kind == kind ? of_kind : others).push_back(title(run));
      }
    }
    const bool any = !of_kind.empty() || !others.empty();
    out_.runs = of_kind.empty() ? others : of_kind;
    out_.runs.erase(std::ranges::unique(out_.runs).begin(), out_.runs.end());
    say(!of_kind.empty() ? Verdict::Confirmed
        : any            ? Verdict::Refuted
                         : Verdict::NotReached,
        !of_kind.empty() ? seen
        : any            ? not_seen
                         : "no run came there");
  }

  [[nodiscard]] bool at_statement(const validator::HookCount& one) const {
    const std::size_t colon = std::min(one.place.rfind(':'), one.place.size());
    unsigned line = 0;
    std::from_chars(one.place.data() + std::min(colon + 1, one.place.size()), one.place.data() + one.place.size(),
                    line);
    return witnesses_.path_in_run(one.place.substr(0, colon)) == statement_.path && meets(statement_, line, line);
  }

  // Eager and compiled code differ in what they train. That they do not in one run proves little: what the guard keeps
  // out of compiled code may not matter to it.
  void divergence() {
    bool ran = false;
    for (const MeasuredRun& run : witnesses_.runs) {
      if (!executed(run) || !run.side.compiled) continue;
      ran = true;
      const bool differs = std::ranges::any_of(
          run.side.compiled->tensors, [](const auto& one) { return one.gradient && one.equality != Equality::Equal; });
      if (differs) out_.runs.push_back(title(run));
    }
    if (!out_.runs.empty()) return say(Verdict::Confirmed, "eager and compiled code give different gradients");
    say(Verdict::NotReached,
        ran ? "it ran, and eager and compiled code give the same gradients" : "no run executed it");
  }

  [[nodiscard]] bool is_here(const validator::HookCount& hook) const {
    return hook.kind.starts_with("backward") &&
           witnesses_.path_in_run(hook.place.substr(0, hook.place.rfind(':'))) == statement_.path;
  }

  // Is the id one of those that the finding's rule is about?
  [[nodiscard]] bool rule_names(std::string_view id) const {
    const rules::Rule* rule = rules::find_rule(finding_.code);
    return rule != nullptr && !id.empty() && rule->info.gb_ids.find(id) != std::string_view::npos;
  }

  void policy() {
    bool ran = false;
    std::vector<std::string> operators;
    for (const MeasuredRun& run : witnesses_.runs) {
      if (!run.side.capture) continue;
      ran |= executed(run);
      const auto& missed = run.side.capture->policy_bypassed;
      if (missed.empty() && run.side.capture->never_called == 0) continue;
      out_.runs.push_back(title(run));
      operators.insert(operators.end(), missed.begin(), missed.end());
    }
    if (!out_.runs.empty()) {
      return say(Verdict::Confirmed,
                 operators.empty() ? "compiled graphs are never called"
                                   : "compiled code does not ask the policy about " + joined(std::move(operators)));
    }
    if (!ran) return say(Verdict::NotReached, "no run executed it");
    if (witnesses_.backend == "eager")
      return say(Verdict::NotChecked, "the backend `eager` always asks the policy; try --backend inductor");
    say(Verdict::Refuted, "compiled code asks the policy about the same operators");
  }

  void lost_gradients() {
    bool ran = false;
    for (const MeasuredRun& run : witnesses_.runs) {
      if (!executed(run) || !run.side.compiled) continue;
      ran = true;
      const bool appeared = std::ranges::any_of(run.side.compiled->tensors, [](const auto& one) {
        return one.gradient && one.equality == Equality::Appeared;
      });
      if (appeared) out_.runs.push_back(title(run));
    }
    if (!out_.runs.empty()) return say(Verdict::Confirmed, "gradients are there when compiled, and lost in eager mode");
    say(ran ? Verdict::Refuted : Verdict::NotReached,
        ran ? "eager and compiled code give the same gradients" : "no run executed it");
  }

  const Diagnostic& finding_;
  const Witnesses& witnesses_;
  FindingVerdict& out_;
  Lines statement_;
};

}  // namespace

FindingVerdict verdict_on(const Diagnostic& finding, const Witnesses& witnesses, bool after) {
  const reports::Position position = reports::position_of(finding.place);
  FindingVerdict out;
  out.after = after;
  out.code = finding.code;
  out.name = finding.name;
  out.severity = std::string(reports::severity_name(finding.severity));
  out.message = finding.message;
  out.file = std::string(position.file);
  out.line = position.line;
  out.function = finding.function;
  out.condition = finding.condition;
  out.gb_id = finding.gb_id;
  Judge(finding, witnesses, out).judge();
  return out;
}

}  // namespace fullgraph::cli
