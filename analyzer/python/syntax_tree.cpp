// Text → flat tree. Everything here is iterative: the depth of a tree is up to its author.
#include "analyzer/python/syntax_tree.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <tree_sitter/api.h>

#include "analyzer/python/parse.h"
#include "analyzer/python/repair.h"

namespace fullgraph::python {
namespace {

struct DeleteParser {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};
struct DeleteTree {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
using TreePointer = std::unique_ptr<TSTree, DeleteTree>;

// One parser for each thread: it keeps its stacks and node pool from file to file.
TreePointer parse_text(std::string_view text, const TSTree* before = nullptr) {
  thread_local const std::unique_ptr<TSParser, DeleteParser> parser = [] {
    std::unique_ptr<TSParser, DeleteParser> fresh(ts_parser_new());
    ts_parser_set_language(fresh.get(), python_language());
    return fresh;
  }();
  return TreePointer(
      ts_parser_parse_string(parser.get(), before, text.data(), static_cast<std::uint32_t>(text.size())));
}

TSPoint point_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_begin = before.rfind('\n') + 1;  // none: 0
  return {static_cast<std::uint32_t>(std::ranges::count(before, '\n')),
          static_cast<std::uint32_t>(offset - line_begin)};
}

// What was done to `before` to make it `after`: one part of it was replaced.
TSInputEdit edit_between(std::string_view before, std::string_view after) {
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t front = 0, back = 0;
  while (front < shorter && before[front] == after[front]) ++front;
  while (back < shorter - front && before[before.size() - 1 - back] == after[after.size() - 1 - back]) ++back;
  const std::size_t old_end = before.size() - back, new_end = after.size() - back;
  return {static_cast<std::uint32_t>(front), static_cast<std::uint32_t>(old_end), static_cast<std::uint32_t>(new_end),
          point_of(before, front),           point_of(before, old_end),           point_of(after, new_end)};
}

// Old Macintosh line ends. The grammar takes a lone "\r" for a blank; Python does not.
bool has_lone_carriage_return(std::string_view text) {
  for (std::size_t at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1)) {
    if (at + 1 == text.size() || text[at + 1] != '\n') return true;
  }
  return false;
}

std::string with_newlines(std::string_view text) {
  std::string result(text);
  for (std::size_t at = 0; at < result.size(); ++at) {
    if (result[at] == '\r' && (at + 1 == result.size() || result[at + 1] != '\n')) result[at] = '\n';
  }
  return result;
}

constexpr std::size_t most_errors = 20;

class Flattening {
 public:
  Flattening(SyntaxTree& tree, std::string_view text, TSNode root)
      : tree_(tree), text_(text), cursor_(ts_tree_cursor_new(root)), look_for_errors_(ts_node_has_error(root)) {}
  Flattening(const Flattening&) = delete;
  Flattening& operator=(const Flattening&) = delete;
  ~Flattening() { ts_tree_cursor_delete(&cursor_); }

  void run() {
    walk();
    report_errors();
  }

 private:
  void walk() {
    for (;;) {
      if (append() && ts_tree_cursor_goto_first_child(&cursor_)) {
        open_.push_back(last_);
        continue;
      }
      while (!ts_tree_cursor_goto_next_sibling(&cursor_)) {
        if (open_.empty() || !ts_tree_cursor_goto_parent(&cursor_)) return;
        tree_.nodes[open_.back()].next = static_cast<std::uint32_t>(tree_.nodes.size());
        open_.pop_back();
      }
    }
  }

  // Appends the node under the cursor; false when its children are of no interest.
  bool append() {
    const TSNode node = ts_tree_cursor_current_node(&cursor_);
    const Kind kind = kind_of_symbol(ts_node_symbol(node));
    const std::uint32_t begin = ts_node_start_byte(node);
    const std::uint32_t end = ts_node_end_byte(node);
    if (kind == Kind::Comment) tree_.comments.push_back({begin, trim_comment(begin, end)});
    if (kind == Kind::Comment || kind == Kind::LineContinuation) return false;
    last_ = static_cast<std::uint32_t>(tree_.nodes.size());
    SyntaxNode& added = tree_.nodes.emplace_back();
    added = {.kind = kind, .begin = begin, .end = end, .next = last_ + 1};
    if (!is_token(kind)) added.field = field_of_id(ts_tree_cursor_current_field_id(&cursor_));
    if (look_for_errors_ && (kind == Kind::Error || ts_node_is_missing(node))) note_error(node, added);
    return kind != Kind::StringContent;
  }

  // The grammar's comment runs to the "\n"; of "\r\n" the "\r" is not part of it.
  std::uint32_t trim_comment(std::uint32_t begin, std::uint32_t end) const {
    while (end > begin && text_[end - 1] == '\r') --end;
    return end;
  }

  void note_error(TSNode node, SyntaxNode& added) {
    if (is_type_parameter_default(added) || is_format_with_equals()) return;
    added.missing = ts_node_is_missing(node);
    candidates_.push_back({last_, added.missing ? node : TSNode{}});
  }

  // `f"{x:=>9}"`: the grammar starts to read `:=`.
  bool is_format_with_equals() const {
    return open_.size() > 1 && tree_.nodes[open_.back()].kind == Kind::NamedExpression &&
           tree_.nodes[open_[open_.size() - 2]].kind == Kind::Interpolation;
  }

  static std::string plain(std::string_view name) {
    std::string result(name);
    std::ranges::replace(result, '_', ' ');
    if (result.starts_with(' ')) result.erase(0, 1);
    return result;
  }

  // `class C[T = int]` is right since Python 3.13, but the grammar does not know it: it leaves out `T =`.
  bool is_type_parameter_default(const SyntaxNode& error) const {
    if (open_.empty() || tree_.nodes[open_.back()].kind != Kind::TypeParameter) return false;
    return text_.substr(error.begin, error.end - error.begin).find('=') != std::string_view::npos;
  }

  std::string excerpt(std::uint32_t begin, std::uint32_t end) const {
    constexpr std::size_t longest = 40;
    std::string_view part = text_.substr(begin, end - begin);
    part = part.substr(0, part.find_first_of("\r\n"));
    if (part.size() <= longest) return std::string(part);
    std::size_t cut = longest;
    while (cut > 0 && (part[cut] & 0xC0) == 0x80) --cut;
    return std::string(part.substr(0, cut)) + "…";
  }

  // Of nested errors only the innermost are reported: they are nearest to the cause. In source order an error has
  // another one inside exactly when the one behind it in the list is.
  void report_errors() {
    for (std::size_t index = 0; index < candidates_.size() && tree_.errors.size() < most_errors; ++index) {
      const auto& [place, missing] = candidates_[index];
      const SyntaxNode& node = tree_.nodes[place];
      const ir::Span span{node.begin, node.end};
      if (node.missing) {
        const std::string name = ts_node_type(missing);
        tree_.errors.push_back(
            {span, ts_node_is_named(missing) ? "expected " + plain(name) : "expected '" + name + "'"});
      } else if (index + 1 == candidates_.size() || candidates_[index + 1].first >= node.next) {
        const std::string near = excerpt(node.begin, node.end);
        tree_.errors.push_back({span, near.empty() ? "invalid syntax" : "invalid syntax near `" + near + "`"});
      }
    }
  }

  SyntaxTree& tree_;
  std::string_view text_;
  TSTreeCursor cursor_;
  bool look_for_errors_;
  std::vector<std::uint32_t> open_;                           // the nodes around the cursor
  std::vector<std::pair<std::uint32_t, TSNode>> candidates_;  // nodes that are errors
  std::uint32_t last_ = 0;
};

}  // namespace

struct KeptTree::Impl {
  std::string text;
  TreePointer tree;
};
KeptTree::KeptTree() = default;
KeptTree::~KeptTree() = default;
KeptTree::KeptTree(KeptTree&&) noexcept = default;
KeptTree& KeptTree::operator=(KeptTree&&) noexcept = default;

void SyntaxTree::parse(std::string_view text, KeptTree* kept) {
  const std::string rewritten = has_lone_carriage_return(text) ? with_newlines(text) : std::string();
  if (!rewritten.empty()) text = rewritten;
  read(text, kept);
  if (errors.empty()) return;
  Repaired repaired = repair(text);
  if (repaired.text == text) return;
  SyntaxTree second;
  second.read(repaired.text);
  if (second.errors.size() >= errors.size()) return;
  *this = std::move(second);
  comments = std::move(repaired.comments);
}

void SyntaxTree::read(std::string_view text, KeptTree* kept) {
  nodes.clear();
  comments.clear();
  errors.clear();
  TreePointer parsed;
  if (kept != nullptr && kept->impl_ != nullptr && kept->impl_->tree != nullptr) {
    const TSInputEdit edit = edit_between(kept->impl_->text, text);
    ts_tree_edit(kept->impl_->tree.get(), &edit);
    parsed = parse_text(text, kept->impl_->tree.get());
    // How the parser goes on behind an error depends on what it knew before; what is reported must not.
    if (parsed != nullptr && ts_node_has_error(ts_tree_root_node(parsed.get()))) parsed.reset();
  }
  if (parsed == nullptr) parsed = parse_text(text);
  if (parsed == nullptr) {
    nodes.push_back({.kind = Kind::Module, .end = static_cast<std::uint32_t>(text.size()), .next = 1});
    errors.push_back({{0, 0}, "the parser gave up"});
    return;
  }
  Flattening(*this, text, ts_tree_root_node(parsed.get())).run();
  if (kept != nullptr) {
    kept->impl_ = std::make_unique<KeptTree::Impl>(std::string(text), std::move(parsed));
  }
}

}  // namespace fullgraph::python
