// Which of the fixes on offer are made together.
//
// A fix is a group of edits, all of them or none, perhaps across files. Two fixes whose edits touch exclude each other;
// the one whose finding comes first (by file, position and code) is taken, the other waits for the next round, in which
// it is offered anew for the changed text.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "rules/diagnostic.h"

namespace fullgraph::fixer {

// A fix of one finding.
struct Offer {
  std::size_t finding = 0;  // index
  const Fix* fix = nullptr;
};

// A fix that is made, with all findings that offer it.
struct Chosen {
  std::vector<Offer> offers;
  [[nodiscard]] const Fix& fix() const { return *offers.front().fix; }
};

struct Flawed {
  Offer offer;
  std::string why;
};

struct Merged {
  std::vector<Chosen> fixes;
  std::vector<Flawed> flawed;  // fixes that cannot be right: edits out of bounds or over each other
  bool waiting = false;        // some must wait for the next round
};

// `findings` are sorted. Of the fixes of one, the first is taken to which `skip` does not say no.
using Skip = std::function<bool(const Diagnostic&, const Fix&)>;
Merged merge(const std::vector<Diagnostic>& findings, bool unsafe, const Skip& skip = {});

// The file that an edit changes, as reports show it.
const std::string& file_of(const Edit& edit);

}  // namespace fullgraph::fixer
