// Configuration files: which one holds for a file, and what it says.
//
// As in ruff, the file in the nearest folder counts and nothing is merged; `extend` names a file to build on. In one
// folder .fullgraph.toml goes before fullgraph.toml before a pyproject.toml with a [tool.fullgraph] table.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/ir/error.h"
#include "cli/settings.h"

namespace fullgraph::cli {

struct Config {
  std::string file;       // absolute; empty: no file
  std::string directory;  // that relative paths belong to
  Settings settings;      // the file's values
};

// Reads one file (what it extends included); its paths are relative to `directory`. Errors carry file and line.
Result<Config> read_config(const std::string& file, const std::string& directory);

// The same for a text, for tests and `--config KEY=VALUE`. `file` is for messages; in a pyproject.toml the table
// [tool.fullgraph] is read.
Result<Settings> parse_config(const std::string& text, const std::string& file, const std::string& directory);

// Finds and remembers the configuration of folders.
class Configs {
 public:
  // `given`: the file of --config, or nothing; `isolated`: no files at all; `working_directory`: where paths given on
  // the command line belong.
  Configs(std::optional<std::string> given, bool isolated, std::string working_directory);

  // The configuration that holds for files in this absolute folder.
  Result<const Config*> find(const std::string& directory);

 private:
  Result<const Config*> look_up(const std::string& directory);
  Result<const Config*> fallback();

  std::optional<std::string> given_;
  bool isolated_;
  std::string working_directory_;
  std::map<std::string, const Config*> by_directory_;
  std::vector<std::unique_ptr<Config>> configs_;
  const Config* fallback_ = nullptr;
};

}  // namespace fullgraph::cli
