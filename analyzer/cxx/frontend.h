// Clang, run on one source: what it says of errors, and the text that stands for the source.
#pragma once

#include <string>
#include <vector>

#include "analyzer/cxx/compile_command.h"

namespace fullgraph::cxx {

// A range of bytes in a file; `line` and `column` (in bytes) count from 1.
struct FilePlace {
  std::string file;
  unsigned line = 0, column = 0, length = 0;
};

struct CompileError {
  FilePlace where;
  std::string message;
};

struct MappedSpan {
  unsigned begin = 0, end = 0;  // of the text
  FilePlace where;
  bool editable = false;  // no part of it comes out of a macro
};

// See registrations.h.
struct MappedRegistration {
  std::string kind, name, key;
  FilePlace where;
};

struct Document {
  std::string text;
  std::vector<MappedSpan> spans;
  std::vector<MappedRegistration> registrations;
  std::vector<std::string> files;    // of the project, that were read
  std::vector<CompileError> errors;  // in the project's files
  std::size_t errors_elsewhere = 0;  // in headers of others
  bool precompiled = false;          // with a precompiled header
  bool parsed = false;               // Clang got to the end
};

Document read(const Request& request, const CompileCommand& command);

}  // namespace fullgraph::cxx
