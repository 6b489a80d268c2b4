// A result as text and as a page for people, and as JSON for programs (docs/validate.md describes it).
#pragma once

#include <string>

#include "validator/result.h"

namespace fullgraph::validator {

std::string render_text(const ValidationResult& result, bool color);
std::string render_json(const ValidationResult& result);
std::string render_html(const ValidationResult& result);

// What render_json wrote, for `--merge`. `file` is for messages.
Result<ValidationResult> read_json(const std::string& text, const std::string& file);

}  // namespace fullgraph::validator
