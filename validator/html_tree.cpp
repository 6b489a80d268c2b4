// The tree of a model with its graph breaks on it: its modules where they are known, else the stacks of all breaks,
// joined where they are alike. A break that is gone after the change is crossed out and green, one that is there is
// red, so that the tree of a repaired model shows what was repaired.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "validator/html_parts.h"

namespace fullgraph::validator {
namespace {

struct Mark {
  const GraphBreak* what = nullptr;
  unsigned before = 0, after = 0;  // its line on each side; 0: it is not there
  std::vector<std::string> runs;
};

struct Node {
  std::string key;   // what it is among its siblings
  std::string head;  // HTML
  std::vector<std::unique_ptr<Node>> children;
  std::vector<Mark> marks;
};

Node& child_of(Node& parent, const std::string& key, const std::string& head) {
  for (const auto& child : parent.children) {
    if (child->key == key) return *child;
  }
  parent.children.push_back(std::make_unique<Node>());
  parent.children.back()->key = key;
  parent.children.back()->head = head;
  return *parent.children.back();
}

std::string place(const std::string& file, unsigned line) {
  return fmt::format("<span class=place>{}:{}</span>", escaped(file), line);
}

// A change moves lines: what has the same function in the same file is the same place in the tree.
Node& child_of(Node& parent, const Frame& frame) {
  return child_of(parent, frame.file + '\n' + frame.function,
                  fmt::format("<code>{}</code> {}", escaped(frame.function), place(frame.file, frame.line)));
}

// A change moves lines: on the side after, what is alike in the same function is the same break.
Mark& mark_of(Node& node, const GraphBreak& what, bool after) {
  Mark* unclaimed = nullptr;
  for (Mark& mark : node.marks) {
    if (mark.what->id != what.id || mark.what->type != what.type || mark.what->file != what.file ||
        mark.what->function != what.function)
      continue;
    const bool seen = after ? mark.after == what.line : mark.before == what.line;
    if (seen) return mark;
    if (after && mark.after == 0 && (unclaimed == nullptr || mark.before == what.line)) unclaimed = &mark;
  }
  if (unclaimed != nullptr) return *unclaimed;
  node.marks.push_back({&what, 0, 0, {}});
  return node.marks.back();
}

using Modules = std::map<std::string, Node*>;

// The modules of one side, in a tree that may hold those of others already.
void add_modules(Node& root, const Side& side, Modules& by_name) {
  std::vector<Node*> way = {&root};
  for (const ModuleNode& module : side.modules) {
    way.resize(std::min(way.size(), std::size_t{module.depth} + 1));
    Node& parent = *way.back();
    const bool inside = !parent.key.empty() && module.name.starts_with(parent.key + ".");
    const std::string name = inside ? module.name.substr(parent.key.size() + 1) : module.name;
    Node& node = child_of(
        parent, module.name,
        fmt::format("{}<span class=place>{}{}</span>", name.empty() ? "" : "<code>" + escaped(name) + "</code> ",
                    escaped(module.type), module.count == 1 ? "" : fmt::format(", {} alike", module.count)));
    by_name.emplace(module.name, &node);
    way.push_back(&node);
  }
}

Node& place_of(Node& root, const GraphBreak& what, const Modules& modules) {
  if (!modules.empty()) {
    const auto found = modules.find(what.module);
    return found == modules.end() ? *modules.begin()->second : *found->second;
  }
  Node* at = &root;
  for (const Frame& frame : what.stack) at = &child_of(*at, frame);
  return what.stack.empty() ? child_of(*at, {what.file, what.line, what.function}) : *at;
}

void add_breaks(Node& root, const Side& side, bool after, const std::string& run, const Modules& modules) {
  if (!side.capture) return;
  for (const GraphBreak& what : side.capture->breaks) {
    Mark& mark = mark_of(place_of(root, what, modules), what, after);
    (after ? mark.after : mark.before) = what.line;
    if (std::ranges::find(mark.runs, run) == mark.runs.end()) mark.runs.push_back(run);
  }
}

// The calls that lead to a break; a tree of modules does not show them.
std::string way_text(const GraphBreak& what) {
  if (what.stack.size() < 2) return "";
  std::string out = "<details><summary>called through</summary><ul>";
  for (const Frame& frame : what.stack)
    out += fmt::format("<li><code>{}</code> {}</li>", escaped(frame.function), place(frame.file, frame.line));
  return out + "</ul></details>";
}

std::string mark_text(const Mark& mark, bool pair, bool with_way) {
  const bool gone = pair && mark.after == 0;
  const std::string state = !pair              ? ""
                            : gone             ? chip("gone", "good")
                            : mark.before != 0 ? chip("still there", "bad")
                                               : chip("new", "bad");
  std::string runs;
  for (const std::string& run : mark.runs) runs += (runs.empty() ? "" : ", ") + run;
  return fmt::format(
      "<div class=\"break{}\"><span class=what><b>{}</b> {}</span> {} {} <span class=place>{}</span><p>{}</p>{}</div>",
      gone ? " gone" : "", escaped(mark.what->id), escaped(mark.what->type), state,
      place(mark.what->file, mark.what->line), escaped(runs), escaped(mark.what->explanation),
      with_way ? way_text(*mark.what) : "");
}

bool holds_mark(const Node& node) {
  return !node.marks.empty() ||
         std::ranges::any_of(node.children, [](const auto& child) { return holds_mark(*child); });
}

// Open down to the breaks, closed where there is none.
std::string node_text(const Node& node, bool pair, bool of_modules) {
  if (node.marks.empty() && node.children.empty()) return "<li>" + node.head + "</li>";
  std::string inside;
  for (const Mark& mark : node.marks) inside += "<li>" + mark_text(mark, pair, of_modules) + "</li>";
  for (const auto& child : node.children) inside += node_text(*child, pair, of_modules);
  return fmt::format("<li><details{}><summary>{}</summary><ul>{}</ul></details></li>", holds_mark(node) ? " open" : "",
                     node.head, inside);
}

}  // namespace

std::string call_tree(const Case& one) {
  Node root;
  Modules modules;
  bool captured = false, pair = false, any = false;
  for (const Run& run : one.runs) {
    pair |= run.after.has_value();
    for (const Side* side : {&run.before, run.after ? &*run.after : nullptr}) {
      if (side == nullptr || !side->capture) continue;
      captured = true;
      any |= !side->capture->breaks.empty();
      add_modules(root, *side, modules);
    }
  }
  if (!captured) return "";
  for (const Run& run : one.runs) {
    add_breaks(root, run.before, false, title_of(run), modules);
    if (run.after) add_breaks(root, *run.after, true, title_of(run), modules);
  }
  std::string out = any ? fmt::format("<h3>Graph breaks, {}</h3>",
                                      modules.empty() ? "where the code calls" : "and the modules that they are in")
                        : "<h3>Graph breaks</h3><p>None: Dynamo captures every run as a whole.</p>";
  if (root.children.empty()) return out;
  out += "<ul class=tree>";
  for (const auto& child : root.children) out += node_text(*child, pair, !modules.empty());
  return out + "</ul>";
}

}  // namespace fullgraph::validator
