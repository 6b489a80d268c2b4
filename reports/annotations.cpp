// GitHub's workflow commands and JUnit's XML.
#include <fmt/format.h>

#include "reports/formats.h"
#include "reports/position.h"

namespace fullgraph::reports {
namespace {

std::string escape_data(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '%') {
      out += "%25";
    } else if (c == '\r') {
      out += "%0D";
    } else if (c == '\n') {
      out += "%0A";
    } else {
      out += c;
    }
  }
  return out;
}

std::string escape_property(std::string_view text) {
  std::string out;
  for (const char c : escape_data(text)) {
    if (c == ':') {
      out += "%3A";
    } else if (c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view github_level(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
    case Severity::Hazard:
      return "warning";
    case Severity::Info:
      return "notice";
  }
  return "warning";
}

// XML 1.0 has no way to write most control characters: they become U+FFFD.
std::string escape_xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t') {
          out += "\xEF\xBF\xBD";
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string with_condition(const Diagnostic& finding) {
  return finding.condition.empty() ? finding.message : fmt::format("{} (when {})", finding.message, finding.condition);
}

}  // namespace

std::string render_github(const Report& report) {
  std::string out;
  for (const Diagnostic& finding : report.findings) {
    const Position p = position_of(finding.place);
    out += fmt::format("::{} title=fullgraph ({}),file={},line={}", github_level(finding.severity),
                       escape_property(finding.code), escape_property(p.file), p.line);
    // GitHub rejects columns of a range that spans lines.
    if (p.line == p.end_line) {
      out += fmt::format(",col={},endLine={},endColumn={}", p.column, p.end_line, p.end_column);
    } else {
      out += fmt::format(",endLine={}", p.end_line);
    }
    out += fmt::format("::{}\n", escape_data(fmt::format("{}:{}:{}: {} {}", p.file, p.line, p.column, finding.code,
                                                         with_condition(finding))));
  }
  return out;
}

std::string render_junit(const Report& report) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  const std::size_t failures = report.findings.size() + report.errors.size();
  out += fmt::format("<testsuites name=\"fullgraph\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
                     failures == 0 ? 1 : failures, report.findings.size(), report.errors.size());
  if (failures == 0) {
    out +=
        "  <testsuite name=\"fullgraph\" tests=\"1\" disabled=\"0\" errors=\"0\" failures=\"0\" "
        "package=\"org.fullgraph\">\n"
        "    <testcase name=\"No findings\" classname=\"fullgraph\" time=\"0\"/>\n"
        "  </testsuite>\n";
  }
  for (std::size_t i = 0; i < report.findings.size();) {
    const std::string_view file = position_of(report.findings[i].place).file;
    std::size_t end = i;
    while (end < report.findings.size() && position_of(report.findings[end].place).file == file) ++end;
    out += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" disabled=\"0\" errors=\"0\" failures=\"{}\" "
        "package=\"org.fullgraph\">\n",
        escape_xml(file), end - i, end - i);
    for (; i < end; ++i) {
      const Diagnostic& finding = report.findings[i];
      const Position p = position_of(finding.place);
      out += fmt::format(
          "    <testcase name=\"org.fullgraph.{}\" classname=\"{}\" line=\"{}\" column=\"{}\" time=\"0\">\n",
          escape_xml(finding.code), escape_xml(file), p.line, p.column);
      out += fmt::format("      <failure message=\"{}\" type=\"{}\">line {}, col {}, {}</failure>\n",
                         escape_xml(finding.message), severity_name(finding.severity), p.line, p.column,
                         escape_xml(with_condition(finding)));
      out += "    </testcase>\n";
    }
    out += "  </testsuite>\n";
  }
  if (!report.errors.empty()) {
    out += fmt::format(
        "  <testsuite name=\"errors\" tests=\"{0}\" disabled=\"0\" errors=\"{0}\" failures=\"0\" "
        "package=\"org.fullgraph\">\n",
        report.errors.size());
    for (const Error& error : report.errors) {
      const std::string file = error.where.has_value() ? error.where->file : std::string("fullgraph");
      out += fmt::format(
          "    <testcase name=\"org.fullgraph.error\" classname=\"{}\" time=\"0\">\n"
          "      <error message=\"{}\"/>\n    </testcase>\n",
          escape_xml(file), escape_xml(error.message));
    }
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace fullgraph::reports
