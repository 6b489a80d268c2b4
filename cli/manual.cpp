#include "cli/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fullgraph::cli {
namespace {

// What roff takes for something of its own is escaped; what is not ASCII is named by its number.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i++]);
    if (byte < 0x80) {
      if (out.empty() && (byte == '.' || byte == '\'')) out += "\\&";
      out += byte == '\\' ? "\\e" : byte == '-' ? "\\-" : byte == '\n' ? " " : std::string(1, static_cast<char>(byte));
      continue;
    }
    std::uint32_t point = byte < 0xE0 ? byte & 0x1Fu : byte < 0xF0 ? byte & 0x0Fu : byte & 0x07u;
    while (i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0u) == 0x80u)
      point = (point << 6u) | (static_cast<unsigned char>(text[i++]) & 0x3Fu);
    out += fmt::format("\\[u{:04X}]", point);
  }
  return out;
}

// "-j, --jobs N", the names bold and the value in italics.
std::string head_of(const OptionInfo& option) {
  std::string out;
  for (const std::string& name : option.names) out += fmt::format("{}\\fB{}\\fR", out.empty() ? "" : ", ", roff(name));
  if (!option.value.empty()) out += fmt::format("{}\\fI{}\\fR", out.empty() ? "" : " ", roff(option.value));
  if (option.repeated) out += " ...";
  return out;
}

std::string entries(const std::vector<OptionInfo>& options) {
  std::string out;
  for (const OptionInfo& option : options) out += fmt::format(".TP\n{}\n{}.\n", head_of(option), roff(option.about));
  return out;
}

std::string synopsis(const std::string& name, const CommandInfo& command) {
  std::string out = fmt::format("\\fB{}\\fR", roff(name));
  if (!command.options.empty()) out += " [\\fIOPTION\\fR]...";
  for (const OptionInfo& argument : command.arguments) {
    const std::string text = fmt::format("\\fI{}\\fR", roff(argument.value));
    out += argument.required ? " " + text : fmt::format(" [{}]", text);
    if (argument.repeated) out += "...";
  }
  return out;
}

std::string section(const CommandInfo& program, const CommandInfo& command) {
  const std::string name = fmt::format("{} {}", program.name, command.name);
  std::string out = fmt::format(".SS {}\n{}.\n", roff(name), roff(command.about));
  for (const std::string& alias : command.aliases)
    out += fmt::format("Also \\fB{} {}\\fR.\n", roff(program.name), roff(alias));
  out += fmt::format(".PP\n{}\n", synopsis(name, command)) + entries(command.arguments);
  std::string group;
  for (std::size_t i = 0; i < command.options.size();) {
    std::vector<OptionInfo> together;
    group = command.options[i].group;
    for (; i < command.options.size() && command.options[i].group == group; ++i) together.push_back(command.options[i]);
    out += fmt::format(".PP\n\\fI{}\\fR\n{}", roff(group), entries(together));
  }
  return out;
}

}  // namespace

std::string manual_page(const CommandInfo& program, std::string_view version) {
  // The date is that of the release, which the program does not know; the field may be empty.
  std::string out = fmt::format(".TH FULLGRAPH 1 \"\" \"{} {}\"\n", program.name, version);
  out +=
      fmt::format(".SH NAME\nfullgraph \\- predicts torch.compile graph breaks and training hazards\n.SH SYNOPSIS\n");
  for (std::size_t i = 0; i < program.commands.size(); ++i) {
    const CommandInfo& command = program.commands[i];
    out += fmt::format("{}{}\n", i == 0 ? "" : ".br\n", synopsis(program.name + " " + command.name, command));
  }
  out +=
      fmt::format(".SH DESCRIPTION\n{}\n.SH OPTIONS\n{}.SH COMMANDS\n", roff(program.about), entries(program.options));
  for (const CommandInfo& command : program.commands) out += section(program, command);
  out += R"(.SH EXIT STATUS
.TP
0
No findings.
.TP
1
Findings.
.TP
2
The run itself went wrong: a bad option, configuration or path.
)";
  return out;
}

}  // namespace fullgraph::cli
