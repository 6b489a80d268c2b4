#include "validator/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fullgraph::validator {
namespace {

bool same_break(const GraphBreak& a, const GraphBreak& b) {
  // Lines move with a change; function and id stay.
  return a.id == b.id && a.type == b.type && a.file == b.file && a.function == b.function;
}

bool same_tensor(const Compared& a, const Compared& b) {
  return a.name == b.name && a.equality == b.equality;
}

template <class List, class Same>
std::size_t count_like(const List& list, const typename List::value_type& one, Same same) {
  return static_cast<std::size_t>(std::ranges::count_if(list, [&](const auto& other) { return same(one, other); }));
}

std::vector<Compared> unequal(const std::optional<Comparison>& comparison) {
  std::vector<Compared> out;
  if (!comparison) return out;
  std::ranges::copy_if(comparison->tensors, std::back_inserter(out),
                       [](const Compared& one) { return one.equality != Equality::Equal; });
  return out;
}

std::string in_words(const Compared& one) {
  switch (one.equality) {
    case Equality::Lost:
      return fmt::format("{} is lost", one.name);
    case Equality::Appeared:
      return fmt::format("{} appears", one.name);
    case Equality::Shape:
      return fmt::format("{} has another shape or type", one.name);
    default:
      return one.largest ? fmt::format("{} differs by {:.3g}", one.name, *one.largest) : one.name + " differs";
  }
}

// A list of one kind of problem in one sentence, the first few by name.
std::string sentence(const std::string& run, std::string_view what, const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  std::string out = fmt::format("{}: {}: ", run, what);
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) out += (i == 0 ? "" : "; ") + names[i];
  if (names.size() > most) out += fmt::format("; and {} more", names.size() - most);
  return out;
}

std::vector<std::string> new_breaks(const Run& run) {
  std::vector<std::string> out;
  const Side& last = last_side(run);
  if (!last.capture) return out;
  static const std::vector<GraphBreak> none;
  const auto& known = run.after && run.before.capture ? run.before.capture->breaks : none;
  for (const GraphBreak& one : last.capture->breaks) {
    if (count_like(known, one, same_break) < count_like(last.capture->breaks, one, same_break))
      out.push_back(fmt::format("{}:{} {}", one.file, one.line, one.id));
  }
  return out;
}

std::vector<std::string> new_differences(const Run& run, std::optional<Comparison> Side::*which) {
  std::vector<std::string> out;
  const auto known = run.after ? unequal(run.before.*which) : std::vector<Compared>();
  for (const Compared& one : unequal(last_side(run).*which)) {
    if (count_like(known, one, same_tensor) == 0) out.push_back(in_words(one));
  }
  return out;
}

bool more_after(const Run& run, std::size_t (*number)(const Capture&)) {
  const auto of = [&](const Side& side) { return side.capture ? number(*side.capture) : 0; };
  return of(last_side(run)) > (run.after ? of(run.before) : 0);
}

}  // namespace

std::string title_of(const Run& run) {
  return run.checkpointing.empty() || run.checkpointing == "none"
             ? run.mode
             : run.mode + ", " + run.checkpointing + " checkpoints";
}

const Side& last_side(const Run& run) {
  return run.after ? *run.after : run.before;
}

std::vector<std::string> differences_of(const Case& one) {
  std::vector<std::string> out;
  for (const Run& run : one.runs) {
    const std::string title = title_of(run);
    const std::string_view when = run.after ? "a new graph break" : "a graph break";
    if (const auto breaks = new_breaks(run); !breaks.empty()) out.push_back(sentence(title, when, breaks));
    if (const auto found = new_differences(run, &Side::compiled); !found.empty())
      out.push_back(sentence(title, "compiled is not as eager", found));
    if (const auto found = new_differences(run, &Side::single_process); !found.empty())
      out.push_back(sentence(title, "several processes are not as one", found));
    if (more_after(run, [](const Capture& capture) { return std::size_t{capture.never_called}; }))
      out.push_back(title + ": compiled graphs are never called");
    if (more_after(run, [](const Capture& capture) { return capture.policy_bypassed.size(); }))
      out.push_back(title + ": compiled code bypasses the policy of a selective checkpoint");
    std::vector<std::string> changed;
    for (const Compared& tensor : unequal(run.change)) changed.push_back(in_words(tensor));
    if (run.change) changed.insert(changed.end(), run.change->others.begin(), run.change->others.end());
    if (!changed.empty()) out.push_back(sentence(title, "the change makes a difference", changed));
  }
  return out;
}

std::vector<std::string> problems_of(const Case& one) {
  std::vector<std::string> out = differences_of(one);
  const bool pair = std::ranges::any_of(one.runs, [](const Run& run) { return run.after.has_value(); });
  for (const FindingVerdict& finding : one.findings) {
    if (finding.verdict == Verdict::Confirmed && finding.after == pair)
      out.push_back(fmt::format("{}:{} {} is confirmed", finding.file, finding.line, finding.code));
  }
  return out;
}

bool has_failure(const Case& one) {
  return one.failure || std::ranges::any_of(one.runs, [](const Run& run) {
           return run.before.failure || (run.after && run.after->failure);
         });
}

bool was_skipped(const Case& one) {
  return !one.runs.empty() &&
         std::ranges::all_of(one.runs, [](const Run& run) { return !last_side(run).skipped.empty(); });
}

int exit_status_of(const ValidationResult& result) {
  if (!result.errors.empty() || std::ranges::any_of(result.cases, has_failure)) return 2;
  return std::ranges::any_of(result.cases, [](const Case& one) { return !problems_of(one).empty(); }) ? 1 : 0;
}

std::string_view name_of(CaseKind kind) {
  constexpr std::array<std::string_view, 6> names = {"python",      "transformers", "distributed",
                                                     "torchscript", "exported",     "c++"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(FailureKind kind) {
  constexpr std::array<std::string_view, 7> names = {"raised", "timed-out",   "out-of-memory", "killed",
                                                     "exited", "not-started", "bad-input"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Equality equality) {
  constexpr std::array<std::string_view, 5> names = {"equal", "differs", "shape", "lost", "appeared"};
  return names[static_cast<std::size_t>(equality)];
}

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 4> names = {"confirmed", "not reached", "refuted", "not checked"};
  return names[static_cast<std::size_t>(verdict)];
}

}  // namespace fullgraph::validator
