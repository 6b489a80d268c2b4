// What a statement is there for, as far as repairs care: may compiled code go without it?
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/ir/ir.h"

namespace fullgraph::rules {

// What the innermost statement around a place is there for, as far as repairs care.
enum class Purpose : std::uint8_t {
  Other,
  Check,    // stops the program when something is wrong: an `assert`, an `if` that does nothing but raise
  Message,  // tells somebody something: print, a logger or warnings, whose result is not used; an `if` around such
};
// Other, too, where what is raised decides how the program goes on (a `try` around it, a `while`, an exception that is
// no error), and where the statement does something on the way: binds a name (`:=`), calls what may change something.
Purpose purpose_of(const ir::Module& module, ir::Span span);

// Does the statement around the place stand under a condition that asks for `training`?
bool is_for_training(const ir::Module& module, ir::Span span);

// The name at the end of what is called; empty when there is none.
std::string_view callee_of(const ir::Module& module, const ir::Expr& call);

// Functions and methods that are known by their name to answer a question and to do nothing else.
bool changes_nothing(std::string_view callee);
// Can the expression be left unevaluated, or be evaluated once more, without anybody noticing?
bool does_nothing(const ir::Module& module, ir::ExprId id);

}  // namespace fullgraph::rules
