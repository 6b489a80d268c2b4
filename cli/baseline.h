// Findings that were accepted once: a file of them, against which later runs are compared.
//
// A finding is known by path, code, enclosing function and normalised line, each with a count; line numbers are not
// kept, so that a file may grow above a finding.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyzer/ir/error.h"
#include "rules/diagnostic.h"

namespace fullgraph::cli {

class Baseline {
 public:
  struct Entry {
    unsigned count = 0;
    std::string text;  // the line, for people who read the file
  };
  // path, code, function, hash of the normalised line
  using Identity = std::tuple<std::string, std::string, std::string, std::string>;

  // `base`: absolute folder that paths in the file are relative to (the baseline file's own folder).
  explicit Baseline(std::string base) : base_(std::move(base)) {}

  static Result<Baseline> read(const std::string& file);
  // Not a JSON object of the known form: an error. `file` is for messages.
  static Result<Baseline> parse(const std::string& text, const std::string& file);
  [[nodiscard]] std::string to_json() const;

  // `working_directory`: where the shown paths of the findings belong.
  void add(const Diagnostic& finding, const std::string& working_directory);

  // One accepted finding less of this kind, if there are any.
  void remove(const Diagnostic& finding, const std::string& working_directory);

  // Takes away the findings that the baseline has, each entry at most `count` times. What was matched is remembered.
  std::vector<Diagnostic> filter(std::vector<Diagnostic> findings, const std::string& working_directory);

  // How many accepted findings of files in `checked` (absolute path) did not turn up, and without them.
  [[nodiscard]] std::size_t stale(const std::function<bool(const std::string&)>& checked) const;
  void prune(const std::function<bool(const std::string&)>& checked);
  // Drops all entries of these files.
  void drop(const std::function<bool(const std::string&)>& checked);

  [[nodiscard]] std::size_t size() const;

 private:
  [[nodiscard]] Identity identity(const Diagnostic& finding, const std::string& working_directory) const;
  [[nodiscard]] std::string absolute(const Identity& identity) const;

  std::string base_;
  std::map<Identity, Entry> entries_;
  std::map<Identity, unsigned> matched_;
};

}  // namespace fullgraph::cli
