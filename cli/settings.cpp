#include "cli/settings.h"

#include <algorithm>
#include <array>

#include "cli/nearest.h"
#include "reports/report.h"
#include "rules/rule.h"

namespace fullgraph::cli {
namespace {

constexpr std::array key_table = {
    Key{"select", KeyType::Strings, "[\"FG\"]", "Rules to report: codes, prefixes of codes, names or ALL"},
    Key{"extend-select", KeyType::Strings, "[]", "Rules to report in addition to `select`"},
    Key{"ignore", KeyType::Strings, "[]", "Rules not to report; the more specific of select and ignore wins"},
    Key{"per-file-ignores", KeyType::StringsTable, "{}", "Rules not to report in files that match a glob"},
    Key{"severity", KeyType::StringTable, "{}", "Severity by rule: error, warning, hazard, info or ignore"},
    Key{"fix", KeyType::Boolean, "false", "Repair what can be repaired"},
    Key{"fix-only", KeyType::Boolean, "false", "Repair and report nothing else; implies `fix`"},
    Key{"unsafe-fixes", KeyType::Boolean, "false",
        "Make fixes that change behaviour, too; false also ends the hint at them"},
    Key{"show-fixes", KeyType::Boolean, "false", "List what was repaired"},
    Key{"unusual", KeyType::Boolean, "false", "Also report what needs an argument against its default"},
    Key{"fixable", KeyType::Strings, "[\"ALL\"]", "Rules whose fixes may be made"},
    Key{"extend-fixable", KeyType::Strings, "[]", "Rules whose fixes may be made in addition to `fixable`"},
    Key{"unfixable", KeyType::Strings, "[]",
        "Rules whose fixes are only shown; the more specific of fixable and unfixable wins"},
    Key{"extend-safe-fixes", KeyType::Strings, "[]", "Rules whose unsafe fixes count as safe"},
    Key{"extend-unsafe-fixes", KeyType::Strings, "[]", "Rules whose safe fixes count as unsafe"},
    Key{"include", KeyType::Strings, "[\"*.py\"]", "Files to look at in folders"},
    Key{"extend-include", KeyType::Strings, "[]", "Files to look at in addition to `include`"},
    Key{"exclude", KeyType::Strings, "[\".git\", \".venv\", \"build\", …]", "Files and folders to leave out"},
    Key{"extend-exclude", KeyType::Strings, "[]", "Files and folders to leave out in addition to `exclude`"},
    Key{"force-exclude", KeyType::Boolean, "false", "Apply exclusions to files that are given by name, too"},
    Key{"respect-gitignore", KeyType::Boolean, "true", "Leave out what git ignores"},
    Key{"roots", KeyType::String, "\"auto\"",
        "What is traced: compiled (functions and modules under torch.compile), "
        "modules (each forward), auto (compiled, or modules if there are none)"},
    Key{"entry", KeyType::Strings, "[]",
        "Functions (FILE:function or pkg.module:function) that return what is compiled"},
    Key{"mode", KeyType::String, "\"any\"", "any, train or eval: findings that need the other mode are dropped"},
    Key{"fullgraph", KeyType::Boolean, "false", "Assume fullgraph=True where a compile call does not say"},
    Key{"torch-version", KeyType::String, "the installed version, else the newest known",
        "Release of PyTorch to predict"},
    Key{"python-path", KeyType::Strings, "[]", "Folders, or virtual environments, in which imports are looked for"},
    Key{"src", KeyType::Strings, "[\".\", \"src\"]", "Folders of own sources, tried before python-path"},
    Key{"compile-commands", KeyType::String, "the nearest", "Folder of the compile_commands.json for C++ sources"},
    Key{"extra-arg", KeyType::Strings, "[]", "Arguments for the compiler of C++ sources, behind all others"},
    Key{"target-version", KeyType::String, "\"3.14\"",
        "Python version of the sources (all supported syntax is accepted)"},
    Key{"baseline", KeyType::String, "none", "File of accepted findings"},
    Key{"output-format", KeyType::String, "\"full\"", "Format of the report"},
    Key{"extend", KeyType::String, "none", "Configuration file whose values hold where this one has none"},
    Key{"required-version", KeyType::String, "none", "Versions of fullgraph that may use this file (\">=0.1,<1\")"},
};

std::unexpected<Error> invalid(std::string message) {
  return std::unexpected(Error{ErrorKind::Configuration, std::move(message), {}});
}

Result<void> one_of(std::string_view key, const std::string& value, const Names& allowed) {
  if (std::ranges::find(allowed, value) != allowed.end()) return {};
  std::string list;
  for (const std::string& name : allowed) list += (list.empty() ? "" : ", ") + name;
  return invalid("`" + value + "` is no value of `" + std::string(key) + "`" + suggestion(value, allowed) +
                 " (one of: " + list + ")");
}

Result<void> check_selectors(const Names& selectors) {
  for (const std::string& selector : selectors) {
    if (auto checked = check_selector(selector); !checked) return checked;
  }
  return {};
}

std::string_view type_name(KeyType type) {
  switch (type) {
    case KeyType::String:
      return "a string";
    case KeyType::Strings:
      return "a list of strings";
    case KeyType::Boolean:
      return "true or false";
    case KeyType::StringsTable:
      return "a table of lists of strings";
    case KeyType::StringTable:
      return "a table of strings";
  }
  return "";
}

bool has_type(const Value& value, KeyType type) {
  switch (type) {
    case KeyType::String:
      return value.text.has_value();
    case KeyType::Strings:
      return value.list.has_value();
    case KeyType::Boolean:
      return value.boolean.has_value();
    case KeyType::StringsTable:
      return !value.boolean && !value.text && !value.list && value.texts.empty();
    case KeyType::StringTable:
      return !value.boolean && !value.text && !value.list && value.table.empty();
  }
  return false;
}

Patterns patterns(const Names& globs, const std::string& base) {
  Patterns out;
  for (const std::string& glob : globs) out.push_back({glob, base});
  return out;
}

Names absolute_paths(const Names& paths, const std::string& base) {
  Names out;
  for (const std::string& path : paths) out.push_back(absolute_path(path, base));
  return out;
}

// The list of selectors that a key sets; null when it is no such key.
Names* selectors_of(Settings& settings, std::string_view name) {
  if (name == "select") return &settings.rules.select.emplace();
  if (name == "extend-select") return &settings.rules.extend_select;
  if (name == "ignore") return &settings.rules.ignore;
  if (name == "fixable") return &settings.fixable.select.emplace();
  if (name == "extend-fixable") return &settings.fixable.extend_select;
  if (name == "unfixable") return &settings.fixable.ignore;
  if (name == "extend-safe-fixes") return &settings.extend_safe_fixes;
  if (name == "extend-unsafe-fixes") return &settings.extend_unsafe_fixes;
  return nullptr;
}

Result<void> set_boolean(Settings& settings, std::string_view name, std::optional<bool> value) {
  if (name == "force-exclude") settings.force_exclude = value;
  if (name == "respect-gitignore") settings.respect_gitignore = value;
  if (name == "fullgraph") settings.fullgraph = value;
  if (name == "fix") settings.fix = value;
  if (name == "fix-only") settings.fix_only = value;
  if (name == "unsafe-fixes") settings.unsafe_fixes = value;
  if (name == "show-fixes") settings.show_fixes = value;
  if (name == "unusual") settings.unusual = value;
  return {};
}

Result<void> set_list(Settings& settings, std::string_view name, Names list, const std::string& base) {
  if (Names* selectors = selectors_of(settings, name); selectors != nullptr) {
    if (auto checked = check_selectors(list); !checked) return checked;
    *selectors = std::move(list);
    return {};
  }
  if (name == "include") settings.include = patterns(list, base);
  if (name == "extend-include") settings.extend_include = patterns(list, base);
  if (name == "exclude") settings.exclude = patterns(list, base);
  if (name == "extend-exclude") settings.extend_exclude = patterns(list, base);
  if (name == "python-path") settings.python_path = absolute_paths(list, base);
  if (name == "src") settings.src = absolute_paths(list, base);
  if (name == "extra-arg") settings.extra_arguments = list;
  if (name == "entry") {
    Names entries;
    for (const std::string& entry : list) {
      auto made = absolute_entry(entry, base);
      if (!made) return std::unexpected(made.error());
      entries.push_back(std::move(*made));
    }
    settings.entry = std::move(entries);
  }
  return {};
}

Result<void> set_text(Settings& settings, std::string_view name, std::string text, const std::string& base) {
  Result<void> checked;
  if (name == "roots") checked = one_of(name, text, {"auto", "compiled", "modules"});
  if (name == "mode") checked = one_of(name, text, {"any", "train", "eval"});
  if (name == "output-format") {
    const auto formats = reports::format_names();
    checked = one_of(name, text, Names(formats.begin(), formats.end()));
  }
  if (!checked) return checked;
  if (name == "roots")
    settings.roots = std::move(text);
  else if (name == "mode")
    settings.mode = std::move(text);
  else if (name == "output-format")
    settings.output_format = std::move(text);
  else if (name == "torch-version")
    settings.torch_version = std::move(text);
  else if (name == "target-version")
    settings.target_version = std::move(text);
  else if (name == "required-version")
    settings.required_version = std::move(text);
  else if (name == "extend")
    settings.extend = absolute_path(text, base);
  else if (name == "baseline")
    settings.baseline = absolute_path(text, base);
  else if (name == "compile-commands")
    settings.compile_commands = absolute_path(text, base);
  return {};
}

Result<void> set_per_file_ignores(Settings& settings, Value value, const std::string& base) {
  settings.per_file_ignores.clear();
  for (auto& [glob, selectors] : value.table) {
    if (auto checked = check_selectors(selectors); !checked) return checked;
    const bool negated = glob.starts_with('!');
    settings.per_file_ignores.push_back({{negated ? glob.substr(1) : glob, base}, negated, std::move(selectors)});
  }
  return {};
}

Result<void> set_severity(Settings& settings, const Value& value) {
  settings.severity.clear();
  for (const auto& [selector, text] : value.texts) {
    if (auto checked = check_selector(selector); !checked) return checked;
    if (auto checked = one_of("severity", text, {"error", "warning", "hazard", "info", "ignore"}); !checked)
      return checked;
    settings.severity[selector] = severity_of(text);
  }
  return {};
}

template <class T>
void take(std::optional<T>& bottom, const std::optional<T>& top) {
  if (top) bottom = top;
}

template <class T>
void take(std::vector<T>& bottom, const std::vector<T>& top) {
  if (!top.empty()) bottom = top;
}

}  // namespace

Result<std::string> absolute_entry(const std::string& entry, const std::string& base) {
  const std::size_t colon = entry.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == entry.size()) {
    return invalid("the entry `" + entry + "` must be FILE:function or pkg.module:function");
  }
  const std::string place = entry.substr(0, colon);
  if (!place.ends_with(".py") && place.find('/') == std::string::npos) return entry;
  return absolute_path(place, base) + entry.substr(colon);
}

std::span<const Key> keys() {
  return key_table;
}

std::optional<Severity> severity_of(std::string_view name) {
  if (name == "error") return Severity::Error;
  if (name == "warning") return Severity::Warning;
  if (name == "hazard") return Severity::Hazard;
  if (name == "info") return Severity::Info;
  return std::nullopt;
}

std::string absolute_path(const std::string& path, const std::string& base) {
  std::filesystem::path out(path);
  if (path == "~" || path.starts_with("~/")) {
    if (const char* home = std::getenv("HOME"); home != nullptr) out = std::string(home) + path.substr(1);
  }
  if (out.is_relative()) out = std::filesystem::path(base) / out;
  std::string text = out.lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

Result<void> check_selector(std::string_view selector) {
  Names known = {"ALL", "FG"};
  for (const rules::Rule* rule : rules::all_rules()) {
    if (rules::matches(selector, rule->info) != 0) return {};
    known.emplace_back(rule->info.code);
    known.emplace_back(rule->info.name);
  }
  if (selector == "ALL" || selector == "FG") return {};
  return invalid("unknown rule `" + std::string(selector) + "`" + suggestion(selector, known));
}

void overlay(Settings& bottom, const Settings& top) {
  take(bottom.rules.select, top.rules.select);
  take(bottom.rules.extend_select, top.rules.extend_select);
  take(bottom.rules.ignore, top.rules.ignore);
  take(bottom.fixable.select, top.fixable.select);
  take(bottom.fixable.extend_select, top.fixable.extend_select);
  take(bottom.fixable.ignore, top.fixable.ignore);
  take(bottom.extend_safe_fixes, top.extend_safe_fixes);
  take(bottom.extend_unsafe_fixes, top.extend_unsafe_fixes);
  take(bottom.fix, top.fix);
  take(bottom.fix_only, top.fix_only);
  take(bottom.unsafe_fixes, top.unsafe_fixes);
  take(bottom.show_fixes, top.show_fixes);
  take(bottom.unusual, top.unusual);
  take(bottom.per_file_ignores, top.per_file_ignores);
  for (const auto& [selector, severity] : top.severity) bottom.severity[selector] = severity;
  take(bottom.include, top.include);
  take(bottom.exclude, top.exclude);
  take(bottom.extend_include, top.extend_include);
  take(bottom.extend_exclude, top.extend_exclude);
  take(bottom.force_exclude, top.force_exclude);
  take(bottom.respect_gitignore, top.respect_gitignore);
  take(bottom.roots, top.roots);
  take(bottom.mode, top.mode);
  take(bottom.torch_version, top.torch_version);
  take(bottom.output_format, top.output_format);
  take(bottom.required_version, top.required_version);
  take(bottom.target_version, top.target_version);
  take(bottom.fullgraph, top.fullgraph);
  take(bottom.entry, top.entry);
  take(bottom.python_path, top.python_path);
  take(bottom.src, top.src);
  take(bottom.baseline, top.baseline);
  take(bottom.compile_commands, top.compile_commands);
  take(bottom.extra_arguments, top.extra_arguments);
  take(bottom.cases, top.cases);
}

Result<void> set(Settings& settings, const Key& key, Value value, const std::string& base) {
  // A single string is accepted where a list is wanted.
  if (key.type == KeyType::Strings && value.text) {
    value.list = Names{*value.text};
    value.text.reset();
  }
  if (!has_type(value, key.type))
    return invalid("`" + std::string(key.name) + "` must be " + std::string(type_name(key.type)));
  switch (key.type) {
    case KeyType::Boolean:
      return set_boolean(settings, key.name, value.boolean);
    case KeyType::String:
      return set_text(settings, key.name, std::move(*value.text), base);
    case KeyType::Strings:
      return set_list(settings, key.name, std::move(*value.list), base);
    case KeyType::StringsTable:
      return set_per_file_ignores(settings, std::move(value), base);
    case KeyType::StringTable:
      return set_severity(settings, value);
  }
  return {};
}

}  // namespace fullgraph::cli
