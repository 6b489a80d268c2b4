// libtorch's headers, parsed once and kept.
//
// They cost some fifteen seconds in each file that includes them. Without the bodies of their functions, which nothing
// here looks into, and written to a precompiled header, they cost less than one. There is one for each installed
// libtorch, language and standard; Clang checks the contents of all headers in it before it is used.
#pragma once

#include <string>

#include "analyzer/cxx/compile_command.h"

namespace fullgraph::cxx {

// The file to use for a command; empty where there is none and none can be made (no cache, no libtorch, errors).
// `anew`: what is there was refused.
std::string precompiled_header_for(const Request& request, const CompileCommand& command, bool anew);

}  // namespace fullgraph::cxx
