// What a validation found out: the one object that the text, JSON and HTML reports are made of.
//
// A case is a model with its inputs. A run is the case in one mode (training, evaluation, decoding; kind of
// checkpointing), measured on the side before and, where there is one, on the side after a change. Everything that is
// optional was not measured when it has no value: a report says so, it never shows a zero instead.
//
// Units: times in seconds, memory in bytes, lines count from 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/error.h"

namespace fullgraph::validator {

enum class CaseKind : std::uint8_t {
  Python,        // --entry, or a case of the configuration
  Transformers,  // --transformers
  Distributed,   // either of them under several processes
  TorchScript,   // an archive
  Exported,      // a .pt2
  Cxx,           // C++ sources
};

enum class FailureKind : std::uint8_t {
  Raised,       // the code raised an exception
  TimedOut,     // it ran over the time limit and was killed
  OutOfMemory,  // it went over the memory limit and was killed
  Killed,       // a signal ended the process
  Exited,       // the process ended itself without a result
  NotStarted,   // the worker could not be started, or does not know what it was asked for
  BadInput,     // an archive or a source that cannot be used
};

// Why there is no result. One of these in a result means exit status 2.
struct Failure {
  FailureKind kind = FailureKind::Raised;
  std::string stage;    // what was being done: "build", "eager", "compile", …; empty: unknown
  std::string message;  // one line, says what to do where that is not evident
  std::string where;    // "file:line" of the user's code; empty: unknown
  std::string output;   // the end of what the process printed; any bytes
};

struct Frame {
  std::string file;  // relative to the folder of the sources, or to site-packages
  unsigned line = 0;
  std::string function;
};

// A graph break as Dynamo reports it.
struct GraphBreak {
  std::string id;           // "GB0206", may be empty
  std::string type;         // Dynamo's name for it
  std::string explanation;  // Dynamo's sentence
  std::string kind;         // "partial" (resumed after it), "rest_eager", "skip_frame"
  std::string file;         // innermost frame of the user's or a library's code
  unsigned line = 0;
  std::string function;
  std::vector<Frame> stack;  // outermost first, up to that frame
  unsigned count = 1;        // how often it was met
  std::string module = {};   // in whose code; empty: the model itself
};

// A module of the model, or several side by side that are alike.
struct ModuleNode {
  std::string name;  // "encoder.layers.0", of the first one; empty: the model itself
  std::string type;  // of its class
  unsigned count = 1;
  unsigned depth = 0;
};

// What Dynamo made of one run.
struct Capture {
  std::vector<GraphBreak> breaks;
  unsigned graphs = 0;                       // captured
  unsigned operators = 0;                    // in all of them
  unsigned never_called = 0;                 // graphs that were compiled and then bypassed whenever their code ran
  unsigned recompiles = 0;                   // frames compiled again since a guard failed
  std::optional<bool> fullgraph;             // does fullgraph=True work?
  std::string fullgraph_error;               // if not, why
  std::vector<std::string> policy_bypassed;  // what a selective checkpoint's policy is asked about in eager mode only
  std::vector<std::string> bypassed;         // where graphs that were never called come from: "file:line function"
};

// Measured several times after warm-up.
struct Duration {
  double median = 0, low = 0, high = 0;  // seconds; low and high are the quartiles
  unsigned runs = 0;
};

struct HookCount {
  std::string kind;        // "forward", "forward_pre", "backward", "backward_pre", "parameter"
  std::string module;      // name of the module or parameter
  std::string place = {};  // "file:line"; of a hook, of its function; empty: unknown
  unsigned calls = 0;
};

struct Gradient {
  std::string name;            // of the parameter
  std::optional<double> norm;  // no value: the parameter got no gradient
};

enum class Equality : std::uint8_t {
  Equal,     // within the tolerance of the dtype
  Differs,   // in values
  Shape,     // in shape, dtype or number
  Lost,      // only the first side has it
  Appeared,  // only the second side has it
};

// One output or gradient of two runs.
struct Compared {
  std::string name;  // "output.logits", "grad feature_extractor.conv_layers.0.conv.weight"
  bool gradient = false;
  Equality equality = Equality::Equal;
  std::optional<double> largest;  // largest absolute difference
  std::optional<double> allowed;  // absolute tolerance where it was largest
};

struct Comparison {
  std::vector<Compared> tensors;    // all that were compared, in the order of the model
  std::string note;                 // why something was not compared; may be empty
  std::vector<std::string> others;  // what is no tensor and differs: hooks that no longer run
};

// One run on one side.
struct Side {
  std::optional<Failure> failure;
  std::string skipped;  // why it was left out (no GPU, say); empty: it was not
  std::optional<Capture> capture;
  std::vector<ModuleNode> modules;           // parents before children; empty: not known, or the callable is no module
  std::vector<Gradient> gradients;           // of the eager run, of all parameters that require one
  std::vector<HookCount> hooks;              // that ran in the eager run; empty also when there are none
  std::vector<HookCount> registered;         // on parameters: "kept", or "lost" since they were replaced
  std::vector<HookCount> checkpoints;        // that were entered: "reentrant", "non-reentrant"
  std::optional<Comparison> compiled;        // compiled against eager
  std::optional<Comparison> single_process;  // several processes against one, both eager
  std::optional<Duration> eager_time, compiled_time;        // forward and, in training, backward
  std::optional<std::uint64_t> peak_memory;                 // bytes; of the device, on a CPU of the process
  std::optional<unsigned> eager_kernels, compiled_kernels;  // launched by one call, on a GPU
  std::vector<std::string> notes;                           // what people should know about the run
};

struct Run {
  std::string mode;           // "train", "eval", "decode"
  std::string checkpointing;  // "none", "non-reentrant", "reentrant"
  Side before;
  std::optional<Side> after;
  std::optional<Comparison> change;  // after against before, both eager
};

enum class Verdict : std::uint8_t {
  Confirmed,   // seen to happen at that place
  NotReached,  // no run reached it, or not under its condition
  Refuted,     // it ran under Dynamo, and did not happen
  NotChecked,  // nothing that is measured shows it
};

// A finding of the linter, held against the runs.
struct FindingVerdict {
  bool after = false;  // of the sources after the change
  std::string code, name, severity, message, file, function, condition, gb_id;
  unsigned line = 0;
  Verdict verdict = Verdict::NotChecked;
  std::string why;                // one sentence
  std::vector<std::string> runs;  // that show it: "train", "train, reentrant"
};

struct Case {
  std::string name;
  CaseKind kind = CaseKind::Python;
  std::string device = "cpu";
  unsigned processes = 1;
  std::vector<Run> runs;
  std::vector<FindingVerdict> findings;
  std::optional<Failure> failure;  // of the case as a whole: there are no runs then
  std::vector<std::string> notes;
};

struct ValidationResult {
  std::string version;        // of fullgraph
  std::string torch, python;  // of the environment that ran; empty: nothing ran
  std::string before, after;  // what the sides are, in words; `after` empty: there is one side
  std::vector<Case> cases;    // sorted by name
  std::vector<Error> errors;  // of the run as a whole
};

// "train" or "train, reentrant": how reports name a run.
std::string title_of(const Run& run);

// The side that counts in the end: after, or before where that is the only one.
const Side& last_side(const Run& run);

// What runs show that is not as it should be, in sentences, without what findings say.
std::vector<std::string> differences_of(const Case& one);

// What makes people look, in sentences; empty: all is well. Of a pair: breaks and differences that only the side after
// has, findings that are confirmed there, differences of the change itself. Of a single side: all breaks and
// differences.
std::vector<std::string> problems_of(const Case& one);

bool has_failure(const Case& one);

// Every run was left out: nothing is known.
bool was_skipped(const Case& one);

// 0 all is well, 1 problems, 2 a failure or an error.
int exit_status_of(const ValidationResult& result);

std::string_view name_of(CaseKind kind);
std::string_view name_of(FailureKind kind);
std::string_view name_of(Equality equality);
std::string_view name_of(Verdict verdict);

}  // namespace fullgraph::validator
