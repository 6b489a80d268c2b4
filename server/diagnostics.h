// Findings as the protocol has them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/documents.h"
#include "server/transport.h"
#include "server/workspace.h"

namespace fullgraph::server {

// What the client can show.
struct Abilities {
  Encoding encoding = Encoding::Utf16;
  bool related = false;
  bool tags = false;
  bool code_description = false;
};

Json to_json(const Range& range);
std::optional<Position> position_from(const Json& json);
std::optional<Range> range_from(const Json& json);

// One look in the terms of the protocol. A finding of a text that has changed since stands where its text is now.
class Converter {
 public:
  Converter(const Look& look, const Abilities& abilities) : look_(look), abilities_(abilities) {}

  // Nothing: what it is about is no longer there.
  std::optional<Range> range(const Finding& finding);
  std::optional<Json> diagnostic(const Finding& finding);
  std::optional<Json> location(const Finding& finding, const Place& place);
  [[nodiscard]] std::string uri_of(const std::string& path) const;
  Json diagnostics_of(const std::string& path);

 private:
  std::optional<Range> range_in(const std::string& path, const Place& place);
  Json related(const Finding& finding);
  const Look& look_;
  const Abilities& abilities_;
  std::map<const ir::SourceFile*, std::optional<Moved>> moved_;  // of sources with another text than the editor's
};

// The documentation of a finding's rule, and what is special of the finding, in Markdown.
std::string hover_text(const Diagnostic& finding);

}  // namespace fullgraph::server
