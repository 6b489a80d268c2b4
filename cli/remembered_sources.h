// Author's sources, as far as recordings remember them: the lines that they name, at their numbers, and nothing else.
//
// Reports show such a source like any other, although the file may be on another machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "analyzer/ir/source.h"
#include "analyzer/ir/source_map.h"
#include "rules/diagnostic.h"

namespace fullgraph::cli {

// A line of a source, from this column on; without one (0) or from the first, from where its code begins.
Place place_of_line(std::shared_ptr<const ir::SourceFile> source, std::uint32_t line, std::uint32_t column = 0);

class RememberedSources {
 public:
  explicit RememberedSources(std::string working_directory) : working_directory_(std::move(working_directory)) {}

  // All that will be asked for comes first: a source is made whole.
  void remember(const ir::Origin& origin);
  // Nothing for a line number that no file has.
  std::optional<Place> place_of(const ir::Origin& origin);

 private:
  struct Remembered {
    std::map<std::uint32_t, std::string> lines;
    std::shared_ptr<const ir::SourceFile> source;
  };
  std::string working_directory_;
  std::map<std::string, Remembered> files_;
  std::size_t lines_ = 0;  // of all sources that were made
};

}  // namespace fullgraph::cli
