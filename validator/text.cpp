// The report for people: per case a line for each run, what is wrong, and what became of the findings.
#include <fmt/format.h>

#include <algorithm>

#include "page/foreign_text.h"
#include "validator/report.h"

namespace fullgraph::validator {
namespace {

using page::printable;

struct Paint {
  std::string_view bad, good, dim, bold, reset;
  static Paint of(bool color) {
    if (!color) return {};
    return {"\x1b[1;31m", "\x1b[1;32m", "\x1b[2m", "\x1b[1m", "\x1b[0m"};
  }
};

// What a program printed, from its end.
std::string end_of(std::string_view output) {
  constexpr std::size_t most = 1200;
  const bool cut = output.size() > most;
  if (cut) output.remove_prefix(output.size() - most);
  std::string out = printable(output);
  while (out.ends_with('\n')) out.pop_back();
  return (cut ? "…" : "") + out;
}

// A message on one line.
std::string message_text(std::string_view message) {
  constexpr std::size_t most = 600;
  std::string out = printable(message.substr(0, most)) + (message.size() > most ? "…" : "");
  std::ranges::replace(out, '\n', ' ');
  return out;
}

std::string indented(std::string_view text, std::string_view with) {
  std::string out(with);
  for (const char c : text) {
    out += c;
    if (c == '\n') out += with;
  }
  return out;
}

std::string time_text(const Duration& time) {
  const double unit = time.median < 1 ? 1000 : 1;
  return fmt::format("{:.3g} {} ({:.3g} to {:.3g})", time.median * unit, unit == 1 ? "s" : "ms", time.low * unit,
                     time.high * unit);
}

std::string count(std::size_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

class Text {
 public:
  explicit Text(bool color) : paint_(Paint::of(color)) {}

  std::string all(const ValidationResult& result) {
    for (const Case& one : result.cases) add_case(result, one);
    for (const Error& error : result.errors) {
      const std::string place = error.where ? error.where->file + ": " : "";
      out_ += fmt::format("{}error{}: {}{}\n", paint_.bad, paint_.reset, place, error.message);
    }
    add_summary(result);
    return std::move(out_);
  }

 private:
  void add_case(const ValidationResult& result, const Case& one) {
    out_ += fmt::format("{}{}{}  {}", paint_.bold, one.name, paint_.reset, paint_.dim);
    if (!result.torch.empty()) out_ += fmt::format("torch {}, ", result.torch);
    out_ += one.device;
    if (one.processes > 1) out_ += fmt::format(", {} processes", one.processes);
    out_ += fmt::format("{}\n", paint_.reset);
    if (one.failure) add_failure("", *one.failure);
    for (const Run& run : one.runs) add_run(run);
    for (const FindingVerdict& finding : one.findings) add_finding(finding);
    for (const std::string& note : one.notes) out_ += fmt::format("  note: {}\n", note);
    const auto problems = problems_of(one);
    for (const std::string& problem : problems) out_ += fmt::format("  {}✗ {}{}\n", paint_.bad, problem, paint_.reset);
    if (problems.empty() && !one.runs.empty() && !has_failure(one) && !was_skipped(one))
      out_ += fmt::format("  {}✓ all is well{}\n", paint_.good, paint_.reset);
    out_ += '\n';
  }

  void add_run(const Run& run) {
    out_ += fmt::format("  {}{}{}\n", paint_.bold, title_of(run), paint_.reset);
    add_side(run.after ? "before" : "", run.before);
    if (run.after) add_side("after ", *run.after);
    if (run.change) out_ += fmt::format("    after against before: {}\n", in_words(*run.change));
  }

  void add_side(std::string_view name, const Side& side) {
    const std::string lead = fmt::format("    {}{}", name, name.empty() ? "" : "  ");
    if (side.failure) return add_failure(lead, *side.failure);
    if (!side.skipped.empty()) {
      out_ += fmt::format("{}skipped: {}\n", lead, side.skipped);
      return;
    }
    out_ += lead + summary_of(side) + "\n";
    const std::string below(lead.size(), ' ');
    if (side.capture) {
      for (const GraphBreak& one : side.capture->breaks) {
        out_ += fmt::format("{}{}break{} {}:{} in {}: {} {}\n", below, paint_.bad, paint_.reset, one.file, one.line,
                            one.function, one.id, one.type);
      }
      for (const std::string& place : side.capture->bypassed)
        out_ += fmt::format("{}compiled, but never called: {}\n", below, place);
    }
    if (side.compiled) out_ += fmt::format("{}compiled against eager: {}\n", below, in_words(*side.compiled));
    if (side.single_process)
      out_ += fmt::format("{}several processes against one: {}\n", below, in_words(*side.single_process));
    add_gradients(below, side);
    if (!side.hooks.empty()) {
      unsigned calls = 0;
      for (const HookCount& hook : side.hooks) calls += hook.calls;
      out_ += fmt::format("{}{} ran, {}\n", below, count(side.hooks.size(), "hook"), count(calls, "call"));
    }
    add_cost(below, side);
    for (const std::string& note : side.notes) out_ += fmt::format("{}{}\n", below, note);
  }

  static std::string summary_of(const Side& side) {
    if (!side.capture) return "ran";
    const Capture& capture = *side.capture;
    std::string out = count(capture.breaks.size(), "graph break") + ", " + count(capture.graphs, "graph");
    if (capture.fullgraph) out += *capture.fullgraph ? ", fullgraph=True works" : ", fullgraph=True fails";
    if (capture.recompiles != 0) out += ", " + count(capture.recompiles, "recompile");
    if (capture.never_called != 0)
      out += fmt::format(", {} never called", count(capture.never_called, "compiled graph"));
    return out;
  }

  void add_gradients(const std::string& below, const Side& side) {
    std::vector<std::string> missing;
    for (const Gradient& one : side.gradients) {
      if (!one.norm) missing.push_back(one.name);
    }
    if (missing.empty()) return;
    constexpr std::size_t most = 6;
    out_ += fmt::format("{}no gradient: ", below);
    for (std::size_t i = 0; i < std::min(most, missing.size()); ++i) out_ += (i == 0 ? "" : ", ") + missing[i];
    if (missing.size() > most) out_ += fmt::format(" and {} more", missing.size() - most);
    out_ += fmt::format(" (of {})\n", count(side.gradients.size(), "parameter"));
  }

  void add_cost(const std::string& below, const Side& side) {
    std::string line;
    if (side.eager_time) line += "eager " + time_text(*side.eager_time);
    if (side.compiled_time) line += (line.empty() ? "" : ", ") + ("compiled " + time_text(*side.compiled_time));
    if (side.peak_memory)
      line += (line.empty() ? "" : ", ") + fmt::format("peak memory {:.1f} MiB", double(*side.peak_memory) / (1 << 20));
    for (const auto& [how, kernels] :
         {std::pair{"eager", side.eager_kernels}, std::pair{"compiled", side.compiled_kernels}}) {
      if (kernels) line += (line.empty() ? "" : ", ") + fmt::format("{} {}", count(*kernels, "kernel"), how);
    }
    if (!line.empty()) out_ += fmt::format("{}{}{}{}\n", below, paint_.dim, line, paint_.reset);
  }

  static std::string in_words(const Comparison& comparison) {
    std::size_t outputs = 0, gradients = 0, wrong = 0;
    for (const Compared& one : comparison.tensors) {
      (one.gradient ? gradients : outputs) += 1;
      if (one.equality != Equality::Equal) ++wrong;
    }
    std::string out = count(outputs, "output") + " and " + count(gradients, "gradient");
    out += wrong == 0 ? ", all equal" : fmt::format(", {} not equal", wrong);
    for (const std::string& other : comparison.others) out += "; " + other;
    if (!comparison.note.empty()) out += "; " + comparison.note;
    return out;
  }

  void add_failure(const std::string& lead, const Failure& failure) {
    out_ += fmt::format("{}{}{}{}{}", lead.empty() ? "  " : lead, paint_.bad, name_of(failure.kind), paint_.reset,
                        failure.stage.empty() ? "" : " (" + failure.stage + ")");
    out_ += ": " + message_text(failure.message);
    if (!failure.where.empty()) out_ += " [" + failure.where + "]";
    out_ += '\n';
    // One worker may have failed several times.
    if (!failure.output.empty() && failure.output != last_output_)
      out_ += indented(end_of(failure.output), "      | ") + "\n";
    last_output_ = failure.output;
  }

  void add_finding(const FindingVerdict& finding) {
    out_ += fmt::format("  {}: {}:{} {} {}{}\n", name_of(finding.verdict), finding.file, finding.line, finding.code,
                        finding.name, finding.after ? " (after)" : "");
    if (!finding.why.empty()) out_ += fmt::format("      {}{}{}\n", paint_.dim, finding.why, paint_.reset);
  }

  void add_summary(const ValidationResult& result) {
    std::size_t problems = 0, failures = 0;
    for (const Case& one : result.cases) {
      problems += problems_of(one).size();
      failures += has_failure(one) ? 1 : 0;
    }
    out_ += count(result.cases.size(), "case");
    out_ += problems == 0 ? ", no problems" : ", " + count(problems, "problem");
    if (failures != 0) out_ += fmt::format(", {} could not be run to the end", count(failures, "case"));
    out_ += '\n';
  }

  Paint paint_;
  std::string out_, last_output_;
};

}  // namespace

std::string render_text(const ValidationResult& result, bool color) {
  return Text(color).all(result);
}

}  // namespace fullgraph::validator
