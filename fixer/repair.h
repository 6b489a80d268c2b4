// The fixer: makes fixes in memory, round by round, and keeps those that hold.
//
// A round takes the fixes that go together (merge.h), makes them, and asks for the findings of the changed sources. A
// fix that does not remove its finding, adds one, or is no Python any more is a bug of that fix: all of its edits are
// taken back and it is not tried again. Usually one look at the sources confirms a whole round; when there are
// complaints, the suspects are set aside, what remains is confirmed, and the suspects are tried in halves. So the
// number of looks grows with the number of bad fixes, not of fixes. From the first complaint on looks are careful, and
// the one before the fixes is repeated: no fix shall be blamed for what depends on how threads took turns.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyzer/ir/error.h"
#include "rules/diagnostic.h"

namespace fullgraph::fixer {

// Bytes by the path that reports show.
using Texts = std::map<std::string, std::string>;

struct Request {
  bool unsafe = false;  // unsafe fixes, too
  unsigned most_rounds = 10;
  unsigned most_looks = 40;  // at the sources, over all rounds
  // The bytes of a file as it is now.
  std::function<Result<std::string>(const std::string& file)> read;
  // Files that the Python parser has no say in; none when empty.
  std::function<bool(const std::string& file)> is_foreign;
  // All findings of the sources with these files changed, sorted. `careful`: equal sources give equal findings,
  // whatever it costs.
  std::function<std::vector<Diagnostic>(const Texts& changed, bool careful)> look;
  // Of all findings those that are to be repaired; all when empty.
  std::function<std::vector<Diagnostic>(const std::vector<Diagnostic>& findings)> wanted;
  // Findings that may appear without a fix being at fault.
  std::function<bool(const Diagnostic&)> may_follow;
};

struct Repaired {
  std::string file, code, name;
};

struct RolledBack {
  std::string file;
  unsigned line = 0;
  std::string code, why;
};

struct Outcome {
  Texts before, after;               // of the files that changed
  std::vector<Diagnostic> findings;  // of the sources as they are now
  std::vector<Repaired> repaired;    // one for each finding
  std::vector<RolledBack> rolled_back;
  bool settled = true;  // false: rounds or looks ran out while there still were fixes to make
};

// Error: a file that cannot be read, or that is not any more what `findings` are about.
Result<Outcome> repair(std::vector<Diagnostic> findings, const Request& request);

}  // namespace fullgraph::fixer
