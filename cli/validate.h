// `fullgraph validate`: runs what the user names, and says what is true of it. Nothing else in this program runs
// anybody's code.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/options.h"
#include "validator/result.h"

namespace fullgraph::cli {

struct ValidateOptions {
  // What is run. Archives and C++ sources are named as paths, Python models by --entry, --transformers or the
  // configuration.
  std::vector<std::string> paths;
  std::vector<std::string> entries, transformers;
  std::vector<std::string> only;    // names of cases of the configuration
  std::vector<std::string> inputs;  // of archives: "f32[2,16000]" or a file of tensors
  std::string module;               // of C++ sources: the expression that makes the module, "Net(16)"
  std::vector<std::string> link;    // of C++ sources: libraries besides libtorch

  // What is compared.
  std::optional<std::string> before, after;  // folders, absolute
  std::optional<std::string> patch;          // file, absolute
  bool fix = false, unsafe_fixes = false;

  // How it is run.
  std::vector<std::string> modes, checkpointing;  // empty: the case's own
  std::string device = "auto";
  std::string backend = "eager";
  unsigned processes = 0;    // 0: the case's own
  unsigned repetitions = 5;  // of what is timed; 0: nothing is
  std::chrono::milliseconds timeout{300'000};
  std::optional<std::uint64_t> memory_limit;  // bytes; none: half of the machine's
  std::optional<std::string> python;          // the interpreter
  Shard shard;
  bool list = false;  // print the cases and stop

  // What comes out.
  std::vector<std::string> merge;          // result files to join; nothing is run then
  std::string format = "text";             // text, json, html
  std::optional<std::string> output_file;  // absolute
  CheckOptions check;                      // rules, configuration, baseline, colours of the linter that runs beside
};

int validate(const ValidateOptions& options, const std::string& working_directory);

// Runs a command that can be interrupted: what it started is put away before this process ends as the signal asks.
int interruptible(const std::function<Result<int>()>& command);

// In bytes: what is asked for, else half of the machine's memory.
std::uint64_t memory_limit_of(const ValidateOptions& options);

// Prints or writes the result, and says with which status to end.
int deliver(const validator::ValidationResult& result, const ValidateOptions& options);

}  // namespace fullgraph::cli
