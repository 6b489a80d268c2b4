// What the page of a report is made of, as JSON that may stand between <script> tags: findings with their source lines,
// ways and fixes, and tables of what they have in common, so that a report of thousands stays a few megabytes.
#pragma once

#include <string>

#include "reports/report.h"

namespace fullgraph::reports {

std::string page_data(const Report& report);

}  // namespace fullgraph::reports
