#include "validator/compile_flags.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

namespace fullgraph::validator {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool holds_torch(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "ATen" / "ATen.h", error) || fs::exists(folder / "torch" / "torch.h", error);
}

// Flags whose value may be an argument of its own.
constexpr std::array<std::string_view, 6> with_value = {"-I", "-isystem", "-iquote", "-D", "-U", "-include"};
constexpr std::array<std::string_view, 5> alone = {"-f", "-m", "-std=", "-O", "-pthread"};

bool names_folder(std::string_view flag) {
  return flag == "-I" || flag == "-isystem" || flag == "-iquote";
}

std::vector<std::string> useful(const std::vector<std::string>& arguments, const fs::path& directory) {
  std::vector<std::string> out;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const auto flag =
        std::ranges::find_if(with_value, [&](std::string_view name) { return argument.starts_with(name); });
    if (flag != with_value.end()) {
      const bool apart = argument.size() == flag->size();
      if (apart && i + 1 == arguments.size()) break;
      const std::string value = apart ? arguments[++i] : argument.substr(flag->size());
      if (names_folder(*flag) && holds_torch(directory / value)) continue;
      out.emplace_back(*flag);
      out.push_back(value);
    } else if (std::ranges::any_of(alone, [&](std::string_view name) { return argument.starts_with(name); })) {
      out.push_back(argument);
    }
  }
  return out;
}

std::optional<CompileFlags> flags_in(const fs::path& database, const fs::path& source) {
  std::ifstream file(database);
  const json entries = json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!entries.is_array()) return std::nullopt;
  for (const json& entry : entries) {
    if (!entry.is_object() || !entry.contains("file") || !entry.at("file").is_string()) continue;
    const fs::path directory = entry.value("directory", database.parent_path().string());
    std::error_code error;
    if (!fs::equivalent(directory / entry.at("file").get<std::string>(), source, error)) continue;
    std::vector<std::string> arguments;
    if (entry.contains("arguments") && entry.at("arguments").is_array()) {
      for (const json& argument : entry.at("arguments")) arguments.push_back(argument.get<std::string>());
    } else {
      arguments = split_command(entry.value("command", ""));
    }
    if (arguments.empty()) return std::nullopt;
    return CompileFlags{directory.string(), arguments[0], useful(arguments, directory)};
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> split_command(std::string_view command) {
  std::vector<std::string> out;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      word += command[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) out.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) out.push_back(std::move(word));
  return out;
}

CompileFlags compile_flags_of(const std::string& source) {
  for (fs::path folder = fs::path(source).parent_path();; folder = folder.parent_path()) {
    for (const fs::path& database : {folder / "compile_commands.json", folder / "build" / "compile_commands.json"}) {
      std::error_code error;
      if (!fs::is_regular_file(database, error)) continue;
      if (auto flags = flags_in(database, source)) return *std::move(flags);
    }
    if (folder == folder.parent_path()) return {};
  }
}

}  // namespace fullgraph::validator
