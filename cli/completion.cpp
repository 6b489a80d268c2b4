// Each script is complete in itself: it needs no library of completions, and runs the program not even once.
#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace fullgraph::cli {
namespace {

// 'text' for all three shells: a quote is put in between two quoted parts.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::vector<std::string> codes_of(const RuleNames& rules) {
  std::vector<std::string> out;
  for (const auto& [code, about] : rules) out.push_back(code);
  return out;
}

std::vector<std::string> names_of(const CommandInfo& command) {
  std::vector<std::string> out{command.name};
  out.insert(out.end(), command.aliases.begin(), command.aliases.end());
  return out;
}

std::vector<std::string> option_names(const CommandInfo& command) {
  std::vector<std::string> out;
  for (const OptionInfo& option : command.options) out.insert(out.end(), option.names.begin(), option.names.end());
  return out;
}

// ---------------------------------------------------------------------------------------------------------- bash

std::string bash_offer(const OptionInfo& option) {
  const std::string_view join = option.list ? "list" : "words";
  switch (option.offer) {
    case Offer::Values:
      return fmt::format("_fullgraph_{} {}", join, in_quotes(fmt::format("{}", fmt::join(option.values, " "))));
    case Offer::Rules:
      return fmt::format("_fullgraph_{} \"$_fullgraph_rules\"", join);
    case Offer::Files:
      return "_fullgraph_files -f";
    case Offer::Folders:
      return "_fullgraph_files -d";
    case Offer::Nothing:
      break;
  }
  return ":";
}

std::string bash_command(const CommandInfo& command) {
  std::string out = "      case $previous in\n";
  for (const OptionInfo& option : command.options) {
    if (option.value.empty()) continue;
    out += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, " | "), bash_offer(option));
  }
  out += "      esac\n";
  out += fmt::format("      if [[ $current == -* ]]; then _fullgraph_words {}; return; fi\n",
                     in_quotes(fmt::format("{}", fmt::join(option_names(command), " "))));
  if (!command.arguments.empty()) out += fmt::format("      {}\n", bash_offer(command.arguments.front()));
  return out;
}

// ----------------------------------------------------------------------------------------------------------- zsh

// Within [explanation] and :message: of `_arguments`.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const OptionInfo& option) {
  switch (option.offer) {
    case Offer::Values:
      if (option.list) return fmt::format("_values -s , value {}", fmt::join(option.values, " "));
      return fmt::format("({})", fmt::join(option.values, " "));
    case Offer::Rules:
      return option.list ? "_fullgraph_rules -s ," : "_fullgraph_rules";
    case Offer::Files:
      return "_files";
    case Offer::Folders:
      return "_files -/";
    case Offer::Nothing:
      break;
  }
  return " ";
}

// One specification for each name: names that mean the opposite of each other exclude each other like synonyms.
std::string zsh_option(const OptionInfo& option) {
  std::string out;
  const bool once = !option.repeated && option.names.size() > 1;
  for (const std::string& name : option.names) {
    std::string specification = once ? fmt::format("({})", fmt::join(option.names, " ")) : option.repeated ? "*" : "";
    specification += name;
    if (!option.value.empty()) specification += name.starts_with("--") ? "=" : "+";
    specification += fmt::format("[{}]", zsh_text(option.about));
    if (!option.value.empty()) specification += fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option));
    out += fmt::format(" \\\n        {}", in_quotes(specification));
  }
  return out;
}

std::string zsh_options(const CommandInfo& command) {
  std::string out;
  for (const OptionInfo& option : command.options) out += zsh_option(option);
  for (const OptionInfo& argument : command.arguments)
    out += fmt::format(" \\\n        {}", in_quotes(fmt::format("{}:{}:{}", argument.repeated ? "*" : "1",
                                                                zsh_text(argument.value), zsh_action(argument))));
  return out;
}

// ---------------------------------------------------------------------------------------------------------- fish

std::string fish_offer(const OptionInfo& option, std::string_view rules) {
  switch (option.offer) {
    case Offer::Values: {
      const std::string values = fmt::format("{}", fmt::join(option.values, " "));
      return option.list ? fmt::format(" -xa \"(__fullgraph_list {})\"", values)
                         : fmt::format(" -xa {}", in_quotes(values));
    }
    case Offer::Rules:
      return option.list ? " -xa \"(__fullgraph_list $__fullgraph_rules)\"" : fmt::format(" -xa {}", rules);
    case Offer::Files:
      return " -rF";
    case Offer::Folders:
      return " -xa \"(__fish_complete_directories)\"";
    case Offer::Nothing:
      break;
  }
  return " -x";
}

std::string fish_option(const OptionInfo& option, const std::string& condition) {
  // Options that negate one another, and synonyms of a letter, each in a line of its own.
  std::string out;
  for (const std::string& name : option.names) {
    out += fmt::format("complete -c fullgraph -n {}", in_quotes(condition));
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.value.empty()) out += fish_offer(option, "\"$__fullgraph_rules\"");
    out += fmt::format(" -d {}\n", in_quotes(option.about));
  }
  return out;
}

}  // namespace

std::string bash_completion(const CommandInfo& program, const RuleNames& rules) {
  std::string out = fmt::format(R"(# Completion of fullgraph for bash: source <(fullgraph completion bash)
_fullgraph_rules={}
)",
                                in_quotes(fmt::format("{}", fmt::join(codes_of(rules), " "))));
  out += R"(
_fullgraph_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

# The last of values that are separated by commas.
_fullgraph_list() {
  local before=
  if [[ $current == *,* ]]; then before=${current%,*},; fi
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${current##*,}")
  compopt -o nospace
}

_fullgraph_files() {
  compopt -o filenames
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}

_fullgraph() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= i
  COMPREPLY=()
  # `--mode=train` comes as three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = && COMP_CWORD -ge 2 ]]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
)";
  std::vector<std::string> all;
  for (const CommandInfo& command : program.commands) {
    const auto names = names_of(command);
    all.insert(all.end(), names.begin(), names.end());
    out += fmt::format("      {}) command={}; break ;;\n", fmt::join(names, " | "), command.name);
  }
  out += "    esac\n  done\n  case $command in\n";
  for (const CommandInfo& command : program.commands)
    out += fmt::format("    {})\n{}      ;;\n", command.name, bash_command(command));
  out += "    *)\n" + bash_command(program);
  out += fmt::format("      _fullgraph_words {}\n      ;;\n  esac\n}}\n",
                     in_quotes(fmt::format("{}", fmt::join(all, " "))));
  return out + "complete -F _fullgraph fullgraph\n";
}

std::string zsh_completion(const CommandInfo& program, const RuleNames& rules) {
  std::string out = R"(#compdef fullgraph
# Completion of fullgraph for zsh: source <(fullgraph completion zsh), or a file _fullgraph in a folder of $fpath.
_fullgraph_rules() {
  _values "$@" rule)";
  for (const auto& [code, about] : rules)
    out += fmt::format(" \\\n    {}", in_quotes(fmt::format("{}[{}]", code, zsh_text(about))));
  out += "\n}\n\n_fullgraph_commands() {\n  local commands=(";
  for (const CommandInfo& command : program.commands) {
    for (const std::string& name : names_of(command))
      out += fmt::format("\n    {}", in_quotes(fmt::format("{}:{}", name, command.about)));
  }
  out += "\n  )\n  _describe command commands\n}\n\n_fullgraph() {\n  local curcontext=$curcontext state line\n";
  out += fmt::format("  _arguments -C{} \\\n        '1: :_fullgraph_commands' '*:: :->rest' && return\n",
                     zsh_options(program));
  out += "  [[ $state == rest ]] || return 1\n  case $words[1] in\n";
  for (const CommandInfo& command : program.commands)
    out += fmt::format("    {})\n      _arguments -s{}\n      ;;\n", fmt::join(names_of(command), "|"),
                       zsh_options(command));
  out += "  esac\n}\n\n";
  return out + "if [[ $funcstack[1] == _fullgraph ]]; then _fullgraph \"$@\"; else compdef _fullgraph fullgraph; fi\n";
}

std::string fish_completion(const CommandInfo& program, const RuleNames& rules) {
  std::string out = fmt::format(R"(# Completion of fullgraph for fish: fullgraph completion fish | source
set -g __fullgraph_rules {}

# The last of values that are separated by commas.
function __fullgraph_list
    set -l before (string match -r '^(?:-.*=)?(.*,)?' -- (commandline -ct))[2]
    for value in $argv
        echo "$before$value"
    end
end

complete -c fullgraph -f
)",
                                fmt::join(codes_of(rules), " "));
  for (const OptionInfo& option : program.options) out += fish_option(option, "__fish_use_subcommand");
  for (const CommandInfo& command : program.commands) {
    for (const std::string& name : names_of(command))
      out +=
          fmt::format("complete -c fullgraph -n __fish_use_subcommand -a {} -d {}\n", name, in_quotes(command.about));
  }
  for (const CommandInfo& command : program.commands) {
    const std::string condition = fmt::format("__fish_seen_subcommand_from {}", fmt::join(names_of(command), " "));
    out += "\n";
    for (const OptionInfo& option : command.options) out += fish_option(option, condition);
    for (const OptionInfo& argument : command.arguments) {
      out += fmt::format("complete -c fullgraph -n {}{}\n", in_quotes(condition),
                         argument.offer == Offer::Files ? " -F" : fish_offer(argument, "\"$__fullgraph_rules\""));
    }
  }
  return out;
}

}  // namespace fullgraph::cli
