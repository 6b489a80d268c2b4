// SARIF 2.1.0, for code scanning services and editors: the rules with their documentation, the way from the root as a
// code flow, related places, fingerprints and fixes.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/formats.h"
#include "reports/position.h"
#include "rules/fingerprint.h"
#include "rules/rule.h"

namespace fullgraph::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view root_id = "%SRCROOT%";
constexpr std::size_t longest_description = 1024;  // what GitHub shows of a fullDescription
constexpr std::size_t most_locations = 100;        // what GitHub shows of a result's locations
constexpr std::size_t longest_snippet = 400;

// RFC 3986: everything but unreserved characters and '/' is percent-encoded.
std::string encode(std::string_view path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || c == '/';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

// "/a/b" and "../c/d.py" → "/a/c/d.py".
std::string absolute(std::string_view root, std::string_view relative) {
  std::string base(root);
  while (relative.starts_with("../")) {
    relative.remove_prefix(3);
    base.resize(base.rfind('/') == std::string::npos ? 0 : base.rfind('/'));
  }
  return base + "/" + std::string(relative);
}

Json artifact_of(std::string_view path, const Report& report) {
  if (path.starts_with('/')) return {{"uri", "file://" + encode(path)}};
  if (path.starts_with("../")) return {{"uri", "file://" + encode(absolute(report.root, path))}};
  return {{"uri", encode(path)}, {"uriBaseId", root_id}};
}

Json region_of(const Place& place) {
  const Position p = position_of(place);
  return {{"startLine", p.line}, {"startColumn", p.column}, {"endLine", p.end_line}, {"endColumn", p.end_column}};
}

Json physical_of(const Place& place, const Report& report) {
  Json region = region_of(place);
  if (place.source != nullptr) {
    const std::string_view text = place.source->text(place.span);
    if (!text.empty() && text.size() <= longest_snippet) region["snippet"] = {{"text", text}};
  }
  return {{"artifactLocation", artifact_of(position_of(place).file, report)}, {"region", std::move(region)}};
}

std::string_view level_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
    case Severity::Hazard:
      return "warning";
    case Severity::Info:
      return "note";
  }
  return "warning";
}

std::string_view family_of(std::string_view code) {
  switch (code.size() > 2 ? code[2] : '0') {
    case '1':
      return "requires-grad";
    case '2':
      return "hooks";
    case '3':
      return "checkpointing";
    case '4':
      return "data-dependent";
    case '5':
      return "untraceable-python";
    case '6':
      return "cuda-graphs";
    default:
      return "lint-run";
  }
}

// The text under the first heading of the documentation.
std::string description_of(const rules::RuleInfo& info) {
  std::string_view text = info.documentation;
  if (text.starts_with("## ")) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  text = text.substr(0, text.find("\n## "));
  while (!text.empty() && text.front() == '\n') text.remove_prefix(1);
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (text.size() > longest_description) text = text.substr(0, text.rfind(' ', longest_description - 4));
  return text.empty() ? std::string(info.summary) : std::string(text);
}

Json rule_of(const rules::RuleInfo& info) {
  Json tags = {"pytorch", "torch.compile", family_of(info.code)};
  Json out = {{"id", info.code},
              {"name", info.name},
              {"shortDescription", {{"text", info.summary}}},
              {"fullDescription", {{"text", description_of(info)}}},
              {"help", {{"text", info.documentation}, {"markdown", info.documentation}}},
              {"defaultConfiguration", {{"level", level_of(info.severity)}}}};
  const std::string_view first_id = info.gb_ids.substr(0, info.gb_ids.find(' '));
  if (!first_id.empty()) out["helpUri"] = profile::graph_break_url(first_id);
  out["properties"] = {{"tags", std::move(tags)}, {"precision", "high"}, {"problem.severity", level_of(info.severity)}};
  if (info.severity == Severity::Info) out["properties"]["problem.severity"] = "recommendation";
  return out;
}

Json step_of(const Place& place, const std::string& text, const Report& report) {
  return {{"location", {{"physicalLocation", physical_of(place, report)}, {"message", {{"text", text}}}}}};
}

Json code_flow_of(const Diagnostic& finding, const Report& report) {
  Json locations = Json::array();
  for (const PathStep& step : finding.path) {
    locations.push_back(
        step_of(step.place, "called in " + (step.function.empty() ? "the module" : step.function), report));
  }
  locations.push_back(step_of(finding.place, finding.message, report));
  return {{"threadFlows", Json::array({Json{{"locations", std::move(locations)}}})}};
}

Json fix_of(const Fix& fix, const Report& report) {
  Json changes = Json::array();
  for (const Edit& edit : fix.edits) {
    Json replacement = {{"deletedRegion", region_of(edit.place)}};
    if (!edit.text.empty()) replacement["insertedContent"] = {{"text", edit.text}};
    Json artifact = artifact_of(position_of(edit.place).file, report);
    // Edits of one file belong to one change.
    const auto same = std::ranges::find_if(changes, [&](const Json& c) { return c["artifactLocation"] == artifact; });
    if (same != changes.end()) {
      (*same)["replacements"].push_back(std::move(replacement));
    } else {
      changes.push_back(
          {{"artifactLocation", std::move(artifact)}, {"replacements", Json::array({std::move(replacement)})}});
    }
  }
  return {{"description", {{"text", fix.message}}}, {"artifactChanges", std::move(changes)}};
}

Json result_of(const Diagnostic& finding, const std::string& fingerprint, const Report& report) {
  const auto table = rules::all_rules();
  const auto rule = std::ranges::find(table, finding.code, [](const rules::Rule* r) { return r->info.code; });

  std::string message = finding.message;
  if (!finding.condition.empty()) message += " (when " + finding.condition + ")";
  Json location = {{"physicalLocation", physical_of(finding.place, report)}};
  if (!finding.function.empty()) {
    location["logicalLocations"] = Json::array({Json{{"fullyQualifiedName", finding.function}, {"kind", "function"}}});
  }

  Json out = {{"ruleId", finding.code}};
  if (rule != table.end()) out["ruleIndex"] = rule - table.begin();
  out["level"] = level_of(finding.severity);
  out["message"] = {{"text", message}};
  out["locations"] = Json::array({std::move(location)});
  if (!finding.related.empty()) {
    Json related = Json::array();
    for (std::size_t i = 0; i < finding.related.size() && i < most_locations; ++i) {
      related.push_back({{"id", i + 1},
                         {"physicalLocation", physical_of(finding.related[i].place, report)},
                         {"message", {{"text", finding.related[i].message}}}});
    }
    out["relatedLocations"] = std::move(related);
  }
  if (!finding.path.empty()) out["codeFlows"] = Json::array({code_flow_of(finding, report)});
  Json fixes = Json::array();
  for (const Fix& fix : finding.fixes) {
    if (!fix.edits.empty()) fixes.push_back(fix_of(fix, report));
  }
  if (!fixes.empty()) out["fixes"] = std::move(fixes);
  out["partialFingerprints"] = {{"primaryLocationLineHash", fingerprint}};
  out["properties"] = {{"severity", severity_name(finding.severity)},
                       {"condition", finding.condition},
                       {"gbId", finding.gb_id},
                       {"roots", finding.roots}};
  if (!finding.url.empty()) out["hostedViewerUri"] = finding.url;
  return out;
}

Json notification_of(const Error& error, const Report& report) {
  Json out = {{"level", "error"}, {"message", {{"text", error.message}}}};
  if (error.where.has_value()) {
    Json physical = {{"artifactLocation", artifact_of(error.where->file, report)}};
    if (error.where->line != 0) physical["region"] = {{"startLine", error.where->line}};
    out["locations"] = Json::array({Json{{"physicalLocation", std::move(physical)}}});
  }
  return out;
}

}  // namespace

std::string render_sarif(const Report& report) {
  const std::vector<std::string> prints = rules::fingerprints(report.findings);
  Json rules = Json::array();
  for (const fullgraph::rules::Rule* rule : fullgraph::rules::all_rules()) rules.push_back(rule_of(rule->info));
  Json results = Json::array();
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    results.push_back(result_of(report.findings[i], prints[i], report));
  }
  Json notifications = Json::array();
  for (const Error& error : report.errors) notifications.push_back(notification_of(error, report));
  Json invocation = {{"executionSuccessful", report.errors.empty()}};
  if (!notifications.empty()) invocation["toolExecutionNotifications"] = std::move(notifications);

  Json run = {
      {"tool",
       {{"driver",
         {{"name", "fullgraph"},
          {"version", report.version},
          {"semanticVersion", report.version},
          {"rules", std::move(rules)}}}}},
      {"automationDetails", {{"id", "fullgraph/"}}},
      {"invocations", Json::array({std::move(invocation)})},
      {"originalUriBaseIds",
       {{std::string(root_id), {{"uri", "file://" + encode(report.root) + (report.root.ends_with('/') ? "" : "/")}}}}},
      {"columnKind", "unicodeCodePoints"},
      {"results", std::move(results)},
      {"properties", {{"torchVersion", report.torch_version}}}};
  const Json out = {
      {"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", Json::array({std::move(run)})}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fullgraph::reports
