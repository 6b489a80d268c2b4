// The JSON formats: our own (json, json-lines), GitLab's Code Quality report and reviewdog's rdjson.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "reports/formats.h"
#include "reports/position.h"
#include "rules/fingerprint.h"

namespace fullgraph::reports {
namespace {

using Json = nlohmann::ordered_json;

// Sources are UTF-8 by contract; should a message cut a code point after all, a replacement character is better than
// no report.
std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json range_of(const Place& place) {
  const Position p = position_of(place);
  return {
      {"file", p.file}, {"line", p.line}, {"column", p.column}, {"end_line", p.end_line}, {"end_column", p.end_column}};
}

Json steps_of(const std::vector<PathStep>& path) {
  Json out = Json::array();
  for (const PathStep& step : path) {
    Json entry = range_of(step.place);
    entry["function"] = step.function;
    out.push_back(std::move(entry));
  }
  return out;
}

Json fix_of(const Fix& fix) {
  Json edits = Json::array();
  for (const Edit& edit : fix.edits) {
    Json entry = range_of(edit.place);
    entry["text"] = edit.text;
    edits.push_back(std::move(entry));
  }
  return {
      {"applicability", applicability_name(fix.applicability)}, {"message", fix.message}, {"edits", std::move(edits)}};
}

Json finding_of(const Diagnostic& finding, const std::string& fingerprint) {
  Json out = {{"code", finding.code},
              {"name", finding.name},
              {"severity", severity_name(finding.severity)},
              {"message", finding.message}};
  out.update(range_of(finding.place));
  out["function"] = finding.function;
  out["condition"] = finding.condition;
  out["gb_id"] = finding.gb_id;
  out["url"] = finding.url;
  out["roots"] = finding.roots;
  out["path"] = steps_of(finding.path);
  out["fixes"] = Json::array();
  for (const Fix& fix : finding.fixes) out["fixes"].push_back(fix_of(fix));
  out["related"] = Json::array();
  for (const Related& related : finding.related) {
    Json entry = range_of(related.place);
    entry["message"] = related.message;
    out["related"].push_back(std::move(entry));
  }
  out["fingerprint"] = fingerprint;
  if (finding.evidence != Evidence::Static)
    out["evidence"] = finding.evidence == Evidence::Confirmed ? "confirmed" : "run-time";
  return out;
}

Json error_of(const Error& error) {
  Json out = {{"message", error.message}, {"file", nullptr}, {"line", nullptr}, {"column", nullptr}};
  if (error.where.has_value()) {
    out["file"] = error.where->file;
    if (error.where->line != 0) out["line"] = error.where->line;
    if (error.where->column != 0) out["column"] = error.where->column;
  }
  return out;
}

Json summary_of(const Report& report) {
  std::map<std::string, std::size_t> by_severity = {{"error", 0}, {"warning", 0}, {"hazard", 0}, {"info", 0}};
  std::map<std::string, std::size_t> by_code;
  for (const Diagnostic& finding : report.findings) {
    ++by_severity[std::string(severity_name(finding.severity))];
    ++by_code[finding.code];
  }
  std::size_t fixed = 0;
  for (const Repaired& one : report.repaired) fixed += one.count;
  return {{"files", report.files},         {"roots", report.roots}, {"findings", report.findings.size()},
          {"by_severity", by_severity},    {"by_code", by_code},    {"suppressed", report.suppressed},
          {"baselined", report.baselined}, {"fixed", fixed}};
}

std::string_view gitlab_severity(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "critical";
    case Severity::Warning:
    case Severity::Hazard:
      return "major";
    case Severity::Info:
      return "info";
  }
  return "major";
}

std::string_view rdjson_severity(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "ERROR";
    case Severity::Warning:
    case Severity::Hazard:
      return "WARNING";
    case Severity::Info:
      return "INFO";
  }
  return "WARNING";
}

// reviewdog counts columns in bytes of UTF-8.
Json rdjson_point(const Place& place, std::uint32_t offset) {
  if (place.source == nullptr) return {{"line", 1}, {"column", 1}};
  const unsigned line = place.source->position(offset).line;
  return {{"line", line}, {"column", offset - place.source->line_start(line) + 1}};
}

Json rdjson_range(const Place& place) {
  return {{"start", rdjson_point(place, place.span.begin)}, {"end", rdjson_point(place, place.span.end)}};
}

}  // namespace

std::string render_json(const Report& report) {
  const std::vector<std::string> prints = rules::fingerprints(report.findings);
  Json out = {{"schema", 1}, {"version", report.version}, {"torch_version", report.torch_version}};
  out["findings"] = Json::array();
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    Json& entry = out["findings"].emplace_back(finding_of(report.findings[i], prints[i]));
    if (!report.shard) continue;
    // What a page of all parts needs besides.
    Json& ways = entry["ways"] = Json::array();
    for (const Way& way : report.findings[i].ways) ways.push_back({{"root", way.root}, {"calls", steps_of(way.calls)}});
  }
  out["errors"] = Json::array();
  for (const Error& error : report.errors) out["errors"].push_back(error_of(error));
  out["summary"] = summary_of(report);
  if (report.shard) out["shard"] = {{"number", report.shard->first}, {"of", report.shard->second}};
  return text_of(out, 2) + "\n";
}

std::string render_json_lines(const Report& report) {
  const std::vector<std::string> prints = rules::fingerprints(report.findings);
  std::string out;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    out += text_of(finding_of(report.findings[i], prints[i]), -1) + "\n";
  }
  return out;
}

std::string render_gitlab(const Report& report) {
  const std::vector<std::string> prints = rules::fingerprints(report.findings);
  Json out = Json::array();
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const Diagnostic& finding = report.findings[i];
    const Position p = position_of(finding.place);
    // GitLab does not show check_name, so the description begins with the code.
    out.push_back({{"description", finding.code + ": " + finding.message},
                   {"check_name", finding.code},
                   {"fingerprint", prints[i]},
                   {"severity", gitlab_severity(finding.severity)},
                   {"location",
                    {{"path", p.file},
                     {"positions",
                      {{"begin", {{"line", p.line}, {"column", p.column}}},
                       {"end", {{"line", p.end_line}, {"column", p.end_column}}}}}}}});
  }
  return text_of(out, 2) + "\n";
}

std::string render_rdjson(const Report& report) {
  Json diagnostics = Json::array();
  for (const Diagnostic& finding : report.findings) {
    Json code = {{"value", finding.code}};
    if (!finding.url.empty()) code["url"] = finding.url;
    Json entry = {{"message", finding.message},
                  {"location", {{"path", position_of(finding.place).file}, {"range", rdjson_range(finding.place)}}},
                  {"severity", rdjson_severity(finding.severity)},
                  {"code", std::move(code)}};
    Json suggestions = Json::array();
    for (const Fix& fix : finding.fixes) {
      // A suggestion replaces one range; a fix of several edits cannot be offered in parts.
      if (fix.edits.size() != 1) continue;
      suggestions.push_back({{"range", rdjson_range(fix.edits[0].place)}, {"text", fix.edits[0].text}});
    }
    if (!suggestions.empty()) entry["suggestions"] = std::move(suggestions);
    Json related = Json::array();
    for (const Related& place : finding.related) {
      related.push_back(
          {{"message", place.message},
           {"location", {{"path", position_of(place.place).file}, {"range", rdjson_range(place.place)}}}});
    }
    if (!related.empty()) entry["relatedLocations"] = std::move(related);
    diagnostics.push_back(std::move(entry));
  }
  const Json out = {
      {"source", {{"name", "fullgraph"}}}, {"severity", "WARNING"}, {"diagnostics", std::move(diagnostics)}};
  return text_of(out, 2) + "\n";
}

std::string render_statistics_json(const Report& report) {
  std::map<std::string, std::pair<std::size_t, std::string>> by_code;
  for (const Diagnostic& finding : report.findings) {
    ++by_code[finding.code].first;
    by_code[finding.code].second = finding.name;
  }
  std::vector<std::pair<std::string, std::pair<std::size_t, std::string>>> rows(by_code.begin(), by_code.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  Json out = Json::array();
  for (const auto& [code, entry] : rows)
    out.push_back({{"code", code}, {"name", entry.second}, {"count", entry.first}});
  return text_of(out, 2) + "\n";
}

}  // namespace fullgraph::reports
