// The set of modules that can be seen: those that are linted, and those that they import.
//
// Names are resolved to files the way Python's import system would with the given search path, without running
// anything. Modules are parsed at most once, on first use, from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/error.h"
#include "analyzer/ir/ir.h"

namespace fullgraph::python {

// The dotted module name of a file and the folder that must be on the search path to import it: the first parent
// folder without an __init__.py. ("src/pkg/a/b.py" with pkg and a packages → "pkg.a.b", "src").
struct ModuleName {
  std::string name;
  std::string search_root;
  bool is_package = false;
};
ModuleName module_name_of(const std::string& path);

class Program {
 public:
  // `search_path`: folders tried in order for absolute imports (the linted files' own roots are put in front by
  // `add_file`).
  explicit Program(std::vector<std::string> search_path);
  ~Program();

  struct File {
    std::string path;                          // absolute
    std::string shown;                         // as reports print it
    std::shared_ptr<const ir::Module> module;  // null when unreadable, or when nothing has needed it (see `load`)
    bool readable = true;
    Error error;  // why, when unreadable
  };

  // Registers files to be linted and reads them with `jobs` threads. A text given for a path replaces the file's
  // content (stdin, editor buffers, repaired sources), a module of an earlier program saves reading it again. Those
  // that are required, and those whose text `wanted` accepts, are parsed at once; the others when something imports
  // them, if ever: parsing is the most of what a run over a large tree costs. Order of the result is the order of
  // `inputs`.
  struct Input {
    std::string path;
    std::string shown;
    const std::string* text = nullptr;
    bool required = true;
    std::shared_ptr<const ir::Module> module = nullptr;
  };
  using Wanted = std::function<bool(std::string_view text)>;
  const std::vector<File>& load(const std::vector<Input>& inputs, unsigned jobs, const Wanted& wanted = {});
  [[nodiscard]] const std::vector<File>& files() const;

  // Puts another module in the place of a file's, for all who ask from now on: an edited source. False when `load` read
  // no such file. Not while other threads use the program.
  bool replace(const std::string& path, std::shared_ptr<const ir::Module> module);

  // Finds and parses the module with this absolute dotted name; null when there is none in the search path or it
  // cannot be read. Thread-safe; the result lives as long as the Program. Names whose first component is in
  // `set_opaque` (torch, numpy, …) are never looked for.
  const ir::Module* find(std::string_view dotted);
  void set_opaque(std::vector<std::string> packages);

  // The names that `find` was asked for the first time since the last call.
  std::vector<std::string> take_asked();

  // Is there a folder without __init__.py (namespace package) or a package of that name?
  bool is_package(std::string_view dotted);

  // Is there a module below this name among the files of `load`?
  [[nodiscard]] bool holds_below(std::string_view dotted) const;

  // "a.b", level 1, name "c" from module m → absolute name ("pkg.a.b.c"-style parent resolution of relative imports);
  // empty when the level leaves the package.
  static std::string absolute_name(const ir::Module& from, std::string_view module, unsigned level);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fullgraph::python
