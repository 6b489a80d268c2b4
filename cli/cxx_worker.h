// `fullgraph-clang`, the program that reads C++ sources: where it is, and what it says of one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ir/error.h"

namespace fullgraph::cli {

// A range of bytes in one of the document's files.
struct CxxPlace {
  std::size_t file = 0;
  std::uint32_t line = 0, column = 0, length = 0;  // line and column, in bytes, from 1
};

struct CxxSpan {
  std::uint32_t begin = 0, end = 0;  // of the text
  CxxPlace where;
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
};

class CxxWorker {
 public:
  // $FULLGRAPH_CLANG, beside this program, or in PATH. Error: nowhere; the message says how to get it.
  // `torch`: folder of an installed torch; empty: none.
  static Result<CxxWorker> find(std::string torch);

  [[nodiscard]] Result<CxxDocument> read(const std::string& path) const;

 private:
  CxxWorker(std::string program, std::string torch) : program_(std::move(program)), torch_(std::move(torch)) {}
  std::string program_;
  std::string torch_;
};

}  // namespace fullgraph::cli
