#include "server/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "rules/rule.h"

namespace fullgraph::server {

namespace {

int severity_number(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return 1;
    case Severity::Warning:
    case Severity::Hazard:
      return 2;
    case Severity::Info:
      return 3;
  }
  return 3;
}

// A comment that suppresses nothing is of no use, and is shown pale.
constexpr std::string_view unused_suppression = "FG901";
constexpr int tag_unnecessary = 1;

std::string message_of(const Diagnostic& finding) {
  return finding.condition.empty() ? finding.message : fmt::format("{} (when {})", finding.message, finding.condition);
}

std::optional<std::uint32_t> number_from(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_unsigned()) return std::nullopt;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(found->get<std::uint64_t>(), std::numeric_limits<std::uint32_t>::max() - 1));
}

}  // namespace

Json to_json(const Range& range) {
  return {{"start", {{"line", range.start.line}, {"character", range.start.character}}},
          {"end", {{"line", range.end.line}, {"character", range.end.character}}}};
}

std::optional<Position> position_from(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto line = number_from(json, "line"), character = number_from(json, "character");
  if (!line || !character) return std::nullopt;
  return Position{*line, *character};
}

std::optional<Range> range_from(const Json& json) {
  if (!json.is_object() || !json.contains("start") || !json.contains("end")) return std::nullopt;
  const auto start = position_from(json["start"]), end = position_from(json["end"]);
  if (!start || !end) return std::nullopt;
  return Range{*start, *end};
}

std::string Converter::uri_of(const std::string& path) const {
  const auto open = look_.open.find(path);
  return open != look_.open.end() ? open->second.uri : uri_of_path(path);
}

std::optional<Range> Converter::range_in(const std::string& path, const Place& place) {
  if (place.source == nullptr) return std::nullopt;
  const ir::SourceFile* shown = place.source.get();
  ir::Span span = place.span;
  if (const auto open = look_.open.find(path); open != look_.open.end()) {
    shown = open->second.source.get();
    const auto [known, added] = moved_.try_emplace(place.source.get());
    if (added && place.source->text() != shown->text()) known->second.emplace(place.source->text(), shown->text());
    if (known->second) {
      const auto now = known->second->find(span);
      if (!now) return std::nullopt;
      span = *now;
    }
  }
  return Range{position_of(*shown, span.begin, abilities_.encoding),
               position_of(*shown, span.end, abilities_.encoding)};
}

std::optional<Range> Converter::range(const Finding& finding) {
  const Place& place = finding.diagnostic.place;
  return range_in(finding.path_of(place), place);
}

std::optional<Json> Converter::location(const Finding& finding, const Place& place) {
  const std::string path = finding.path_of(place);
  const auto range = range_in(path, place);
  if (!range) return std::nullopt;
  return Json{{"uri", uri_of(path)}, {"range", to_json(*range)}};
}

// The way from the root to the finding, then what belongs to it.
Json Converter::related(const Finding& finding) {
  Json out = Json::array();
  for (const PathStep& step : finding.diagnostic.path) {
    if (auto where = location(finding, step.place))
      out.push_back(
          {{"location", std::move(*where)}, {"message", fmt::format("on the way: called in `{}`", step.function)}});
  }
  for (const Related& one : finding.diagnostic.related) {
    if (auto where = location(finding, one.place))
      out.push_back({{"location", std::move(*where)}, {"message", one.message}});
  }
  return out;
}

std::optional<Json> Converter::diagnostic(const Finding& finding) {
  const Diagnostic& said = finding.diagnostic;
  const auto where = range(finding);
  if (!where) return std::nullopt;
  Json out = {{"range", to_json(*where)},
              {"severity", severity_number(said.severity)},
              {"code", said.code},
              {"source", "fullgraph"},
              {"message", message_of(said)}};
  if (abilities_.code_description && !said.url.empty()) out["codeDescription"] = {{"href", said.url}};
  if (abilities_.tags && said.code == unused_suppression) out["tags"] = Json::array({tag_unnecessary});
  if (abilities_.related) {
    Json more = related(finding);
    if (!more.empty()) out["relatedInformation"] = std::move(more);
  }
  return out;
}

Json Converter::diagnostics_of(const std::string& path) {
  Json out = Json::array();
  const auto found = look_.findings.find(path);
  if (found == look_.findings.end()) return out;
  for (const Finding& finding : found->second) {
    if (auto one = diagnostic(finding)) out.push_back(std::move(*one));
  }
  return out;
}

std::string hover_text(const Diagnostic& finding) {
  std::string out = fmt::format("**{}** `{}`: {}\n", finding.code, finding.name, message_of(finding));
  for (const Fix& fix : finding.fixes) {
    const char* const how = fix.edits.empty()                          ? "Advice"
                            : fix.applicability == Applicability::Safe ? "Fix"
                                                                       : "Unsafe fix";
    out += fmt::format("\n{}: {}\n", how, fix.message);
  }
  if (!finding.url.empty())
    out += fmt::format("\n[{}]({})\n", finding.gb_id.empty() ? finding.code : finding.gb_id, finding.url);
  if (const rules::Rule* rule = rules::find_rule(finding.code)) {
    out += "\n---\n\n";
    out += rule->info.documentation;
  }
  return out;
}

}  // namespace fullgraph::server
