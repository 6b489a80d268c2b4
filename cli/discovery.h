// From the paths on the command line to the files that are linted.
//
// Folders are listed by git where they are in a repository, which knows best what is ignored, and walked otherwise.
// Virtual environments and the usual folders of build products are left out, symbolic links to folders are not
// followed.
#pragma once

#include <string>
#include <vector>

#include "analyzer/ir/error.h"
#include "cli/config.h"
#include "cli/settings.h"

namespace fullgraph::cli {

struct SourcePath {
  std::string path;   // absolute
  std::string shown;  // relative to the working directory when below it
  const Config* config = nullptr;
  bool given = false;        // by name on the command line
  bool only_logged = false;  // looked at for what a log tells of it, and for nothing else
};

struct Discovered {
  std::vector<SourcePath> files;  // sorted by path, each once
  std::vector<Error> errors;      // paths that do not exist, folders that cannot be read
};

// `flags`: settings of the command line, which win over the files'. Error: a configuration that cannot be used.
Result<Discovered> discover(const std::vector<std::string>& paths, const std::string& working_directory,
                            Configs& configs, const Settings& flags);

// Would this absolute path be excluded under `settings`, by itself or by a folder between it and `top`?
bool excluded(const std::string& path, const Settings& settings, const std::string& top);

// The path as reports print it.
std::string shown_path(const std::string& path, const std::string& working_directory);

}  // namespace fullgraph::cli
