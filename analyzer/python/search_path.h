// Dotted module names → files, the way Python's path finder looks for them, without running anything.
#pragma once

#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace fullgraph::python {

class SearchPath {
 public:
  enum class Kind { None, File, Package, Namespace };
  struct Location {
    Kind kind = Kind::None;
    std::string file;                  // of a module or of a package's __init__.py
    std::vector<std::string> folders;  // where submodules are looked for
  };

  // Not to be called while other threads look for names.
  void set_roots(std::vector<std::string> roots);

  // Thread-safe; the answer (also "there is none") is kept. The reference stays valid until `set_roots`.
  const Location& locate(std::string_view dotted);

 private:
  // The entries of a folder, read once: looking for a name in many roots must not cost a system call for each.
  struct Listing {
    std::unordered_set<std::string> files;
    std::unordered_set<std::string> folders;
  };

  const Listing& listing(const std::string& folder);
  Location find_in(const std::vector<std::string>& folders, const std::string& name);
  const Location& locate_locked(const std::string& dotted);

  std::shared_mutex mutex_;
  std::vector<std::string> roots_;
  std::unordered_map<std::string, Location> locations_;
  std::unordered_map<std::string, Listing> listings_;
};

}  // namespace fullgraph::python
