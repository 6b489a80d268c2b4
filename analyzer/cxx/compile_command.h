// How a source is compiled, as far as that matters for what it means.
//
// Commands of compilers differ in a hundred flags, each of which would ask for a precompiled header of its own. What is
// kept is what changes the program text: include folders, macros, headers put in front, and the language.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fullgraph::cxx {

struct Request {
  std::string file;      // absolute
  std::string database;  // folder of compile_commands.json; empty: looked for above the file
  std::string torch;     // folder of an installed torch (with include/ in it); empty: none known
  std::string cache;     // folder for precompiled headers; empty: none are used
  std::vector<std::string> extra_arguments;
  // Texts that take the place of what is on the disk: path, and the file that holds the text.
  std::vector<std::pair<std::string, std::string>> overlays;
};

struct CompileCommand {
  std::string directory;
  std::string language;            // "c++", "cuda"
  std::string standard;            // "c++20"
  std::vector<std::string> torch;  // include folders of libtorch; empty: none
  std::vector<std::string> flags;  // everything else, ready for Clang
  bool from_database = false;
};

CompileCommand compile_command_of(const Request& request);

// All arguments in front of the file's name.
std::vector<std::string> arguments_of(const CompileCommand& command);

}  // namespace fullgraph::cxx
