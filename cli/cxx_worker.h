// `fullgraph-clang`, the program that reads C++ sources: where it is, and what it says of one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ir/error.h"
#include "validator/temporary_folder.h"

namespace fullgraph::cli {

// A range of bytes in one of the document's files.
struct CxxPlace {
  std::size_t file = 0;
  std::uint32_t line = 0, column = 0, length = 0;  // line and column, in bytes, from 1
};

struct CxxSpan {
  std::uint32_t begin = 0, end = 0;  // of the text
  CxxPlace where;
  bool editable = false;  // it stands there as such: no macro has made a part of it
};

struct CxxError {
  CxxPlace where;
  std::string message;
};

struct CxxNamed {
  std::string kind, name, key;  // see CxxRegistration
  CxxPlace where;
};

// What stands for a source and the headers of its project.
struct CxxDocument {
  std::string text;
  std::vector<CxxSpan> spans;
  std::vector<CxxNamed> registrations;
  std::vector<std::string> files;
  std::vector<CxxError> errors;      // in these files
  std::size_t errors_elsewhere = 0;  // in headers of others
  bool found_libtorch = false;
  bool from_database = false;  // compiled as a compile_commands.json says
};

// Texts that take the place of what is on the disk, by absolute path.
using CxxTexts = std::map<std::string, std::string>;

struct CxxCompiler {
  std::string torch;     // folder of an installed torch; empty: none
  std::string database;  // folder of a compile_commands.json; empty: the nearest to each source
  std::vector<std::string> extra_arguments;
};

class CxxWorker {
 public:
  // $FULLGRAPH_CLANG, beside this program, or in PATH. Error: nowhere; the message says how to get it.
  static Result<CxxWorker> find(CxxCompiler compiler);

  // From now on. Error: they cannot be written where the worker finds them.
  Result<void> replace(const CxxTexts& texts);
  [[nodiscard]] Result<CxxDocument> read(const std::string& path) const;

 private:
  CxxWorker(std::string program, CxxCompiler compiler) : program_(std::move(program)), compiler_(std::move(compiler)) {}
  std::string program_;
  CxxCompiler compiler_;
  std::optional<validator::TemporaryFolder> texts_;
  std::vector<std::pair<std::string, std::string>> overlays_;  // path, file with its text
};

}  // namespace fullgraph::cli
