#include "cli/merge_recordings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "analyzer/graphs/lines.h"
#include "analyzer/trace/event.h"
#include "cli/remembered_sources.h"
#include "cli/statement_lines.h"
#include "rules/rule.h"

namespace fullgraph::cli {
namespace {

using graphs::trimmed;

// How many names two paths have in common at their ends. The recording may have been made on Windows.
std::size_t common_names(std::string_view one, std::string_view other) {
  constexpr std::string_view slashes = "/\\";
  std::size_t count = 0;
  while (!one.empty() && !other.empty()) {
    const std::size_t slash = one.find_last_of(slashes), other_slash = other.find_last_of(slashes);
    const std::string_view name = slash == std::string_view::npos ? one : one.substr(slash + 1);
    const std::string_view other_name = other_slash == std::string_view::npos ? other : other.substr(other_slash + 1);
    if (name != other_name) break;
    ++count;
    one = one.substr(0, slash == std::string_view::npos ? 0 : slash);
    other = other.substr(0, other_slash == std::string_view::npos ? 0 : other_slash);
  }
  return count;
}

std::size_t names_in(std::string_view path) {
  return static_cast<std::size_t>(std::ranges::count(path, '/')) + 1;
}

// The linted source that a recorded place is in. The recording machine may have had it elsewhere: the source with the
// longest common end of its path is it, if the line reads as it did; without a line to compare, two names are asked
// for.
std::shared_ptr<const ir::SourceFile> source_of(std::string_view file, std::uint32_t line, std::string_view code,
                                                const LintedSources& sources) {
  std::shared_ptr<const ir::SourceFile> best;
  std::size_t most = 0;
  for (const auto& source : sources) {
    const std::size_t common = common_names(file, source->path());
    if (common <= most || line == 0 || line > source->line_count()) continue;
    const bool same_line = !trimmed(code).empty() && trimmed(source->line_text(line)) == trimmed(code);
    const bool whole_name = common == names_in(source->path()) || common >= 2;
    if (trimmed(code).empty() ? !whole_name : !same_line) continue;
    best = source;
    most = common;
  }
  return best;
}

unsigned line_of(const Place& place) {
  return place.source->position(place.span.begin).line;
}

// A break of a log, as an event on a line that nothing has been parsed of.
class BreakReport {
 public:
  explicit BreakReport(const std::string& working_directory) : remembered_(working_directory) {}

  void remember(const graphs::RecordedBreak& one) { remembered_.remember(one.where); }

  std::optional<trace::Event> event(const graphs::RecordedBreak& one, const LintedSources& sources) {
    std::optional<Place> place;
    if (auto source = source_of(one.where.file, one.where.line, one.where.code, sources))
      place = place_of_line(std::move(source), one.where.line);
    else
      place = remembered_.place_of(one.where);
    if (!place) return std::nullopt;
    auto module = std::make_unique<ir::Module>();
    module->source = place->source;
    trace::Event out;
    out.kind = trace::EventKind::RecordedBreak;
    out.where = {module.get(), place->span};
    out.function = one.where.function;
    out.gb_id = one.gb_id;
    out.detail = one.reason;
    modules_.push_back(std::move(module));
    return out;
  }

 private:
  RememberedSources remembered_;
  std::vector<std::unique_ptr<ir::Module>> modules_;  // as long as their events
};

// The rule that speaks of a break by Dynamo's id.
const rules::Rule* rule_of(std::string_view gb_id) {
  if (gb_id.empty()) return nullptr;
  for (const rules::Rule* rule : rules::all_rules()) {
    if (rule->info.gb_ids.find(gb_id) != std::string_view::npos) return rule;
  }
  return nullptr;
}

// The lines of statements, each looked up once: for that the whole source is parsed.
class Statements {
 public:
  StatementLines around(const Place& place) {
    const auto [known, added] = known_.try_emplace({place.source.get(), place.span.begin, place.span.end});
    if (added) known->second = statement_lines(place);
    return known->second;
  }

 private:
  std::map<std::tuple<const ir::SourceFile*, std::uint32_t, std::uint32_t>, StatementLines> known_;
};

// Does the finding stand for this break? At its own place or, where it was moved to the call, where it happens.
bool covers(const Diagnostic& finding, const graphs::RecordedBreak& one, const LintedSources& sources,
            Statements& statements) {
  if (finding.gb_id.empty()) return false;
  const auto at = [&](const ir::Origin& where, const Place& place) {
    if (place.source == nullptr) return false;
    if (common_names(where.file, place.source->path()) == 0) return false;
    const auto source = source_of(where.file, where.line, where.code, sources);
    if (source == nullptr ? where.file != place.source->path() : source != place.source) return false;
    return statements.around(place).meet(where.line, where.line);
  };
  if (at(one.where, finding.place)) return true;
  const bool moved =
      std::ranges::any_of(finding.related, [&](const Related& related) { return at(one.where, related.place); });
  return moved && std::ranges::any_of(one.stack, [&](const ir::Origin& frame) { return at(frame, finding.place); });
}

}  // namespace

void merge_findings(std::vector<Diagnostic>& found, std::vector<Diagnostic> recorded, const LintedSources& sources) {
  for (Diagnostic& one : recorded) {
    const unsigned line = line_of(one.place);
    const std::string_view code = one.place.source->line_text(line);
    if (auto source = source_of(one.place.source->path(), line, code, sources))
      one.place = place_of_line(std::move(source), line);
    const auto same = std::ranges::find_if(found, [&](const Diagnostic& known) {
      return known.code == one.code && known.place.source == one.place.source && line_of(known.place) == line;
    });
    if (same == found.end()) {
      found.push_back(std::move(one));
    } else {
      same->related.insert(same->related.end(), one.related.begin(), one.related.end());
    }
  }
}

LoggedBreaks merge_breaks(std::vector<Diagnostic>& found, Recording& log, const LintedSources& sources,
                          const std::string& working_directory, const profile::Profile& profile) {
  LoggedBreaks out;
  BreakReport report(working_directory);
  Statements statements;
  std::vector<trace::Event> events;
  for (const graphs::RecordedBreak& one : log.breaks) report.remember(one);
  log.confirmed.resize(log.breaks.size());
  for (std::size_t at = 0; at < log.breaks.size(); ++at) {
    const graphs::RecordedBreak& one = log.breaks[at];
    ++out.logged;
    bool covered = log.confirmed[at];
    for (Diagnostic& finding : found) {
      if (!covers(finding, one, sources, statements)) continue;
      covered = true;
      if (finding.evidence == Evidence::Confirmed) continue;
      finding.evidence = Evidence::Confirmed;
      finding.message += fmt::format("; {} confirms it", log.file->shown);
    }
    log.confirmed[at] = covered;
    if (covered) {
      ++out.confirmed;
    } else if (auto event = report.event(one, sources)) {
      ++out.only_at_run_time;
      events.push_back(std::move(*event));
    }
  }
  for (Diagnostic& finding : rules::judge(events, profile)) {
    finding.evidence = Evidence::RunTime;
    finding.roots = {log.file->shown};
    if (const rules::Rule* rule = rule_of(finding.gb_id))
      finding.message += fmt::format("; {} ({}) is about such breaks", rule->info.code, rule->info.name);
    const bool linted = std::ranges::find(sources, finding.place.source) != sources.end();
    if (!linted) {
      finding.fixes.push_back(
          {.applicability = Applicability::Display,
           .message = fmt::format("Check the source together with the log (`fullgraph check {} {}`): "
                                  "that shows the way there, and the repair where there is one",
                                  finding.place.source->path(), log.file->shown),
           .edits = {}});
    }
    found.push_back(std::move(finding));
  }
  return out;
}

}  // namespace fullgraph::cli
