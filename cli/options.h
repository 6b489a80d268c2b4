// The command line, parsed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/ir/error.h"
#include "cli/settings.h"
#include "cli/terminal.h"

namespace fullgraph::cli {

// "K/N" on the command line: this run does the Kth of N parts.
struct Shard {
  unsigned number = 1, of = 1;
};

struct CheckOptions {
  std::vector<std::string> paths;          // "-": stdin
  std::optional<std::string> config_file;  // --config FILE
  Settings flags;                          // all flags that are also keys, and --config KEY=VALUE
  bool isolated = false;
  std::optional<std::string> output_file;
  std::optional<std::string> stdin_filename;
  Color color = Color::Auto;
  unsigned jobs = 1;  // threads; `--jobs 0` is resolved to all cores
  bool statistics = false;
  bool exit_zero = false;
  bool exit_non_zero_on_fix = false;
  bool diff = false;   // print the fixes as a patch, write nothing
  unsigned quiet = 0;  // 1: no closing line; 2: nothing but errors
  bool verbose = false;
  bool ignore_noqa = false;
  bool error_on_warning = false;
  bool update_baseline = false;
  bool prune_baseline = false;
  std::optional<std::string> diff_base;  // revision: only findings on lines that changed since
  std::optional<Shard> shard;
  bool show_files = false;
  bool show_settings = false;
  bool timing = false;
  bool no_cache = false;  // accepted; nothing is cached yet
  bool progress = true;
};

struct ValidateOptions;  // validate.h

struct Command {
  enum class Kind {
    Check,
    Validate,
    FixValidated,
    Rule,
    Config,
    Dump,
    Version,
    Clean,
    Merge,
    Server,
    Print
  } kind = Kind::Print;
  CheckOptions check;
  std::shared_ptr<const ValidateOptions> validate;
  std::optional<std::string> rule;  // code or name; nothing: a list
  bool all = false;                 // rule --all
  bool coverage = false;            // rule --coverage
  bool json = false;                // rule, config, version: --output-format json
  std::string file;                 // dump
  std::vector<std::string> files;   // merge
  bool dump_text = false;           // dump --text
  std::string text;                 // Print: --help and --version
};

// Error: kind Usage; the message names the nearest flag, command or value.
Result<Command> parse_command_line(std::vector<std::string> arguments, const std::string& working_directory);

}  // namespace fullgraph::cli
