// What a run is told: the keys of configuration files, and the same keys given as flags.
//
// Every source of settings (a file, what it extends, `--config KEY=VALUE`, a flag) makes one Settings with only the
// values that it gives; `overlay` puts one on top of another. Rule selections stay apart in layers, because a selector
// on the command line must win over a more specific one in a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/ir/error.h"
#include "rules/diagnostic.h"
#include "validator/python_worker.h"

namespace fullgraph::cli {

using Names = std::vector<std::string>;

// A glob and the folder that it is relative to.
struct Pattern {
  std::string glob;
  std::string base;
};
using Patterns = std::vector<Pattern>;

struct PerFileIgnore {
  Pattern pattern;
  bool negated = false;  // "!glob": for the files that do not match
  Names selectors;
};

// One layer of rule selection.
struct Selection {
  std::optional<Names> select;
  Names extend_select;
  Names ignore;
  [[nodiscard]] bool empty() const { return !select && extend_select.empty() && ignore.empty(); }
};

struct Settings {
  Selection rules;
  Selection fixable;  // whose fixes may be made: fixable, extend-fixable, unfixable
  Names extend_safe_fixes, extend_unsafe_fixes;
  std::optional<bool> fix, fix_only, unsafe_fixes, show_fixes, unusual;
  std::vector<PerFileIgnore> per_file_ignores;
  std::map<std::string, std::optional<Severity>> severity;  // by selector; no value: ignore

  std::optional<Patterns> include, exclude;
  Patterns extend_include, extend_exclude;
  std::optional<bool> force_exclude, respect_gitignore;

  std::optional<std::string> roots, mode, torch_version, output_format, required_version, target_version, extend;
  std::optional<bool> fullgraph;
  std::optional<Names> entry;                   // paths made absolute
  std::optional<Names> python_path;             // absolute
  std::optional<Names> src;                     // absolute
  std::optional<std::string> baseline;          // absolute
  std::optional<std::string> compile_commands;  // absolute
  std::optional<Names> extra_arguments;
  std::vector<validator::PythonCase> cases;  // of `fullgraph validate`
};

// Puts the values that `top` gives over those of `bottom`.
void overlay(Settings& bottom, const Settings& top);

enum class KeyType : std::uint8_t { String, Strings, Boolean, StringsTable, StringTable };

struct Key {
  std::string_view name;
  KeyType type;
  std::string_view default_value;  // as TOML
  std::string_view summary;
};

// All keys, in the order that `fullgraph config` lists them.
std::span<const Key> keys();

// A value of a key, free of any file format.
struct Value {
  std::optional<bool> boolean;
  std::optional<std::string> text;
  std::optional<Names> list;
  std::vector<std::pair<std::string, Names>> table;        // of lists
  std::vector<std::pair<std::string, std::string>> texts;  // table of strings
};

// Sets one key. `base` is the folder that relative paths in the value belong to. The error has no location.
Result<void> set(Settings& settings, const Key& key, Value value, const std::string& base);

// An error when `selector` takes in no rule; names the nearest code or name.
Result<void> check_selector(std::string_view selector);

std::optional<Severity> severity_of(std::string_view name);

// "models/make.py:case" → with an absolute path; "pkg.make:case" stays. Error: it is no entry.
Result<std::string> absolute_entry(const std::string& entry, const std::string& base);

// "a/b.py" under `base`, normalised and absolute.
std::string absolute_path(const std::string& path, const std::string& base);

}  // namespace fullgraph::cli
