#include "reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "reports/formats.h"

namespace fullgraph::reports {
namespace {

constexpr std::array<std::string_view, 11> names = {"full",   "concise", "grouped", "json",   "json-lines", "sarif",
                                                    "github", "gitlab",  "junit",   "pylint", "rdjson"};

}  // namespace

std::span<const std::string_view> format_names() {
  return names;
}

std::optional<Format> format_of(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Format>(found - names.begin());
}

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Hazard:
      return "hazard";
    case Severity::Info:
      return "info";
  }
  return "error";
}

std::string_view applicability_name(Applicability applicability) {
  switch (applicability) {
    case Applicability::Safe:
      return "safe";
    case Applicability::Unsafe:
      return "unsafe";
    case Applicability::Display:
      return "display";
  }
  return "display";
}

std::string render(const Report& report, Format format, const Style& style) {
  switch (format) {
    case Format::Full:
      return render_full(report, style);
    case Format::Concise:
      return render_concise(report, style);
    case Format::Grouped:
      return render_grouped(report, style);
    case Format::Json:
      return render_json(report);
    case Format::JsonLines:
      return render_json_lines(report);
    case Format::Sarif:
      return render_sarif(report);
    case Format::Github:
      return render_github(report);
    case Format::Gitlab:
      return render_gitlab(report);
    case Format::Junit:
      return render_junit(report);
    case Format::Pylint:
      return render_pylint(report);
    case Format::Rdjson:
      return render_rdjson(report);
  }
  return {};
}

std::string summary_line(const Report& report) {
  const auto plural = [](std::size_t count, std::string_view word) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
  };
  std::string out;
  if (report.findings.empty()) {
    out = "No findings in " + plural(report.files, "file");
  } else {
    std::array<std::size_t, 4> counts{};
    for (const Diagnostic& finding : report.findings) ++counts[static_cast<std::size_t>(finding.severity)];
    out = "Found " + plural(report.findings.size(), "finding") + " (";
    constexpr std::array<std::string_view, 4> words = {"error", "warning", "hazard", "info"};
    bool first = true;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) continue;
      if (!first) out += ", ";
      out += i == 3 ? fmt::format("{} info", counts[i]) : plural(counts[i], words[i]);
      first = false;
    }
    out += ") in " + plural(report.files, "file");
  }
  std::string aside;
  if (report.suppressed != 0) aside += fmt::format("{} suppressed", report.suppressed);
  if (report.baselined != 0) aside += fmt::format("{}{} in the baseline", aside.empty() ? "" : ", ", report.baselined);
  if (!aside.empty()) out += "; " + aside;
  return out + "\n";
}

std::string render_statistics(const Report& report, Format format) {
  if (format == Format::Json || format == Format::JsonLines) return render_statistics_json(report);
  std::map<std::string_view, std::pair<std::size_t, std::string_view>> by_code;
  for (const Diagnostic& finding : report.findings) {
    auto& [count, name] = by_code[finding.code];
    ++count;
    name = finding.name;
  }
  std::vector<std::pair<std::string_view, std::pair<std::size_t, std::string_view>>> rows(by_code.begin(),
                                                                                          by_code.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  std::size_t width = 1;
  for (const auto& row : rows) width = std::max(width, std::to_string(row.second.first).size());
  std::string out;
  for (const auto& [code, entry] : rows) out += fmt::format("{:>{}}  {}  {}\n", entry.first, width, code, entry.second);
  return out;
}

}  // namespace fullgraph::reports
