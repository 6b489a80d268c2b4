// Errors as values: what a user must know when an input, a flag or a file is not usable.
#pragma once

#include <expected>
#include <optional>
#include <string>

namespace fullgraph {

enum class ErrorKind { Usage, Configuration, Io, Encoding, TooLarge, Syntax, Interrupted, Internal };

// Where an error is; line and column count from 1, 0 means unknown.
struct ErrorLocation {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

// `message` says what is wrong and, where that is not evident, what to do. No trailing period or newline.
struct Error {
  ErrorKind kind = ErrorKind::Internal;
  std::string message;
  std::optional<ErrorLocation> where;
};

template <class T>
using Result = std::expected<T, Error>;

}  // namespace fullgraph
