// Syntax tree → IR. One object lowers one module; its parts are in lower_statements, lower_definitions,
// lower_expressions, lower_strings and lower_patterns.cpp.
//
// Children are lowered before their parents, so that ids only ever point backwards. Lists are collected on a stack
// (`pending_`) while their entries are lowered and copied to the module in one piece.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/ir.h"
#include "analyzer/python/scopes.h"
#include "analyzer/python/syntax_tree.h"

namespace fullgraph::python {

class Lowering {
 public:
  // `tree` must outlive the object; `module.source` is set.
  Lowering(const SyntaxTree& tree, ir::Module& module);

  void run();

 private:
  using Node = std::uint32_t;  // index into SyntaxTree::nodes
  static constexpr Node no_node = UINT32_MAX;

  // Everything that walks a module may recurse this deep: lowering refuses to build anything deeper. Python's own
  // compiler gives up at about the same depth.
  static constexpr unsigned most_levels = 1000;

  // Where the code being lowered stands.
  struct Place {
    ScopeId scope = Scopes::module_scope;
    ir::FunctionId function;  // nearest enclosing
    ir::ClassId owner;        // the class whose body is being lowered directly
    std::string prefix;       // of qualified names: "Class." or "outer.<locals>."
  };

  // The syntax tree
  const SyntaxNode& at(Node node) const { return nodes_[node]; }
  Kind kind(Node node) const { return nodes_[node].kind; }
  ir::Span span(Node node) const { return {nodes_[node].begin, nodes_[node].end}; }
  Node first(Node node) const { return node + 1; }
  Node last(Node node) const { return nodes_[node].next; }
  Node next(Node node) const { return nodes_[node].next; }
  bool has_children(Node node) const { return nodes_[node].next > node + 1; }
  Node child(Node node, Field field) const;
  Node child(Node node, Kind kind) const;
  // The first child that is neither token nor error, from `from` on.
  Node operand(Node node, Node from) const;
  Node operand(Node node) const { return operand(node, first(node)); }
  bool is_operand(Node node) const { return !is_token(kind(node)) && kind(node) != Kind::Error; }
  std::string_view text(Node node) const { return text_.substr(at(node).begin, at(node).end - at(node).begin); }
  ir::Symbol symbol(Node node) const { return ir::Symbol::intern(text(node)); }
  Node without_parentheses(Node node) const;

  // The module
  ir::ExprId add(ir::ExprKind kind, ir::Span span) {
    ir::Expr& added = module_.exprs.emplace_back();
    added.kind = kind;
    added.span = span;
    return {static_cast<std::uint32_t>(module_.exprs.size() - 1)};
  }
  ir::Expr& expr(ir::ExprId id) { return module_.exprs[id.index]; }
  ir::ExprId add_unary(ir::ExprKind kind, ir::Span span, ir::ExprId operand, unsigned op = 0);
  ir::ExprId add_list(ir::ExprKind kind, ir::Span span, std::size_t mark);
  ir::ExprId error_expression(ir::Span span) { return add(ir::ExprKind::Error, span); }
  void report(ir::Span span, std::string message);
  void report_too_deep(Node node);
  void pending(ir::ExprId id) { pending_.push_back(id); }
  std::size_t mark() const { return pending_.size(); }
  ir::Range take(std::size_t mark);

  // Expressions
  ir::ExprId expression(Node node);
  ir::ExprId expression_or_error(Node parent, Node node);
  ir::ExprId optional_expression(Node node) { return node == no_node ? ir::ExprId{} : expression(node); }
  ir::ExprId expression_of_kind(Node node);
  ir::ExprId name(Node node);
  ir::ExprId attribute(Node node);
  ir::ExprId call(Node node);
  ir::Range arguments(Node node);
  ir::ExprId argument(Node node);
  ir::ExprId subscript(Node node);
  ir::ExprId generic_type(Node node);
  ir::ExprId union_type(Node node);
  ir::ExprId soft_keyword_call(Node arguments);
  ir::ExprId hoist_star(Node node);
  ir::ExprId slice(Node node);
  ir::ExprId number(Node node);
  ir::ExprId unary(Node node);
  ir::ExprId binary(Node node);
  ir::ExprId and_of_xor(Node node);
  ir::ExprId await(Node node);
  ir::ExprId boolean(Node node);
  ir::ExprId comparison(Node node);
  ir::ExprId conditional(Node node);
  ir::ExprId named(Node node);
  ir::ExprId named_target(Node node);
  ir::ExprId yield(Node node);
  ir::ExprId starred(ir::ExprKind kind, Node node);
  ir::ExprId display(ir::ExprKind kind, Node node);
  ir::ExprId dictionary(Node node);
  ir::ExprId pair(Node node);
  ir::ExprId comprehension(ir::ExprKind kind, Node node);
  ir::ExprId lambda(Node node);
  // One expression, or a Tuple when there is a comma: of the children of `parent` in [from, to).
  ir::ExprId one_or_tuple(Node from, Node to);
  void children_of(Node node);

  // Assignment targets
  ir::ExprId target(Node node);
  ir::ExprId target_of_kind(Node node);
  ir::ExprId bound_name(ir::Span span, ir::Symbol symbol);

  // Strings
  ir::ExprId string(Node node);
  ir::ExprId concatenated(Node node);
  struct FormatText;
  void format_parts(Node string, FormatText& text);
  void format_field(Node node, FormatText& text);
  void aligned_field(Node node, Node named);
  ir::ExprId format_specifier(Node node, bool raw);
  void flush(FormatText& text);
  ir::Span content(Node string) const;

  // Patterns
  ir::ExprId pattern(Node node);
  ir::ExprId pattern_at(Node& at, Node end);
  ir::ExprId pattern_list(Node from, Node to, ir::Span span, bool always_sequence);
  ir::ExprId pattern_value(ir::ExprId value);
  ir::ExprId pattern_number(Node& at, Node end);
  ir::ExprId capture(ir::Span span, Node name, ir::ExprId inner = {});
  ir::ExprId class_pattern(Node node);
  ir::ExprId mapping_pattern(Node node);
  ir::ExprId dotted_value(Node node);

  // Statements
  ir::StmtId add(ir::StmtKind kind, ir::Span span) {
    ir::Stmt& added = module_.stmts.emplace_back();
    added.kind = kind;
    added.span = added.header = span;
    return {static_cast<std::uint32_t>(module_.stmts.size() - 1)};
  }
  ir::Stmt& stmt(ir::StmtId id) { return module_.stmts[id.index]; }
  ir::Block block(Node node);
  ir::Block body_of(Node clause, Node block);
  void statements(Node node);
  std::optional<unsigned> indentation(Node statement) const;
  void statement(Node node);
  void statement_of_kind(Node node);
  void error_statement(Node node);
  ir::StmtId finish(ir::StmtId id) {
    pending_statements_.push_back(id);
    return id;
  }
  ir::Span header(Node node) const;
  std::uint32_t end_of(ir::Block block, std::uint32_t otherwise) const;
  void expression_statement(Node node);
  void assignment(Node node);
  void augmented_assignment(Node node);
  void type_alias(Node node);
  bool call_of_type(Node node);
  void return_statement(Node node);
  void raise_statement(Node node);
  void assert_statement(Node node);
  void delete_statement(Node node);
  void python2_statement(Node node);
  void print_shift(Node node, Node chevron);
  void if_statement(Node node);
  ir::Block else_block(Node clause, std::uint32_t& end);
  void while_statement(Node node);
  void for_statement(Node node);
  void with_statement(Node node);
  void with_items(Node clause);
  ir::ExprId with_item(Node value);
  void try_statement(Node node);
  ir::Handler handler(Node node, std::uint32_t& end);
  void match_statement(Node node);
  void import_statement(Node node);
  void import_from(Node node);
  void aliases(ir::StmtId id, Node from, Node to, bool whole_path);
  ir::Symbol dotted(Node node) const;
  void scope_statement(Node node);

  // Definitions
  void decorated(Node node);
  void function_definition(Node node, Node decorated);
  void class_definition(Node node, Node decorated);
  ir::Range decorators(Node decorated);
  ir::Range parameters(Node node, ScopeId scope);
  ir::Param parameter(Node node, ScopeId scope);
  ScopeId type_parameters(Node node);

  const SyntaxTree& tree_;
  const SyntaxNode* nodes_;
  ir::Module& module_;
  std::string_view text_;
  Scopes scopes_;
  Place place_;
  unsigned level_ = 0;
  Node statement_ = no_node;       // the one being lowered
  Node deep_statement_ = no_node;  // the last one reported as nested too deeply
  Node soft_call_ = no_node;       // parentheses that are the arguments of a call of `soft_keyword_`
  ir::Span soft_keyword_;
  Node hoisted_as_ = no_node;                // an `as` that belongs to the with item around it
  std::uint32_t hoisted_star_ = UINT32_MAX;  // offset of a `*` that is lowered already
  std::vector<ir::ExprId> pending_;
  std::vector<ir::StmtId> pending_statements_;
};

}  // namespace fullgraph::python
