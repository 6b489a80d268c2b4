// Comments that suppress findings.
//
//   x.requires_grad = True  # fullgraph: ignore[FG101] the reason       this line, or the statement that ends here
//   # fullgraph: ignore[FG101]                                          on a line of its own: the next statement
//   # fullgraph: ignore-file, # fullgraph: ignore-file[FG2]             the file
//   # fullgraph: disable[FG4] … # fullgraph: enable[FG4]                the lines between
//   # noqa, # noqa: FG101                                               as flake8 and ruff have it
// Without codes: every rule.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/ir.h"
#include "rules/diagnostic.h"

namespace fullgraph::cli {

enum class DirectiveKind : std::uint8_t { Ignore, IgnoreFile, Disable, Enable, Noqa };

struct DirectiveCode {
  std::string text;
  ir::Span span;
  bool known = true;
  bool used = false;
};

// One directive of a comment.
struct Directive {
  DirectiveKind kind = DirectiveKind::Ignore;
  ir::Span span;     // from its '#' to its end (the reason included)
  ir::Span comment;  // the whole comment
  bool own_line = false;
  bool foreign = false;              // a `noqa` that also names codes of other tools
  std::vector<DirectiveCode> codes;  // empty: all rules
  bool used = false;                 // for directives without codes
  // The lines that it covers, inclusive.
  struct Lines {
    unsigned first, last;
  };
  std::vector<Lines> lines;
};

// Could there be directives in this text? A quick look that may be wrong when it says yes.
bool may_direct(std::string_view text);

// The directives of a module, in source order, with their lines worked out.
std::vector<Directive> directives_of(const ir::Module& module);

// Suppresses the findings of one module. `findings` are all in this module; what is left is returned. Marks the
// directives that were needed.
std::vector<Diagnostic> suppress(const ir::Module& module, std::vector<Directive>& directives,
                                 std::vector<Diagnostic> findings);

// FG901 for what suppressed nothing and FG903 for codes that name no rule. `enabled` says whether a rule is reported at
// all: a comment for a rule that is switched off is not called unused.
std::vector<Diagnostic> judge_directives(const ir::Module& module, const std::vector<Directive>& directives,
                                         const std::function<bool(std::string_view code)>& enabled);

}  // namespace fullgraph::cli
