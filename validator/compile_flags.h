// How a source is compiled, from the compile_commands.json of its project.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fullgraph::validator {

struct CompileFlags {
  std::string directory;           // where the compiler runs; empty: anywhere
  std::string compiler;            // empty: the default one
  std::vector<std::string> flags;  // include folders, macros, language and code generation; of libtorch's own headers
                                   // nothing, since the module runs in a process with another libtorch
};

// From the nearest compile_commands.json (in a folder above, or in `build` there) that speaks of the file; else empty.
CompileFlags compile_flags_of(const std::string& source);

// "a 'b c' \"d\"" as a shell splits it.
std::vector<std::string> split_command(std::string_view command);

}  // namespace fullgraph::validator
