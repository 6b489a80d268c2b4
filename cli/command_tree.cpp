// Beside options.cpp the only file that knows CLI11.
#include "cli/command_tree.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

namespace fullgraph::cli {
namespace {

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

// "auto|always" → both; nothing where one of them is no word.
std::vector<std::string> words_between(std::string_view text, std::string_view between) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t end = text.find(between);
    const std::string_view word = text.substr(0, end);
    if (!is_word(word)) return {};
    out.emplace_back(word);
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + between.size());
  }
}

// The values that are possible stand in the value's name ("any|train|eval"), or begin the help ("auto, always or
// never", "train, eval, decode (default: …)").
std::vector<std::string> values_of(std::string_view value, std::string_view about) {
  if (auto named = words_between(value, "|"); named.size() > 1) return named;
  std::string list(about.substr(0, about.find_first_of(":;(")));
  while (list.ends_with(' ')) list.pop_back();
  if (const std::size_t last = list.rfind(" or "); last != std::string::npos) list.replace(last, 4, ", ");
  auto listed = words_between(list, ", ");
  return listed.size() > 1 ? listed : std::vector<std::string>();
}

Offer offer_of(std::string_view value) {
  if (value.starts_with("RULE")) return Offer::Rules;
  if (value == "DIR") return Offer::Folders;
  for (const std::string_view file : {"PATH", "FILE", "PROGRAM", "LIBRARY"}) {
    if (value.starts_with(file)) return Offer::Files;
  }
  return Offer::Nothing;
}

void add_once(std::vector<std::string>& names, std::string name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
}

OptionInfo info_of(const CLI::Option& option) {
  OptionInfo out;
  for (const std::string& name : option.get_snames()) add_once(out.names, "-" + name);
  for (const std::string& name : option.get_lnames()) add_once(out.names, "--" + name);
  for (const std::string& name : option.get_fnames()) {
    if (name.size() > 1) add_once(out.names, "--" + name);
  }
  out.about = option.get_description();
  out.group = option.get_group();
  out.required = option.get_required();
  if (option.get_type_size() == 0) return out;
  out.value = option.get_type_name();
  out.repeated = option.get_expected_max() > 1 || option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  out.list = option.get_delimiter() == ',';
  out.values = values_of(out.value, out.about);
  out.offer = out.values.empty() ? offer_of(out.value) : Offer::Values;
  return out;
}

}  // namespace

CommandInfo tree_of(const CLI::App& app) {
  CommandInfo out{.name = app.get_name(),
                  .aliases = app.get_aliases(),
                  .about = app.get_description(),
                  .options = {},
                  .arguments = {},
                  .commands = {}};
  const auto options = app.get_options();
  for (const std::string& group : app.get_groups()) {
    for (const CLI::Option* option : options) {
      if (option->get_group() != group || group.empty()) continue;
      (option->nonpositional() ? out.options : out.arguments).push_back(info_of(*option));
    }
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    out.commands.push_back(tree_of(*command));
  return out;
}

}  // namespace fullgraph::cli
