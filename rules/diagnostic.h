// What a rule says: the data of a finding, and the edits that repair it. Reports, the baseline, suppressions and the
// fixer all work on these; they know nothing of rules or events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/ir/source.h"

namespace fullgraph {

enum class Severity : std::uint8_t {
  Error,    // Dynamo breaks whenever the line runs
  Warning,  // it breaks under the stated condition
  Hazard,   // no break, but training or caching goes wrong
  Info,     // about the lint run, or an unusual finding; never fails it
};

// What tells of it.
enum class Evidence : std::uint8_t {
  Static,     // a look at the code
  Confirmed,  // that, and a run that broke there
  RunTime,    // a run alone
};

struct Place {
  std::shared_ptr<const ir::SourceFile> source;
  ir::Span span;
};

// One step of the way from a root to the finding: the place of the call and the function that contains it.
struct PathStep {
  Place place;
  std::string function;  // qualified name of the calling function
};

// How one root gets to the finding: the calls, outermost first.
struct Way {
  std::string root;
  std::vector<PathStep> calls;
};

struct Related {
  Place place;
  std::string message;
};

enum class Applicability : std::uint8_t {
  Safe,     // eager behaviour is unchanged in every mode
  Unsafe,   // a stated change of behaviour
  Display,  // advice, never applied
};

struct Edit {
  Place place;       // the range that is replaced (empty: insertion)
  std::string text;  // "\n" stands for what ends the file's lines
};

// Edits that are applied together or not at all. Of several fixes, equal edits are made once when they replace
// something or insert whole lines (an import); other insertions at one place exclude each other.
struct Fix {
  Applicability applicability = Applicability::Display;
  std::string message;
  std::vector<Edit> edits;
  std::string leaves = {};  // the code of a finding about what the fix leaves to decide; empty: it leaves nothing
};

struct Diagnostic {
  std::string code;  // "FG101"
  std::string name;  // "requires-grad-assignment"
  Severity severity = Severity::Error;
  std::string message;  // one sentence without trailing period
  Place place;
  std::string function;            // qualified name of the enclosing function, may be empty
  std::string condition;           // "training and self._requires_grad"; empty: always
  std::string gb_id;               // "GB0206", empty for hazards
  std::string url;                 // Dynamo's page, else the rule's
  std::vector<std::string> roots;  // qualified names ("pkg.mod.Model.forward"), sorted
  std::vector<PathStep> path;      // outermost first; from one of the roots
  std::vector<Way> ways;  // from each root the shortest, sorted by root; roots whose way is not known are left out
  std::vector<Related> related;
  std::vector<Fix> fixes;  // the best first
  Evidence evidence = Evidence::Static;
  std::string fingerprint =
      {};                // where findings beside it are left out or come from elsewhere; empty: of its own report
  bool unusual = false;  // happens only with an argument against its constructor's default
};

// May the fixer make it, with unsafe fixes or without?
inline bool is_applicable(const Fix& fix, bool unsafe) {
  if (fix.edits.empty()) return false;
  return fix.applicability == Applicability::Safe || (unsafe && fix.applicability == Applicability::Unsafe);
}

inline bool is_fixable(const Diagnostic& finding, bool unsafe) {
  return std::ranges::any_of(finding.fixes, [&](const Fix& fix) { return is_applicable(fix, unsafe); });
}

}  // namespace fullgraph
