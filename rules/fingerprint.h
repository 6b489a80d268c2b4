// What makes a finding the same finding after the lines around it have moved.
//
// Code hosts, the baseline and the fixer must recognise a finding in the next version of a file. Line numbers do not
// survive an import added at the top; the path, the code, the enclosing function and the text of the line do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/diagnostic.h"

namespace fullgraph::rules {

// The finding's first line without indentation, trailing blanks and comment, and with runs of blanks as one.
std::string normalised_line(const Diagnostic& diagnostic);

// Path, code, function and normalised line in one text; several findings may have the same.
std::string identity(const Diagnostic& finding);

// 64-bit FNV-1a, in 16 hexadecimal digits.
std::string hash_text(std::string_view text);

// For each finding, in order: a hash of its identity and of how many equal ones precede it.
std::vector<std::string> fingerprints(const std::vector<Diagnostic>& findings);

}  // namespace fullgraph::rules
