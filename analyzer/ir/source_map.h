// The way from a text that was written by a program back to the sources of its author.
//
// Graphs are recorded: what they hold was written in some Python file, and most formats remember where. A frontend that
// spells such a graph as Python text says here, for each part of the text, what the graph remembers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fullgraph::ir {

// One place in an author's source file, as the recording machine saw it.
struct Origin {
  std::string file;          // path on that machine
  std::uint32_t line = 0;    // from 1
  std::uint32_t column = 0;  // from 1, in code points; 0: the whole line
  std::string function;      // its name, unqualified; may be empty
  std::string code;          // the line as it was; may be empty
  // What of torch stood between this line and the record of it ("torch/utils/checkpoint.py",
  // "method_descriptor.__bool__"); may be empty
  std::string through = {};
  std::string module = {};  // path of the module whose forward it was ("encoder.layers.0"); may be empty
  friend bool operator==(const Origin&, const Origin&) = default;
};

class SourceMap {
 public:
  // From this byte offset of the text on, until the next one. Offsets grow from call to call.
  void add(std::uint32_t offset, Origin origin);
  void add_unknown(std::uint32_t offset);
  // Null where nothing is remembered.
  [[nodiscard]] const Origin* at(std::uint32_t offset) const;
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  template <class Visit>
  void each(const Visit& visit) const {
    for (const Origin& origin : origins_) visit(origin);
  }

 private:
  struct Row {
    std::uint32_t offset = 0;
    std::uint32_t origin = UINT32_MAX;  // into origins_
  };
  std::vector<Origin> origins_;
  std::vector<Row> rows_;
};

}  // namespace fullgraph::ir
