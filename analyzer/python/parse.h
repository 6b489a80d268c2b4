// Python source → IR, through tree-sitter. The only place that knows the parser.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/ir/error.h"
#include "analyzer/ir/ir.h"

namespace fullgraph::python {

// Reads a file. Errors: not readable, a directory, larger than 64 MiB, not UTF-8 (names line and column and the
// declared coding if there is one), NUL bytes. `shown` is the path as reports shall print it.
Result<std::shared_ptr<const ir::SourceFile>> read_source(const std::string& path, const std::string& shown);

// Checks a text that did not come from a file (stdin, an editor buffer) in the same way.
Result<std::shared_ptr<const ir::SourceFile>> make_source(std::string text, const std::string& shown);

// How the bytes of a source file stand for text. UTF-8 where nothing else is declared (PEP 263) and known.
enum class Coding : std::uint8_t { Utf8, Latin1, Windows1252 };
Coding coding_of(std::string_view bytes);

// The bytes of `text` in a coding; nothing when it lacks one of the characters. In a single-byte coding each code
// point of a decoded file is one byte of it, those included that decode to U+FFFD.
std::optional<std::string> encode(std::string_view text, Coding coding);

// The parser's own tree of a text, from which an edited version of it is parsed in a fraction of the time. Takes some
// tens of times the memory of the text.
class KeptTree {
 public:
  KeptTree();
  ~KeptTree();
  KeptTree(KeptTree&&) noexcept;
  KeptTree& operator=(KeptTree&&) noexcept;

 private:
  friend class SyntaxTree;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Lowers `source`. Never fails: what cannot be parsed becomes Error nodes and an entry in Module::errors, and
// everything around it is lowered as usual. Nesting deeper than the parser or the lowering can follow is cut with an
// entry in `errors`. `name` is the dotted module name. `kept`: the tree of an earlier version of the text, if there was
// one; becomes that of this one.
std::shared_ptr<const ir::Module> parse(std::shared_ptr<const ir::SourceFile> source, std::string name, bool is_package,
                                        KeptTree* kept = nullptr);

// The same for a text that stands for something recorded. Below any of these modules there may be others.
std::shared_ptr<const ir::Module> parse_recording(std::shared_ptr<const ir::SourceFile> source, std::string name,
                                                  ir::Recording recording, std::shared_ptr<const ir::SourceMap> map);

}  // namespace fullgraph::python
