// Which lines of which files are not as they were in a revision, for `check --diff-base`.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ir/error.h"
#include "rules/diagnostic.h"

namespace fullgraph::cli {

class ChangedLines {
 public:
  // What the working tree below the repository of `folder` has that the last common ancestor of `revision` and HEAD has
  // not. Error (Usage): no git, no repository, one of another owner, no such revision, no common ancestor.
  static Result<ChangedLines> since(const std::string& revision, const std::string& folder);

  // The hunks of `git diff --unified=0`; paths in it belong to `top`.
  static ChangedLines of_patch(std::string_view patch, const std::string& top);

  // A file, by absolute path, of which git knows and says nothing: none of its lines has changed.
  void add_unchanged(const std::string& path) { lines_.try_emplace(path); }

  // Is a line of the finding's place among them? All lines of a file are that git does not track: it is new, ignored or
  // of another repository. `working_directory`: where shown paths belong.
  [[nodiscard]] bool touch(const Diagnostic& finding, const std::string& working_directory) const;

 private:
  using Range = std::pair<unsigned, unsigned>;       // first and last line
  std::map<std::string, std::vector<Range>> lines_;  // by absolute path
};

}  // namespace fullgraph::cli
