// What commands and options there are, as plain data: what completions and the manual page are made of. It is read from
// the parser's own tree, so that neither can say anything else than what is parsed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace fullgraph::cli {

// What a value is, as far as a shell can offer any.
enum class Offer : std::uint8_t { Nothing, Values, Files, Folders, Rules };

struct OptionInfo {
  std::vector<std::string> names;  // with their dashes, short ones first; none: an argument without a name
  std::string value;               // how the value is called ("FILE"); empty: a flag
  std::string about;
  std::string group;
  Offer offer = Offer::Nothing;
  std::vector<std::string> values;  // Offer::Values: all of them
  bool list = false;                // values may be separated by commas
  bool repeated = false;
  bool required = false;
};

struct CommandInfo {
  std::string name;
  std::vector<std::string> aliases;
  std::string about;
  std::vector<OptionInfo> options;  // by group, in the order of `--help`
  std::vector<OptionInfo> arguments;
  std::vector<CommandInfo> commands;
};

CommandInfo tree_of(const CLI::App& app);

}  // namespace fullgraph::cli
