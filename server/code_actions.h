// What can be done about findings: their fixes, all safe fixes of a file, a comment that suppresses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/diagnostics.h"

namespace fullgraph::server {

constexpr std::string_view fix_all_kind = "source.fixAll.fullgraph";

struct ActionRequest {
  std::string path;
  Range range;
  std::vector<std::string> only;  // kinds; empty: all
  bool fix_all = true;            // … may be offered
  bool suppressions = true;
  bool document_changes = false;  // the client knows versioned edits
  bool preferred = false;         // … and which action is the preferred one
};

// Is an action of this kind among those that were asked for?
bool is_wanted(const std::vector<std::string>& only, std::string_view kind);

// Quick fixes for the findings on the lines of the range. None when the text is not the one that was looked at.
Json quick_fixes(const Look& look, const Abilities& abilities, const ActionRequest& request);

// Repairs as a WorkspaceEdit.
Json edit_of(const Repairs& repairs, const Look& look, const Abilities& abilities, bool document_changes);

// The edit that suppresses a finding on its line.
Edit suppression_of(const Diagnostic& finding);

}  // namespace fullgraph::server
