#include "analyzer/graphs/fx_graph_lines.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>

#include "analyzer/graphs/printable.h"

namespace fullgraph::graphs {
namespace {

bool is_dotted(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_identifier(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0 &&
         text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

// The parts of a comma-separated list; brackets and quotes hold together what is inside of them.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : ',';
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != ',' || (depth > 0 && at < text.size())) continue;
    std::string_view part = text.substr(start, at - start);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) out.push_back(part);
    start = at + 1;
  }
  return out;
}

// Nodes are `%x` among arguments, and plain `x` in what is returned.
enum class Names : std::uint8_t { Marked, Plain };

std::string value_of(std::string_view text, Names names = Names::Marked, int depth = 0) {
  constexpr int deepest = 50;
  if (depth > deepest) return "...";
  if (text.starts_with('%')) return is_identifier(text.substr(1)) ? std::string(text.substr(1)) : "...";
  const bool list = text.starts_with('[') && text.ends_with(']'), tuple = text.starts_with('(') && text.ends_with(')');
  if (list || tuple) {
    std::string out(1, text.front());
    for (const std::string_view part : split(text.substr(1, text.size() - 2)))
      out += value_of(part, names, depth + 1) + ", ";
    return out + text.back();
  }
  if (text == "None" || text == "True" || text == "False" || is_number(text)) return std::string(text);
  if (names == Names::Plain && is_identifier(text)) return std::string(text);
  if (text.starts_with("torch.") && is_dotted(text)) return std::string(text);
  return python_string(text);  // strings and devices are printed without quotes
}

// One node: `%name : [num_users=1] = opcode[target=target](args = (…), kwargs = {…})`.
struct Node {
  std::string_view name, opcode, target;
  std::vector<std::string> arguments;
};

// What stands between `start` and the last `end`.
std::optional<std::string_view> between(std::string_view text, std::string_view start, std::string_view end) {
  const std::size_t first = text.find(start);
  if (first == std::string_view::npos) return std::nullopt;
  text.remove_prefix(first + start.size());
  const std::size_t last = text.rfind(end);
  if (last == std::string_view::npos) return std::nullopt;
  return text.substr(0, last);
}

std::optional<Node> node_of(std::string_view line) {
  Node out;
  if (!line.starts_with('%')) return std::nullopt;
  out.name = line.substr(1, line.find_first_of(" :") - 1);
  const std::size_t equals = line.find(" = ");
  if (!is_identifier(out.name) || equals == std::string_view::npos) return std::nullopt;
  line.remove_prefix(equals + 3);
  const std::size_t bracket = line.find("[target=");
  if (bracket == std::string_view::npos) return std::nullopt;
  out.opcode = line.substr(0, bracket);
  line.remove_prefix(bracket + 8);
  const std::size_t close = line.find(']');
  if (close == std::string_view::npos) return std::nullopt;
  out.target = line.substr(0, close);
  line.remove_prefix(close + 1);
  if (const auto args = between(line, "args = (", "), kwargs = {")) {
    for (const std::string_view part : split(*args)) out.arguments.push_back(value_of(part));
  }
  if (const auto kwargs = between(line, "), kwargs = {", "}")) {
    for (const std::string_view part : split(*kwargs)) {
      const std::size_t colon = part.find(": ");
      if (colon == std::string_view::npos || !is_identifier(part.substr(0, colon))) continue;
      out.arguments.push_back(std::string(part.substr(0, colon)) + " = " + value_of(part.substr(colon + 2)));
    }
  }
  return out;
}

std::string joined(const std::vector<std::string>& parts, std::size_t first) {
  std::string out;
  for (std::size_t at = first; at < parts.size(); ++at) out += (at > first ? ", " : "") + parts[at];
  return out;
}

std::string statement_of(const Node& node) {
  const std::string start = std::string(node.name) + " = ", target(node.target);
  if (!is_dotted(target)) return start + "...";
  if (node.opcode == "get_attr") return start + "self." + target;
  if (node.opcode == "call_module") return start + "self." + target + "(" + joined(node.arguments, 0) + ")";
  if (node.opcode == "call_function") return start + target + "(" + joined(node.arguments, 0) + ")";
  if (node.opcode == "call_method" && !node.arguments.empty())
    return start + node.arguments[0] + "." + target + "(" + joined(node.arguments, 1) + ")";
  return start + "...";
}

}  // namespace

std::vector<std::string> python_of_graph_lines(std::span<const std::string_view> lines) {
  std::string header = "def forward(self";
  std::vector<std::string> out(1);
  for (std::string_view line : lines.subspan(1)) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const auto node = node_of(line);
    if (node && node->opcode == "placeholder") {
      header += ", " + std::string(node->name);
      out.emplace_back();
    } else if (node) {
      out.push_back("    " + statement_of(*node));
    } else if (line.starts_with("return ")) {
      out.push_back("    return " + value_of(line.substr(7), Names::Plain));
    } else {
      out.emplace_back();
    }
  }
  out[0] = header + "):";
  return out;
}

}  // namespace fullgraph::graphs
