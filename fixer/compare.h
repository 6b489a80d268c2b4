// Did the fixes do what they promise? The findings before them against the findings after them.
//
// Findings are recognised by file, code, function and text of their line (rules/fingerprint.h), so that those that only
// moved count as the same. A finding on a line that a fix has changed may have another text afterwards.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fixer/merge.h"
#include "rules/diagnostic.h"

namespace fullgraph::fixer {

struct Complaint {
  std::vector<std::size_t> suspects;  // positions in `fixes`, of which at least one is to blame; never empty
  std::string why;                    // "it adds FG402 at model.py:12"
};

// `fixes` were made, all of them, to repair some of `candidates`; `before` and `after` are all findings. `may_follow`:
// findings that are no fix's fault.
std::vector<Complaint> compare(const std::vector<Diagnostic>& before, const std::vector<Diagnostic>& after,
                               const std::vector<Diagnostic>& candidates, const std::vector<const Chosen*>& fixes,
                               const std::function<bool(const Diagnostic&)>& may_follow);

}  // namespace fullgraph::fixer
