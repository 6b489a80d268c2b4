#include "cli/config.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "cli/nearest.h"

namespace fullgraph::cli {
namespace {

namespace fs = std::filesystem;

constexpr unsigned deepest_extend = 16;

std::unexpected<Error> fail(std::string message, const std::string& file, unsigned line = 0, unsigned column = 0) {
  return std::unexpected(Error{ErrorKind::Configuration, std::move(message), ErrorLocation{file, line, column}});
}

unsigned line_of(const toml::node& node) {
  return static_cast<unsigned>(node.source().begin.line);
}

std::optional<Names> strings_of(const toml::node& node) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return std::nullopt;
  Names out;
  for (const toml::node& item : *array) {
    const auto text = item.value_exact<std::string>();
    if (!text) return std::nullopt;
    out.push_back(*text);
  }
  return out;
}

Value value_of(const toml::node& node) {
  Value out;
  out.boolean = node.value_exact<bool>();
  out.text = node.value_exact<std::string>();
  out.list = strings_of(node);
  if (const toml::table* table = node.as_table()) {
    for (const auto& [key, entry] : *table) {
      if (auto list = strings_of(entry)) {
        out.table.emplace_back(std::string(key.str()), std::move(*list));
      } else {
        out.texts.emplace_back(std::string(key.str()), entry.value_exact<std::string>().value_or(""));
      }
    }
  }
  return out;
}

class Reader {
 public:
  Reader(Settings& settings, const std::string& file, const std::string& directory)
      : settings_(settings), file_(file), directory_(directory) {}

  Result<void> table(const toml::table& table, bool nested = false) {
    for (const auto& [name, node] : table) {
      if (name.str() == "lint" && !nested && node.is_table()) {
        if (auto read = this->table(*node.as_table(), true); !read) return read;
        continue;
      }
      if (name.str() == "case" && !nested && node.is_array_of_tables()) {
        for (const toml::node& one : *node.as_array()) {
          if (auto read = validation_case(*one.as_table()); !read) return read;
        }
        continue;
      }
      if (auto read = entry(std::string(name.str()), node, static_cast<unsigned>(name.source().begin.line)); !read)
        return read;
    }
    return {};
  }

 private:
  Result<void> entry(const std::string& name, const toml::node& node, unsigned line) {
    const auto known = std::ranges::find(keys(), name, &Key::name);
    if (known == keys().end()) {
      Names names;
      for (const Key& key : keys()) names.emplace_back(key.name);
      return fail("unknown key `" + name + "`" + suggestion(name, names), file_, line);
    }
    if (auto done = set(settings_, *known, value_of(node), directory_); !done) {
      return fail(done.error().message, file_, error_line(*known, node, line, done.error().message));
    }
    return {};
  }

  // [[tool.fullgraph.case]]: a model for `fullgraph validate`.
  Result<void> validation_case(const toml::table& table) {
    validator::PythonCase out;
    const std::map<std::string_view, std::string*> texts = {{"name", &out.name},
                                                            {"entry", &out.entry},
                                                            {"transformers", &out.transformers},
                                                            {"class", &out.class_name},
                                                            {"compile", &out.compile}};
    const std::map<std::string_view, Names*> lists = {{"modes", &out.modes}, {"checkpointing", &out.checkpointing}};
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      const auto wrong = [&](const char* what) {
        return fail("`" + name + "` of a case must be " + what, file_, static_cast<unsigned>(key.source().begin.line));
      };
      if (const auto text = texts.find(name); text != texts.end()) {
        const auto value = node.value_exact<std::string>();
        if (!value) return wrong("a string");
        *text->second = *value;
      } else if (const auto list = lists.find(name); list != lists.end()) {
        const auto value = strings_of(node);
        if (!value || value->empty()) return wrong("a list of strings");
        *list->second = *value;
      } else if (name == "processes") {
        const auto value = node.value_exact<std::int64_t>();
        if (!value || *value < 1 || *value > 1024) return wrong("a number of processes");
        out.processes = static_cast<unsigned>(*value);
      } else if (name == "config") {
        if (!node.is_table()) return wrong("a table");
        std::ostringstream json;
        json << toml::json_formatter{*node.as_table()};
        out.config = json.str();
      } else {
        const Names known = {"name",    "entry", "transformers",  "class",    "config",
                             "compile", "modes", "checkpointing", "processes"};
        return fail("unknown key `" + name + "` of a case" + suggestion(name, known), file_,
                    static_cast<unsigned>(key.source().begin.line));
      }
    }
    return add_case(std::move(out), line_of(table));
  }

  Result<void> add_case(validator::PythonCase out, unsigned line) {
    if (out.entry.empty() == out.transformers.empty())
      return fail("a case has either `entry` or `transformers`", file_, line);
    if (!out.entry.empty()) {
      auto entry = absolute_entry(out.entry, directory_);
      if (!entry) return fail(entry.error().message, file_, line);
      out.entry = std::move(*entry);
    }
    if (out.name.empty()) out.name = out.entry.empty() ? out.transformers : out.entry;
    const auto same = [&](const validator::PythonCase& other) { return other.name == out.name; };
    if (std::ranges::any_of(settings_.cases, same))
      return fail("there are two cases of the name `" + out.name + "`", file_, line);
    if (out.compile != "auto" && out.compile != "self" && out.compile != "model")
      return fail("`compile` of a case must be auto, self or model", file_, line);
    settings_.cases.push_back(std::move(out));
    return {};
  }

  // The line of the list item that the message is about, for lists that span lines.
  unsigned error_line(const Key&, const toml::node& node, unsigned line, const std::string& message) const {
    unsigned out = line;
    const auto look = [&](const toml::node& item) {
      if (const auto text = item.value_exact<std::string>();
          text && message.find("`" + *text + "`") != std::string::npos) {
        out = line_of(item);
      }
    };
    const auto look_in = [&](const toml::node& item) {
      look(item);
      if (const toml::array* array = item.as_array()) {
        for (const toml::node& child : *array) look(child);
      }
    };
    look_in(node);
    if (const toml::table* table = node.as_table()) {
      for (const auto& [key, child] : *table) {
        if (message.find("`" + std::string(key.str()) + "`") != std::string::npos) {
          out = static_cast<unsigned>(key.source().begin.line);
        }
        look_in(child);
      }
    }
    return out;
  }

  Settings& settings_;
  const std::string& file_;
  const std::string& directory_;
};

std::optional<std::string> read_text(const std::string& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

struct Parsed {
  Settings settings;
  bool present = true;  // false: a pyproject.toml without our table
};

Result<Parsed> parse(const std::string& text, const std::string& file, const std::string& directory) {
  const toml::parse_result result = toml::parse(text, file);
  if (!result) {
    const auto& where = result.error().source().begin;
    return fail(std::string(result.error().description()), file, static_cast<unsigned>(where.line),
                static_cast<unsigned>(where.column));
  }
  const toml::table* table = &result.table();
  Parsed out;
  if (fs::path(file).filename() == "pyproject.toml") {
    table = result.table()["tool"]["fullgraph"].as_table();
    if (table == nullptr) {
      out.present = false;
      return out;
    }
  }
  if (auto read = Reader(out.settings, file, directory).table(*table); !read) return std::unexpected(read.error());
  return out;
}

// Versions as lists of numbers; what follows the numbers does not count.
std::vector<unsigned> version_numbers(std::string_view text) {
  std::vector<unsigned> out;
  while (!text.empty()) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) break;
    out.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with('.')) break;
    text.remove_prefix(1);
  }
  while (!out.empty() && out.back() == 0) out.pop_back();
  return out;
}

bool allows(std::string_view requirement, std::string_view version) {
  while (requirement.starts_with(' ')) requirement.remove_prefix(1);
  while (requirement.ends_with(' ')) requirement.remove_suffix(1);
  std::string_view op = "==";
  for (const std::string_view candidate : {">=", "<=", "==", "!=", ">", "<"}) {
    if (requirement.starts_with(candidate)) {
      op = candidate;
      requirement.remove_prefix(candidate.size());
      break;
    }
  }
  while (requirement.starts_with(' ')) requirement.remove_prefix(1);
  const auto have = version_numbers(version), want = version_numbers(requirement);
  if (op == ">=") return have >= want;
  if (op == "<=") return have <= want;
  if (op == ">") return have > want;
  if (op == "<") return have < want;
  return (have == want) == (op == "==");
}

Result<void> check_required_version(const Settings& settings, const std::string& file) {
  if (!settings.required_version) return {};
  std::string_view rest = *settings.required_version;
  while (true) {
    const std::size_t comma = rest.find(',');
    if (!allows(rest.substr(0, comma), FULLGRAPH_VERSION)) {
      return fail(
          "this is fullgraph " FULLGRAPH_VERSION ", but `required-version` is `" + *settings.required_version + "`",
          file);
    }
    if (comma == std::string_view::npos) return {};
    rest.remove_prefix(comma + 1);
  }
}

// Reads `file` and lays it over what it extends. Nothing: a pyproject.toml without our table. `base`: where its paths
// belong.
Result<std::optional<Settings>> read_chain(const std::string& file, const std::string& base, unsigned depth = 0) {
  if (depth > deepest_extend) return fail("`extend` goes in a circle or too deep", file);
  const std::optional<std::string> text = read_text(file);
  if (!text) return fail("cannot read the configuration file", file);
  auto parsed = parse(*text, file, base);
  if (!parsed) return std::unexpected(parsed.error());
  if (!parsed->present) return std::nullopt;
  if (auto checked = check_required_version(parsed->settings, file); !checked) return std::unexpected(checked.error());
  if (!parsed->settings.extend) return std::move(parsed->settings);
  auto below =
      read_chain(*parsed->settings.extend, fs::path(*parsed->settings.extend).parent_path().string(), depth + 1);
  if (!below) return std::unexpected(below.error());
  Settings out = below->value_or(Settings{});
  overlay(out, parsed->settings);
  return out;
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

}  // namespace

Result<Settings> parse_config(const std::string& text, const std::string& file, const std::string& directory) {
  auto parsed = parse(text, file, directory);
  if (!parsed) return std::unexpected(parsed.error());
  return std::move(parsed->settings);
}

Result<Config> read_config(const std::string& file, const std::string& directory) {
  auto settings = read_chain(file, directory);
  if (!settings) return std::unexpected(settings.error());
  if (!*settings) return fail("there is no [tool.fullgraph] table", file);
  return Config{file, directory, std::move(**settings)};
}

Configs::Configs(std::optional<std::string> given, bool isolated, std::string working_directory)
    : given_(std::move(given)), isolated_(isolated), working_directory_(std::move(working_directory)) {}

Result<const Config*> Configs::fallback() {
  if (fallback_ != nullptr) return fallback_;
  auto config = std::make_unique<Config>();
  config->directory = working_directory_;
  if (!isolated_) {
    std::string folder;
    if (const char* xdg = std::getenv("XDG_CONFIG_HOME"); xdg != nullptr && *xdg != 0) {
      folder = xdg;
    } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != 0) {
      folder = std::string(home) + "/.config";
    }
    const std::string file = folder + "/fullgraph/fullgraph.toml";
    if (!folder.empty() && is_file(file)) {
      auto read = read_config(file, working_directory_);
      if (!read) return std::unexpected(read.error());
      *config = std::move(*read);
    }
  }
  fallback_ = config.get();
  configs_.push_back(std::move(config));
  return fallback_;
}

Result<const Config*> Configs::find(const std::string& directory) {
  if (isolated_ && !given_) return fallback();
  if (!given_) return look_up(directory);
  const auto known = by_directory_.find("");
  if (known != by_directory_.end()) return known->second;
  auto config = read_config(*given_, working_directory_);
  if (!config) return std::unexpected(config.error());
  configs_.push_back(std::make_unique<Config>(std::move(*config)));
  return by_directory_[""] = configs_.back().get();
}

Result<const Config*> Configs::look_up(const std::string& directory) {
  if (const auto known = by_directory_.find(directory); known != by_directory_.end()) return known->second;
  for (const char* name : {".fullgraph.toml", "fullgraph.toml", "pyproject.toml"}) {
    const fs::path file = fs::path(directory) / name;
    if (!is_file(file)) continue;
    auto settings = read_chain(file.string(), directory);
    if (!settings) return std::unexpected(settings.error());
    if (!*settings) continue;
    configs_.push_back(std::make_unique<Config>(Config{file.string(), directory, std::move(**settings)}));
    return by_directory_[directory] = configs_.back().get();
  }
  const std::string parent = fs::path(directory).parent_path().string();
  auto above = parent == directory || parent.empty() ? fallback() : look_up(parent);
  if (above) by_directory_[directory] = *above;
  return above;
}

}  // namespace fullgraph::cli
