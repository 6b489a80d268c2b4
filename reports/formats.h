// One function for each family of formats; only render() calls them.
#pragma once

#include <string>
#include <string_view>

#include "reports/report.h"

namespace fullgraph::reports {

std::string render_full(const Report& report, const Style& style);
std::string render_concise(const Report& report, const Style& style);
std::string render_grouped(const Report& report, const Style& style);
std::string render_pylint(const Report& report);
std::string render_json(const Report& report);
std::string render_json_lines(const Report& report);
std::string render_gitlab(const Report& report);
std::string render_rdjson(const Report& report);
std::string render_sarif(const Report& report);
std::string render_github(const Report& report);
std::string render_html(const Report& report);
std::string render_junit(const Report& report);
std::string render_statistics_json(const Report& report);

// "Found 3 findings (2 errors, 1 hazard) in 12 files", and what could be repaired or was.
std::string summary(const Report& report, const Style& style);

// " [*]" behind the code of a finding that the fixer can repair.
std::string_view fix_mark(const Diagnostic& finding, const Style& style);

}  // namespace fullgraph::reports
