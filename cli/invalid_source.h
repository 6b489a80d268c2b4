// FG902: findings for what is no Python.
#pragma once

#include "analyzer/ir/ir.h"
#include "analyzer/python/program.h"
#include "rules/diagnostic.h"

namespace fullgraph::cli {

Diagnostic syntax_error(const ir::Module& module, const ir::SyntaxError& error);

// For a file that is no text (not UTF-8, NUL bytes): it is read again with what cannot be shown replaced, so that the
// place can be shown.
Diagnostic unreadable_text(const python::Program::File& file);

// Valid UTF-8 with the same lines and columns: each byte that belongs to no character becomes U+FFFD.
std::string replace_invalid(std::string_view bytes);

}  // namespace fullgraph::cli
