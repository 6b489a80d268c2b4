#include "analyzer/graphs/log_lines.h"

#include <re2/re2.h>

namespace fullgraph::graphs {

// torch/_logging/_internal.py, TorchLogsFormatter. Each line of a message has the prefix.
LogLine log_line(std::string_view line) {
  // Of launchers that run one process for each device ("[default0]:"), and of torch for its rank in front of its own.
  static const re2::RE2 launcher(R"(^((?:\[[a-z]+\d+\]:)+))");
  static const re2::RE2 prefix(
      R"(^[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ (\d+) \S+:\d+\](?: \[[-!\d/_]+\])?(?: \[__\w+\])? ?)");
  static const re2::RE2 older_prefix(
      R"(^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+\](?: \[[-!\d/_]+\])? torch[\w.]*: \[[A-Z]+\] ?)");
  LogLine out;
  re2::StringPiece rest(line.data(), line.size()), part;
  if (line.starts_with('[') && re2::RE2::Consume(&rest, launcher, &part)) out.writer.assign(part.data(), part.size());
  if (re2::RE2::Consume(&rest, prefix, &part)) {
    out.writer.append(part.data(), part.size());
    out.is_torch = true;
  } else {
    out.is_torch = re2::RE2::Consume(&rest, older_prefix);
  }
  out.text = {rest.data(), rest.size()};
  return out;
}

}  // namespace fullgraph::graphs
