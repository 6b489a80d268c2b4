// One look at a set of sources: read, trace, judge, select, suppress.
//
// `check` reports what comes out of it; the fixer asks again with texts that are not on the disk yet.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/profile/profile.h"
#include "analyzer/python/parse.h"
#include "analyzer/python/program.h"
#include "analyzer/trace/session.h"
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
  bool cancelled = false;          // then nothing else of this holds
};

class Analysis {
 public:
  // `settings`: of the run as a whole, with the flags on top. All of the arguments outlive the analysis.
  Analysis(const CheckOptions& options, const std::string& working_directory, const Settings& settings,
           const std::vector<SourcePath>& sources, const Environment& environment, Progress& progress, Timing& timing);

  // The texts take the place of what is on the disk; by absolute path.
  using Texts = std::map<std::string, std::string>;
  Findings run(const Texts& texts, unsigned jobs);

  // For editors, which look again and again: what was traced is kept, and a look at changed texts takes as long as what
  // the change reaches. While a source is no Python any more, its findings are those of its last text that was.
  // `cancelled` is asked now and then.
  void keep(std::function<bool()> cancelled);
  // Only what is in one of these sources, by shown path, is looked for; nothing: all of them.
  void focus(std::optional<std::set<std::string>> shown) { focus_ = std::move(shown); }
  // The same, and what is found elsewhere on the way goes.
  void keep_only(std::optional<std::set<std::string>> shown) {
    focus_ = std::move(shown);
    drop_others_ = focus_.has_value();
  }
  // The file on the disk is not what it was.
  void reread(const std::string& path) { stale_.insert(path); }
  // Other sources than those of `before` are looked at now, or other settings hold: what it has read stays read.
  void take_over(Analysis& before);
  // How many roots the last look traced.
  [[nodiscard]] std::size_t traced_anew() const { return session_ ? session_->traced_anew() : 0; }

  // By the path that reports show; null when it is none of the sources.
  [[nodiscard]] const SourcePath* source(const std::string& shown) const;

 private:
  void load(const Texts& texts, unsigned jobs);
  bool replace_changed(const Texts& texts);
  [[nodiscard]] bool is_of_interest(const ir::Module& module) const;
  [[nodiscard]] bool is_large_tree() const;
  void trace(unsigned jobs);
  void add_invalid_sources();
  void keep_linted();
  void look_at_recordings(unsigned jobs);
  void merge_recordings();
  void look_at_cxx_sources(unsigned jobs);
  void merge_cxx();
  void drop_others();
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
  // For editors
  std::optional<trace::Session> session_;
  std::function<bool()> cancelled_;
  std::optional<std::set<std::string>> focus_;
  bool drop_others_ = false;
  python::KeptTree kept_tree_;                                       // of the file that was edited last
  std::string kept_tree_of_;                                         // its path
  bool reload_ = false;                                              // sources were added or taken away
  std::set<std::string> stale_;                                      // absolute paths
  std::map<std::string, std::shared_ptr<const ir::Module>> broken_;  // texts that are no Python, by absolute path
  // Of the present run
  std::vector<Diagnostic> elsewhere_;  // in sources that only recordings know of
  Texts texts_;
  std::unique_ptr<python::Program> program_;
  trace::Native native_;
  std::vector<trace::Event> events_;
  Findings found_;
};

}  // namespace fullgraph::cli
