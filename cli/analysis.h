// One look at a set of sources: read, trace, judge, select, suppress.
//
// `check` reports what comes out of it; the fixer asks again with texts that are not on the disk yet.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/profile/profile.h"
#include "analyzer/python/program.h"
#include "analyzer/trace/trace.h"
#include "cli/cxx_sources.h"
#include "cli/discovery.h"
#include "cli/options.h"
#include "cli/recordings.h"
#include "cli/selection.h"
#include "cli/timing.h"
#include "rules/diagnostic.h"

namespace fullgraph::cli {

// What holds for a run as a whole besides its settings.
struct Environment {
  std::vector<std::string> search_path;  // where imports are looked for
  std::vector<std::string> packages;     // the part of it where installed packages are
  const profile::Profile* profile = nullptr;
};

// `base`: the folder of the configuration. Error: no profile for the version of PyTorch.
Result<Environment> environment_for(const Settings& settings, const std::string& base);

// What the settings say to the tracer, but for roots and entries.
trace::Options trace_options(const Settings& settings, unsigned jobs);

struct Findings {
  std::vector<Diagnostic> list;  // sorted by path, position and code
  std::vector<Error> errors;     // what could not be looked at
  std::size_t roots = 0;         // traced
  std::size_t suppressed = 0;
  std::size_t unusual = 0;         // left out
  std::vector<std::string> notes;  // what cannot be seen in the files given, one sentence each
};

class Analysis {
 public:
  // `settings`: of the run as a whole, with the flags on top. All of the arguments outlive the analysis.
  Analysis(const CheckOptions& options, const std::string& working_directory, const Settings& settings,
           const std::vector<SourcePath>& sources, const Environment& environment, Progress& progress, Timing& timing);

  // The texts take the place of what is on the disk; by absolute path.
  using Texts = std::map<std::string, std::string>;
  Findings run(const Texts& texts, unsigned jobs);

  // By the path that reports show; null when it is none of the sources.
  [[nodiscard]] const SourcePath* source(const std::string& shown) const;

 private:
  void load(const Texts& texts, unsigned jobs);
  [[nodiscard]] bool is_large_tree() const;
  void trace(unsigned jobs);
  void add_invalid_sources();
  void keep_linted();
  void look_at_recordings(unsigned jobs);
  void merge_recordings();
  void look_at_cxx_sources(unsigned jobs);
  void merge_cxx();
  void set_elsewhere_apart();
  void leave_out_unusual();
  void drop_fixes_elsewhere(Diagnostic& finding) const;
  const RuleChoice& choice_of(const SourcePath& source);
  bool take(Diagnostic& finding, const RuleChoice& choice) const;
  void select();
  void suppress();
  std::vector<Diagnostic> suppress_in(const ir::Module& module, std::vector<Diagnostic> findings,
                                      std::vector<Diagnostic>& about_comments);
  void sort();

  const CheckOptions& options_;
  const std::string& working_directory_;
  const Settings& settings_;
  const std::vector<SourcePath>& sources_;
  const Environment& environment_;
  Progress& progress_;
  Timing& timing_;
  std::unordered_map<std::string, std::size_t> by_shown_;
  std::map<const Config*, std::unique_ptr<RuleChoice>> choices_;
  std::vector<bool> is_recording_;                    // of each source
  std::optional<std::vector<Recording>> recordings_;  // no repair changes them: looked at once
  std::vector<Error> recording_errors_;
  Texts cxx_texts_;  // that it was looked at with
  std::optional<CxxFindings> cxx_;
  // Of the present run
  std::vector<Diagnostic> elsewhere_;  // in sources that only recordings know of
  Texts texts_;
  std::unique_ptr<python::Program> program_;
  trace::Native native_;
  std::vector<trace::Event> events_;
  Findings found_;
};

}  // namespace fullgraph::cli
