// The call tree: the stacks of all breaks of a case, joined where they are alike. A break that is gone after the change
// is crossed out and green, one that is there is red, so that the tree of a repaired model shows what was repaired.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "validator/html_parts.h"
#include "validator/html_text.h"

namespace fullgraph::validator {
namespace {

struct Mark {
  const GraphBreak* what = nullptr;
  bool before = false;
  bool after = false;
  std::vector<std::string> runs;
};

struct Node {
  Frame frame;
  std::vector<std::unique_ptr<Node>> children;
  std::vector<Mark> marks;
};

// A change moves lines: what has the same function in the same file is the same place in the tree.
Node& child_of(Node& parent, const Frame& frame) {
  for (const auto& child : parent.children) {
    if (child->frame.file == frame.file && child->frame.function == frame.function) return *child;
  }
  parent.children.push_back(std::make_unique<Node>());
  parent.children.back()->frame = frame;
  return *parent.children.back();
}

Mark& mark_of(Node& node, const GraphBreak& what) {
  for (Mark& mark : node.marks) {
    if (mark.what->id == what.id && mark.what->type == what.type) return mark;
  }
  node.marks.push_back({&what, false, false, {}});
  return node.marks.back();
}

void add(Node& root, const Side& side, bool after, const std::string& run) {
  if (!side.capture) return;
  for (const GraphBreak& what : side.capture->breaks) {
    Node* at = &root;
    for (const Frame& frame : what.stack) at = &child_of(*at, frame);
    if (what.stack.empty()) at = &child_of(*at, {what.file, what.line, what.function});
    Mark& mark = mark_of(*at, what);
    (after ? mark.after : mark.before) = true;
    if (std::ranges::find(mark.runs, run) == mark.runs.end()) mark.runs.push_back(run);
  }
}

std::string place(const std::string& file, unsigned line) {
  return fmt::format("<span class=place>{}:{}</span>", escaped(file), line);
}

std::string mark_text(const Mark& mark, bool pair) {
  const bool gone = pair && !mark.after;
  const std::string state = !pair         ? ""
                            : gone        ? chip("gone", "good")
                            : mark.before ? chip("still there", "bad")
                                          : chip("new", "bad");
  std::string runs;
  for (const std::string& run : mark.runs) runs += (runs.empty() ? "" : ", ") + run;
  return fmt::format(
      "<div class=\"break{}\"><span class=what><b>{}</b> {}</span> {} {} <span class=place>{}</span><p>{}</p></div>",
      gone ? " gone" : "", escaped(mark.what->id), escaped(mark.what->type), state,
      place(mark.what->file, mark.what->line), escaped(runs), escaped(mark.what->explanation));
}

std::string node_text(const Node& node, bool pair) {
  std::string inside;
  for (const Mark& mark : node.marks) inside += "<li>" + mark_text(mark, pair) + "</li>";
  for (const auto& child : node.children) inside += node_text(*child, pair);
  return fmt::format("<li><details open><summary><code>{}</code> {}</summary><ul>{}</ul></details></li>",
                     escaped(node.frame.function), place(node.frame.file, node.frame.line), inside);
}

}  // namespace

std::string call_tree(const Case& one) {
  Node root;
  bool captured = false;
  bool pair = false;
  for (const Run& run : one.runs) {
    captured |= run.before.capture || (run.after && run.after->capture);
    pair |= run.after.has_value();
    add(root, run.before, false, title_of(run));
    if (run.after) add(root, *run.after, true, title_of(run));
  }
  if (!captured) return "";
  if (root.children.empty()) return "<h3>Graph breaks</h3><p>None: Dynamo captures every run as a whole.</p>";
  std::string out = "<h3>Graph breaks, where the code calls</h3><ul class=tree>";
  for (const auto& child : root.children) out += node_text(*child, pair);
  return out + "</ul>";
}

}  // namespace fullgraph::validator
