// A report as one page: complete in itself, quick with thousands of findings since its script (reports/page/) draws
// what is looked at, and a plain table where no script runs.
#include <fmt/format.h>

#include "page/document.h"
#include "page/foreign_text.h"
#include "reports/formats.h"
#include "reports/page_data.h"
#include "reports/position.h"

namespace fullgraph::embedded {
extern const std::string_view report_style;
extern const std::string_view report_body;
extern const std::string_view report_data_script;
extern const std::string_view report_details_script;
extern const std::string_view report_list_script;
extern const std::string_view report_tree_script;
extern const std::string_view report_facets_script;
extern const std::string_view report_main_script;
}  // namespace fullgraph::embedded

namespace fullgraph::reports {
namespace {

using page::escaped;

std::string table_without_script(const Report& report) {
  std::string out = fmt::format(
      "<noscript><main><h1>fullgraph: {} finding{}</h1><p class=quiet>With JavaScript, this page shows their sources, "
      "ways and fixes.</p><div class=scroll><table><tr><th>Place<th>Rule<th>Finding",
      report.findings.size(), report.findings.size() == 1 ? "" : "s");
  for (const Error& error : report.errors) {
    out +=
        fmt::format("<tr><td>{}<td>error<td>{}", escaped(error.where ? error.where->file : ""), escaped(error.message));
  }
  for (const Diagnostic& finding : report.findings) {
    const Position at = position_of(finding.place);
    out += fmt::format("<tr><td>{}:{}<td>{} {}<td>{}{}", escaped(at.file), at.line, escaped(finding.code),
                       severity_name(finding.severity), escaped(finding.message),
                       finding.condition.empty() ? "" : escaped(" (when " + finding.condition + ")"));
  }
  return out + "</table></div></main></noscript>";
}

}  // namespace

std::string render_html(const Report& report) {
  const std::string body = table_without_script(report) + std::string(embedded::report_body) +
                           "<script type=\"application/json\" id=data>" + page_data(report) + "</script>";
  const std::string title =
      fmt::format("fullgraph: {} finding{}", report.findings.size(), report.findings.size() == 1 ? "" : "s");
  return page::document(
      {.title = title,
       .style = embedded::report_style,
       .body = body,
       .scripts = {embedded::report_data_script, embedded::report_details_script, embedded::report_list_script,
                   embedded::report_tree_script, embedded::report_facets_script, embedded::report_main_script}});
}

}  // namespace fullgraph::reports
