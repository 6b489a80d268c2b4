// Starts the Python worker (validator/probe), which this program carries, in the interpreter of a project, and reads
// what it found out.
//
// A worker measures all runs of a case on one side. When it is killed, by a limit or by what it runs, the run that was
// being measured has failed, and a new worker goes on with the next one.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ir/error.h"
#include "validator/result.h"
#include "validator/temporary_folder.h"

namespace fullgraph::validator {

struct PythonCase {
  std::string name;
  std::string entry;             // FILE:function or pkg.module:function, or
  std::string transformers;      // a model type
  std::string class_name;        // of transformers; empty: chosen by the type
  std::string config = "{}";     // of transformers: JSON object of values that are not the small ones
  std::string compile = "auto";  // "model": as a whole; "self": as the project does; "auto": self if the project does
  std::vector<std::string> modes = {"train", "eval"};
  std::vector<std::string> checkpointing = {"none"};
  unsigned processes = 1;
};

// Where modules come from.
struct PythonSide {
  std::string name;                   // "before" or "after"
  std::vector<std::string> path;      // first on the module path; files are named from here
  std::vector<std::string> sources;   // folders from which files are named as well
  std::vector<std::string> replaced;  // files that must not be loaded: there is a changed copy in `path`
};

struct PythonPlan {
  std::string interpreter;
  std::string directory;  // where it runs
  std::string device = "auto", backend = "eager";
  unsigned repetitions = 0;
  std::chrono::milliseconds timeout{300'000};
  std::optional<std::uint64_t> memory_limit;
};

// Spans of lines by file, as files are named in reports.
using LinesByFile = std::map<std::string, std::vector<std::pair<unsigned, unsigned>>>;

struct MeasuredRun {
  std::string mode, checkpointing;
  Side side;
  std::optional<Comparison> change;  // against the side before
  LinesByFile executed, traced;      // by the eager call; by Dynamo
};

struct MeasuredSide {
  std::string torch, python, device;  // empty: the worker did not get that far
  std::optional<Failure> failure;     // of all runs
  std::vector<MeasuredRun> runs;
};

// `folder` keeps what the sides are compared by: the side before comes first, and both are measured with one folder.
// Error: nothing can be started, or a signal asked this program to end.
Result<MeasuredSide> measure(const PythonCase& one, const PythonSide& side, const PythonPlan& plan,
                             const TemporaryFolder& folder);

}  // namespace fullgraph::validator
