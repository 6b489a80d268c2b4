// A report in our own JSON, read back: what `render_json` wrote.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "analyzer/ir/source.h"
#include "reports/report.h"

namespace fullgraph::reports {

// The text of a file by the path that the report shows. Null: it cannot be had; then places keep their lines and
// columns, and nothing can be shown of what stands there.
using SourceReader = std::function<std::shared_ptr<const ir::SourceFile>(const std::string& shown)>;

// Error (Usage): it is no such report, or of another schema. `name`: the file, for the message.
Result<Report> read_json(const std::string& text, const std::string& name, const SourceReader& read);

}  // namespace fullgraph::reports
