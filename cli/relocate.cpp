#include "cli/relocate.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace fullgraph::cli {
namespace {

// Leaves the calls in front of the one at this place; false when there is none.
bool cut_at(std::vector<PathStep>& calls, const Place& place) {
  const auto call = std::ranges::find_if(
      calls, [&](const PathStep& one) { return one.place.source == place.source && one.place.span == place.span; });
  if (call == calls.end()) return false;
  calls.erase(call, calls.end());
  return true;
}

// Moves the finding to the last call that stands in a linted file; false when there is none.
bool move_to_call(Diagnostic& finding, const std::function<bool(const std::string&)>& is_linted) {
  auto step = finding.path.rbegin();
  while (step != finding.path.rend() && (step->place.source == nullptr || !is_linted(step->place.source->path())))
    ++step;
  if (step == finding.path.rend()) return false;
  const std::string inside = finding.function.empty() ? "the package" : "`" + finding.function + "`";
  finding.message += ", in " + inside + ", which is called here";
  finding.related.insert(finding.related.begin(), Related{finding.place, "it happens here"});
  finding.place = step->place;
  finding.function = step->function;
  finding.path.erase(std::prev(step.base()), finding.path.end());
  std::erase_if(finding.ways, [&](Way& way) { return !cut_at(way.calls, finding.place); });
  finding.fixes.clear();  // edits to an installed package help nobody
  return true;
}

}  // namespace

std::vector<Diagnostic> relocate(std::vector<Diagnostic> findings,
                                 const std::function<bool(const std::string&)>& is_linted,
                                 const std::function<bool(const std::string&)>& is_installed) {
  std::vector<Diagnostic> out;
  std::set<std::tuple<const ir::SourceFile*, std::uint32_t, std::string, std::string>> moved;
  for (Diagnostic& finding : findings) {
    if (finding.place.source == nullptr) continue;
    const std::string& path = finding.place.source->path();
    if (!is_linted(path)) {
      if (!is_installed(path) || !move_to_call(finding, is_linted)) continue;
      if (!moved.emplace(finding.place.source.get(), finding.place.span.begin, finding.code, finding.message).second)
        continue;
    }
    out.push_back(std::move(finding));
  }
  return out;
}

}  // namespace fullgraph::cli
