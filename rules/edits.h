// Edits that leave valid Python: what rules make their fixes of.
//
// A rule names a place and what is to happen to the statement there; where statements begin and end, what is on the
// same line, indentation, comments and line ends is settled here. No rule looks at blocks or layout itself. Each
// function gives the edits of one change; none when the change cannot be made there (source that was not understood, a
// statement whose place in the code allows it not): the rule then advises instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/ir.h"
#include "rules/diagnostic.h"

namespace fullgraph::rules {

using Edits = std::vector<Edit>;

// The text of this very place.
Edits replace(const ir::Module& module, ir::Span span, std::string text);

// Whole lines before the innermost statement around `span`. `lines` is without indentation; further lines of it may be
// indented against the first.
Edits insert_before_statement(const ir::Module& module, ir::Span span, std::string_view lines);

// The innermost statement around `span`, with its lines and the comment at its end. When nothing is left in its block:
// the clause goes where that changes nothing else (an `else:`, an `if` without one whose condition does nothing),
// otherwise `pass` stays. A name that only this statement bound is not looked after.
Edits remove_statement(const ir::Module& module, ir::Span span);

// Puts the innermost statement around `span` under `condition`: in front of the test that it consists of or stands
// alone under (`if test:` → `if condition and test:`), else under an `if` of its own.
Edits guard_statement(const ir::Module& module, ir::Span span, std::string_view condition);

// One more argument for the call that is this very place.
Edits add_argument(const ir::Module& module, ir::Span call, std::string_view argument);

// Is the call a statement of its own, so that nobody uses its result?
bool is_call_statement(const ir::Module& module, ir::Span call);
// Does the innermost statement assign just this value, to just this target?
bool is_assignment_of(const ir::Module& module, ir::Span target, std::string_view value);

// How an imported module can be spoken of in a file, and the import if it has none yet.
struct Import {
  std::string name;  // "torch", or what it was imported as
  Edits edits;       // empty: it is imported already
};

// The module `dotted` for use at `use`. Nothing when its name means something else there.
std::optional<Import> ensure_import(const ir::Module& module, std::string_view dotted, ir::Span use);

}  // namespace fullgraph::rules
