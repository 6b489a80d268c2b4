// Edits into the bytes of one file. What no edit covers stays byte for byte: line ends, byte order mark, coding, a last
// line without end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/error.h"
#include "rules/diagnostic.h"

namespace fullgraph::fixer {

// The text of an edit, with what ends the lines around it in the place of line feeds.
std::string with_line_ends(std::string_view text, std::string_view line_end);

// `bytes` are the file's, `source` the text that it was read as, to which the edits refer. They do not overlap; equal
// ones are made once. Line feeds of an edit's text become what ends the lines around it. Error: a character that the
// file's coding lacks, or a declared coding that the edits would change.
Result<std::string> apply(const std::string& bytes, const ir::SourceFile& source, std::vector<const Edit*> edits);

}  // namespace fullgraph::fixer
