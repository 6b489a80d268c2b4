#include "reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "reports/formats.h"
#include "reports/width.h"

namespace fullgraph::reports {
namespace {

constexpr std::array<std::string_view, 12> names = {"full",   "concise", "grouped", "json",   "json-lines", "sarif",
                                                    "github", "gitlab",  "junit",   "pylint", "rdjson",     "html"};

std::string plural(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

// "2 errors, 1 hazard".
std::string counts_of(const std::vector<Diagnostic>& findings) {
  std::array<std::size_t, 4> counts{};
  for (const Diagnostic& finding : findings) ++counts[static_cast<std::size_t>(finding.severity)];
  constexpr std::array<std::string_view, 4> words = {"error", "warning", "hazard", "info"};
  std::string out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    if (!out.empty()) out += ", ";
    out += i == 3 ? fmt::format("{} info", counts[i]) : plural(counts[i], words[i]);
  }
  return out;
}

std::size_t count_of(const std::vector<Repaired>& repaired) {
  std::size_t out = 0;
  for (const Repaired& one : repaired) out += one.count;
  return out;
}

// "[*] 2 fixable with --fix (1 hidden fix can be enabled with --unsafe-fixes)", or nothing.
std::string fixes_line(const Report& report, const Style& style) {
  const bool unsafe = style.unsafe_fixes == UnsafeFixes::Made;
  std::size_t fixable = 0, hidden = 0;
  for (const Diagnostic& finding : report.findings) {
    if (is_fixable(finding, unsafe)) {
      ++fixable;
    } else if (style.unsafe_fixes == UnsafeFixes::Hinted && is_fixable(finding, true)) {
      ++hidden;
    }
  }
  const std::string hint = hidden == 0 ? std::string()
                                       : fmt::format(" ({} hidden fix{} can be enabled with --unsafe-fixes)", hidden,
                                                     hidden == 1 ? "" : "es");
  if (fixable != 0) return fmt::format("[*] {} fixable with --fix{}\n", fixable, hint);
  return hint.empty() ? hint : "No fixes available" + hint + "\n";
}

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
    case Format::Html:
      return render_html(report);
  }
  return {};
}

std::string_view fix_mark(const Diagnostic& finding, const Style& style) {
  return is_fixable(finding, style.unsafe_fixes == UnsafeFixes::Made) ? " [*]" : "";
}

std::string render_repaired(const std::vector<Repaired>& repaired, std::string_view verb, bool brief) {
  if (repaired.empty()) return {};
  std::string list;
  std::string_view file;
  std::size_t width = 1;
  for (const Repaired& one : repaired) width = std::max(width, std::to_string(one.count).size());
  for (const Repaired& one : repaired) {
    if (one.file != file) list += fmt::format("- {}:\n", printable(one.file));
    file = one.file;
    list += fmt::format("    {:>{}} × {} ({})\n", one.count, width, one.code, one.name);
  }
  const std::string head = fmt::format("{} {}", verb, plural(count_of(repaired), "finding"));
  return brief ? head + "\n" : head + ":\n" + list;
}

std::string summary(const Report& report, const Style& style) {
  std::string out;
  if (style.show_fixes) out = render_repaired(report.repaired, "Fixed");
  const std::size_t repaired = count_of(report.repaired);
  if (report.findings.empty() && repaired == 0) {
    out += "No findings";
  } else {
    const std::string remaining = counts_of(report.findings);
    out += "Found " + plural(report.findings.size() + repaired, "finding") + " (";
    if (repaired != 0) {
      out += fmt::format("{} fixed, {} remaining{}{}", repaired, report.findings.size(), remaining.empty() ? "" : ": ",
                         remaining);
    } else {
      out += remaining;
    }
    out += ")";
  }
  out += " in " + plural(report.files, "file");
  std::string aside;
  if (report.suppressed != 0) aside += fmt::format("{} suppressed", report.suppressed);
  if (report.baselined != 0) aside += fmt::format("{}{} in the baseline", aside.empty() ? "" : ", ", report.baselined);
  if (!aside.empty()) out += "; " + aside;
  return out + "\n" + fixes_line(report, style);
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
