// Diagnostics → text in one of the output formats.
//
// A Report is all that a format may say: the same findings, in the same order, whatever the format. Rendering is a pure
// function of it, so that equal inputs give equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/ir/error.h"
#include "rules/diagnostic.h"

namespace fullgraph::reports {

enum class Format : std::uint8_t {
  Full,
  Concise,
  Grouped,
  Json,
  JsonLines,
  Sarif,
  Github,
  Gitlab,
  Junit,
  Pylint,
  Rdjson,
  Html,
};

// The names as `--output-format` takes them, in the order of Format.
std::span<const std::string_view> format_names();
std::optional<Format> format_of(std::string_view name);

// How often findings of a rule were repaired in a file.
struct Repaired {
  std::string file, code, name;
  std::size_t count = 0;
};

struct Report {
  std::string version;        // of fullgraph
  std::string torch_version;  // of the profile
  std::vector<Diagnostic> findings;
  std::vector<Error> errors;
  std::string root;       // absolute folder that relative paths belong to
  std::size_t files = 0;  // linted
  std::size_t roots = 0;  // traced
  std::size_t suppressed = 0;
  std::size_t baselined = 0;
  std::vector<Repaired> repaired;                           // sorted by file and code; not among `findings`
  std::optional<std::pair<unsigned, unsigned>> shard = {};  // which of how many parts of a run; nothing: all of it
};

enum class UnsafeFixes : std::uint8_t {
  Hinted,   // not made, but it is said that there are some
  Ignored,  // not made
  Made,
};

struct Style {
  bool color = false;
  bool hyperlinks = false;  // OSC 8, for terminals
  bool summary = true;      // the closing lines of the text formats
  UnsafeFixes unsafe_fixes = UnsafeFixes::Hinted;
  bool show_fixes = false;  // list what was repaired, before the closing lines
};

std::string render(const Report& report, Format format, const Style& style);

// Counts by rule, most frequent first (`--statistics`). As a table or, for the json formats, an array.
std::string render_statistics(const Report& report, Format format);

// "Fixed 3 findings:" and what they were, by file; `brief`: the first line alone. Nothing when there were none.
std::string render_repaired(const std::vector<Repaired>& repaired, std::string_view verb, bool brief = false);

// "error", "warning", "hazard", "info".
std::string_view severity_name(Severity severity);
// "safe", "unsafe", "display".
std::string_view applicability_name(Applicability applicability);

}  // namespace fullgraph::reports
