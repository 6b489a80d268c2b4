// What ends a request: a message for the user, who can do something about it.
//
// libtorch reports everything by exceptions, so inside of this program exceptions it is; main.cpp is the wall where
// they become a result that `fullgraph` reads.
#pragma once

#include <stdexcept>
#include <string>

namespace fullgraph::libtorch {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Nothing is wrong, but it cannot be done here: no such device.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The message without the frames of libtorch's own stack, which some of its exceptions carry in their text.
std::string message_of(const std::exception& error);

}  // namespace fullgraph::libtorch
