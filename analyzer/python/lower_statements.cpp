// Statements.
#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/python/lowering.h"

namespace fullgraph::python {

using ir::Block;
using ir::ExprId;
using ir::ExprKind;
using ir::Span;
using ir::StmtId;
using ir::StmtKind;
using ir::Symbol;

namespace {

ir::BinaryOp augmented_operator(std::string_view token) {
  using enum ir::BinaryOp;
  token.remove_suffix(1);
  if (token == "-") return Sub;
  if (token == "*") return Mul;
  if (token == "@") return MatMul;
  if (token == "/") return Div;
  if (token == "//") return FloorDiv;
  if (token == "%") return Mod;
  if (token == "**") return Pow;
  if (token == "<<") return LeftShift;
  if (token == ">>") return RightShift;
  if (token == "&") return And;
  if (token == "|") return Or;
  if (token == "^") return Xor;
  return Add;
}

}  // namespace

Lowering::Lowering(const SyntaxTree& tree, ir::Module& module)
    : tree_(tree), nodes_(tree.nodes.data()), module_(module), text_(module.source->text()) {
  // About what source code needs; too much is given back at the end.
  module_.exprs.reserve(tree.nodes.size() / 2);
  module_.expr_lists.reserve(tree.nodes.size() / 6);
  module_.stmts.reserve(tree.nodes.size() / 16);
  module_.stmt_lists.reserve(tree.nodes.size() / 16);
}

void Lowering::run() {
  module_.errors = tree_.errors;
  const std::size_t begin = pending_statements_.size();
  statements(0);
  module_.body = {static_cast<std::uint32_t>(module_.stmt_lists.size()),
                  static_cast<std::uint32_t>(pending_statements_.size() - begin)};
  module_.stmt_lists.insert(module_.stmt_lists.end(), pending_statements_.begin(), pending_statements_.end());
  scopes_.resolve(module_);
  module_.comments = tree_.comments;
  module_.exprs.shrink_to_fit();
  module_.stmts.shrink_to_fit();
  module_.functions.shrink_to_fit();
  module_.classes.shrink_to_fit();
  module_.params.shrink_to_fit();
  module_.handlers.shrink_to_fit();
  module_.cases.shrink_to_fit();
  module_.aliases.shrink_to_fit();
  module_.expr_lists.shrink_to_fit();
  module_.stmt_lists.shrink_to_fit();
  std::ranges::stable_sort(module_.errors, {}, [](const ir::SyntaxError& error) { return error.span.begin; });
}

Lowering::Node Lowering::child(Node node, Field field) const {
  for (Node at = first(node); at < last(node); at = next(at)) {
    if (nodes_[at].field == field) return at;
  }
  return no_node;
}

Lowering::Node Lowering::child(Node node, Kind kind) const {
  for (Node at = first(node); at < last(node); at = next(at)) {
    if (nodes_[at].kind == kind) return at;
  }
  return no_node;
}

Lowering::Node Lowering::operand(Node node, Node from) const {
  for (Node at = from; at < last(node); at = next(at)) {
    if (is_operand(at)) return at;
  }
  return no_node;
}

ExprId Lowering::add_unary(ExprKind kind, Span span, ExprId operand, unsigned op) {
  const ExprId id = add(kind, span);
  expr(id).a = operand;
  expr(id).op = static_cast<std::uint8_t>(op);
  return id;
}

ExprId Lowering::add_list(ExprKind kind, Span span, std::size_t mark) {
  const ir::Range items = take(mark);
  const ExprId id = add(kind, span);
  expr(id).items = items;
  return id;
}

ir::Range Lowering::take(std::size_t mark) {
  const ir::Range range{static_cast<std::uint32_t>(module_.expr_lists.size()),
                        static_cast<std::uint32_t>(pending_.size() - mark)};
  module_.expr_lists.insert(module_.expr_lists.end(), pending_.begin() + static_cast<std::ptrdiff_t>(mark),
                            pending_.end());
  pending_.resize(mark);
  return range;
}

void Lowering::report(Span span, std::string message) {
  constexpr std::size_t most_errors = 40;
  if (module_.errors.size() < most_errors) module_.errors.push_back({span, std::move(message)});
}

// Once for a statement: what is cut off at one level has siblings that are cut off too.
void Lowering::report_too_deep(Node node) {
  if (std::exchange(deep_statement_, statement_) == statement_) return;
  report(span(node), "nested too deeply: not analysed beyond " + std::to_string(most_levels) + " levels");
}

Block Lowering::block(Node node) {
  if (node == no_node) return {};
  const std::size_t begin = pending_statements_.size();
  statements(node);
  const Block result{static_cast<std::uint32_t>(module_.stmt_lists.size()),
                     static_cast<std::uint32_t>(pending_statements_.size() - begin)};
  module_.stmt_lists.insert(module_.stmt_lists.end(), pending_statements_.begin() + static_cast<std::ptrdiff_t>(begin),
                            pending_statements_.end());
  pending_statements_.resize(begin);
  return result;
}

// Python wants at least one statement in a clause; the grammar is content with none.
Block Lowering::body_of(Node clause, Node node) {
  const Block result = block(node);
  if (result.count == 0 && module_.errors.empty()) report(header(clause), "expected an indented block");
  return result;
}

void Lowering::statements(Node node) {
  const bool is_block = kind(node) == Kind::Block || kind(node) == Kind::Module;
  std::optional<unsigned> block_indentation;
  for (Node at = first(node); at < last(node); at = next(at)) {
    if (is_token(kind(at))) continue;
    if (const auto own = is_block ? indentation(at) : std::nullopt) {
      if (!block_indentation) block_indentation = kind(node) == Kind::Module ? 0 : *own;
      if (*own > *block_indentation) report({this->at(at).begin, this->at(at).begin}, "unexpected indent");
      if (*own < *block_indentation) {
        report({this->at(at).begin, this->at(at).begin}, "unindent does not match any outer indentation level");
      }
    }
    statement(at);
  }
}

// The column of a statement that is the first on its line, as Python counts it: a tab goes to the next multiple of 8.
// The grammar takes any statement that is indented deeper than its block for a part of it.
std::optional<unsigned> Lowering::indentation(Node statement) const {
  if (kind(statement) == Kind::Error) return std::nullopt;
  const std::uint32_t begin = at(statement).begin;
  std::uint32_t start = begin;
  while (start > 0 && (text_[start - 1] == ' ' || text_[start - 1] == '\t')) --start;
  // Behind another statement, a form feed, a byte order mark or a continued line nothing can be said.
  if (start > 0 && text_[start - 1] != '\n' && text_[start - 1] != '\r') return std::nullopt;
  std::uint32_t before = start;
  while (before > 0 && (text_[before - 1] == '\n' || text_[before - 1] == '\r')) --before;
  if (before > 0 && text_[before - 1] == '\\') return std::nullopt;
  unsigned column = 0;
  for (; start < begin; ++start) column = text_[start] == '\t' ? column / 8 * 8 + 8 : column + 1;
  return column;
}

void Lowering::statement(Node node) {
  if (level_ >= most_levels) {
    report_too_deep(node);
    finish(add(StmtKind::Error, span(node)));
    return;
  }
  ++level_;
  statement_ = node;
  statement_of_kind(node);
  --level_;
}

void Lowering::statement_of_kind(Node node) {
  switch (kind(node)) {
    case Kind::ExpressionStatement:
      return expression_statement(node);
    case Kind::ReturnStatement:
      return return_statement(node);
    case Kind::RaiseStatement:
      return raise_statement(node);
    case Kind::AssertStatement:
      return assert_statement(node);
    case Kind::DeleteStatement:
      return delete_statement(node);
    case Kind::PassStatement:
      finish(add(StmtKind::Pass, span(node)));
      return;
    case Kind::BreakStatement:
      finish(add(StmtKind::Break, span(node)));
      return;
    case Kind::ContinueStatement:
      finish(add(StmtKind::Continue, span(node)));
      return;
    case Kind::IfStatement:
      return if_statement(node);
    case Kind::WhileStatement:
      return while_statement(node);
    case Kind::ForStatement:
      return for_statement(node);
    case Kind::WithStatement:
      return with_statement(node);
    case Kind::TryStatement:
      return try_statement(node);
    case Kind::MatchStatement:
      return match_statement(node);
    case Kind::ImportStatement:
      return import_statement(node);
    case Kind::ImportFromStatement:
    case Kind::FutureImportStatement:
      return import_from(node);
    case Kind::GlobalStatement:
    case Kind::NonlocalStatement:
      return scope_statement(node);
    case Kind::TypeAliasStatement:
      return type_alias(node);
    case Kind::FunctionDefinition:
      return function_definition(node, no_node);
    case Kind::ClassDefinition:
      return class_definition(node, no_node);
    case Kind::DecoratedDefinition:
      return decorated(node);
    case Kind::PrintStatement:
    case Kind::ExecStatement:
      return python2_statement(node);
    // Left over from statements that the parser could not put together.
    case Kind::Block:
    case Kind::ElseClause:
    case Kind::FinallyClause:
    case Kind::ElifClause:
    case Kind::ExceptClause:
      return statements(node);
    case Kind::CaseClause:
      return statements(node);
    case Kind::Error:
      return error_statement(node);
    default:
      return;
  }
}

// Marks the place and goes on with the statements that the parser has recognised inside.
void Lowering::error_statement(Node node) {
  finish(add(StmtKind::Error, span(node)));
  statements(node);
}

// From the statement's first word to its colon.
Span Lowering::header(Node node) const {
  for (Node at = first(node); at < last(node); at = next(at)) {
    if (kind(at) == Kind::Colon) return {nodes_[node].begin, nodes_[at].end};
  }
  return span(node);
}

// A block's node runs on over comments and blank lines; the statement ends with its last statement.
std::uint32_t Lowering::end_of(Block block, std::uint32_t otherwise) const {
  return block.count == 0 ? otherwise : module_.stmt(module_.stmt_lists[block.first + block.count - 1]).span.end;
}

void Lowering::expression_statement(Node node) {
  const Node value = operand(node);
  if (value == no_node) return error_statement(node);
  if (kind(value) == Kind::Assignment) return assignment(value);
  if (kind(value) == Kind::AugmentedAssignment) return augmented_assignment(value);
  const ExprId lowered = one_or_tuple(first(node), last(node));
  stmt(finish(add(StmtKind::Expression, span(node)))).a = lowered;
}

void Lowering::assignment(Node node) {
  const Span whole = span(node);
  const Node type = child(node, Field::Type);
  if (type != no_node) {
    const Node left = child(node, Field::Left);
    const Node right = child(node, Field::Right);
    const ExprId annotation = expression(type);
    const ExprId value = optional_expression(right);
    const std::size_t begin = mark();
    // `(x): int` alone binds nothing, `x: int` makes x a local.
    const bool binds = left != no_node && (right != no_node || kind(left) != Kind::TuplePattern);
    pending(left == no_node ? error_expression(whole) : binds ? target(left) : expression(left));
    const ir::Range targets = take(begin);
    const StmtId id = finish(add(StmtKind::AnnAssign, whole));
    stmt(id).items = targets;
    stmt(id).a = value;
    stmt(id).b = annotation;
    return;
  }
  std::vector<Node> lefts;
  Node right = node;
  while (right != no_node && kind(right) == Kind::Assignment) {
    if (const Node left = child(right, Field::Left); left != no_node) lefts.push_back(left);
    right = child(right, Field::Right);
  }
  ExprId value;
  if (right != no_node && kind(right) == Kind::AugmentedAssignment) {
    report(span(right), "invalid syntax near `" + std::string(text(right)) + "`");
    value = error_expression(span(right));
  } else {
    value = expression_or_error(node, right);
  }
  const std::size_t begin = mark();
  for (const Node left : lefts) pending(target(left));
  const ir::Range targets = take(begin);
  const StmtId id = finish(add(StmtKind::Assign, whole));
  stmt(id).items = targets;
  stmt(id).a = value;
}

void Lowering::augmented_assignment(Node node) {
  const Node left = child(node, Field::Left);
  const Node right = child(node, Field::Right);
  Node token = left == no_node ? last(node) : next(left);
  while (token < last(node) && !is_token(kind(token))) token = next(token);
  const std::size_t begin = mark();
  pending(left == no_node ? error_expression(span(node)) : target(left));
  const ir::Range targets = take(begin);
  const ExprId value = expression_or_error(node, right);
  const StmtId id = finish(add(StmtKind::AugAssign, span(node)));
  stmt(id).items = targets;
  stmt(id).a = value;
  if (token < last(node) && !text(token).empty()) {
    stmt(id).op = static_cast<std::uint8_t>(augmented_operator(text(token)));
  }
}

// `type(x).y = z`, which the grammar takes for a type alias whose name is `(x).y`.
bool Lowering::call_of_type(Node node) {
  const Node left = child(node, Field::Left);
  Node head = left;
  while (head != no_node &&
         (kind(head) == Kind::Type || kind(head) == Kind::Attribute || kind(head) == Kind::Subscript ||
          kind(head) == Kind::MemberType || kind(head) == Kind::Call)) {
    head = operand(head);
  }
  if (head == no_node || head == left || kind(operand(left)) == Kind::ParenthesizedExpression) return false;
  if (kind(head) != Kind::ParenthesizedExpression && kind(head) != Kind::Tuple) return false;
  const ExprId value = expression_or_error(node, child(node, Field::Right));
  soft_call_ = head;
  soft_keyword_ = span(first(node));
  const std::size_t begin = mark();
  const ExprId object = target(left);
  expr(object).span.begin = at(node).begin;
  pending(object);
  const ir::Range targets = take(begin);
  const StmtId id = finish(add(StmtKind::Assign, span(node)));
  stmt(id).items = targets;
  stmt(id).a = value;
  return true;
}

// `type X[T] = …`: an assignment to X.
void Lowering::type_alias(Node node) {
  if (call_of_type(node)) return;
  const Node left = child(node, Field::Left);
  const Node right = child(node, Field::Right);
  Node name = left;
  Node parameters = no_node;
  while (name != no_node && kind(name) != Kind::Identifier) {
    if (kind(name) == Kind::GenericType) parameters = name;
    name = has_children(name) ? operand(name) : no_node;
  }
  if (name == no_node) return error_statement(node);
  const ScopeId outer = place_.scope;
  if (parameters != no_node) place_.scope = type_parameters(parameters);
  const ExprId value = expression_or_error(node, right);
  place_.scope = outer;
  const std::size_t begin = mark();
  pending(bound_name(span(name), symbol(name)));
  const ir::Range targets = take(begin);
  const StmtId id = finish(add(StmtKind::Assign, span(node)));
  stmt(id).items = targets;
  stmt(id).a = value;
}

void Lowering::return_statement(Node node) {
  const ExprId value = optional_expression(operand(node));
  stmt(finish(add(StmtKind::Return, span(node)))).a = value;
}

void Lowering::raise_statement(Node node) {
  const Node cause = child(node, Field::Cause);
  const Node value = operand(node);
  const ExprId raised = value == cause ? ExprId{} : optional_expression(value);
  const ExprId reason = optional_expression(cause);
  const StmtId id = finish(add(StmtKind::Raise, span(node)));
  stmt(id).a = raised;
  stmt(id).b = reason;
}

void Lowering::assert_statement(Node node) {
  const Node test = operand(node);
  const Node message = test == no_node ? no_node : operand(node, next(test));
  const ExprId a = expression_or_error(node, test);
  const ExprId b = optional_expression(message);
  const StmtId id = finish(add(StmtKind::Assert, span(node)));
  stmt(id).a = a;
  stmt(id).b = b;
}

void Lowering::delete_statement(Node node) {
  const std::size_t begin = mark();
  const Node what = operand(node);
  if (what != no_node && kind(what) == Kind::ExpressionList) {
    for (Node at = first(what); at < last(what); at = next(at)) {
      if (is_operand(at)) pending(target(at));
    }
  } else if (what != no_node) {
    pending(target(what));
  }
  const ir::Range targets = take(begin);
  stmt(finish(add(StmtKind::Delete, span(node)))).items = targets;
}

// `print >> file, x` is Python 3 as well: a tuple of a shift and x.
void Lowering::print_shift(Node node, Node chevron) {
  const Span name = span(first(node));
  const ExprId print = add(ExprKind::Name, name);
  expr(print).name = Symbol::intern(text_.substr(name.begin, name.end - name.begin));
  scopes_.use(place_.scope, print);
  const ExprId right = expression_or_error(chevron, operand(chevron));
  ExprId value = add(ExprKind::Binary, {name.begin, at(chevron).end});
  expr(value).op = static_cast<std::uint8_t>(ir::BinaryOp::RightShift);
  expr(value).a = print;
  expr(value).b = right;
  if (child(node, Kind::Comma) != no_node) {
    const std::size_t begin = mark();
    pending(value);
    for (Node at = next(chevron); at < last(node); at = next(at)) {
      if (is_operand(at)) pending(expression(at));
    }
    value = add_list(ExprKind::Tuple, span(node), begin);
  }
  stmt(finish(add(StmtKind::Expression, span(node)))).a = value;
}

void Lowering::python2_statement(Node node) {
  const bool print = kind(node) == Kind::PrintStatement;
  if (const Node chevron = child(node, Kind::Chevron); chevron != no_node) return print_shift(node, chevron);
  report(span(node),
         std::string("Python 2 syntax: '") + (print ? "print" : "exec") + "' is a function and needs parentheses");
  finish(add(StmtKind::Error, span(node)));
}

// An `elif` is an If in the orelse of the one before. The chain is walked from its end, so that its length does not
// cost stack; as a nest of statements it is still subject to the limit of levels.
void Lowering::if_statement(Node node) {
  struct Branch {
    Node node;
    ExprId test;
    Block body;
    std::uint32_t end;
  };
  std::vector<Branch> branches;
  Node otherwise = no_node;
  const auto branch = [&](Node clause) {
    const ExprId test = expression_or_error(clause, child(clause, Field::Condition));
    const Span head = header(clause);
    const Block body = body_of(clause, child(clause, Field::Consequence));
    branches.push_back({clause, test, body, end_of(body, head.end)});
  };
  branch(node);
  const unsigned outer_level = level_;
  for (Node at = next(first(node)); at < last(node); at = next(at)) {
    if (kind(at) == Kind::ElseClause) otherwise = at;
    if (kind(at) != Kind::ElifClause) continue;
    if (++level_ >= most_levels) {
      report_too_deep(at);
      break;
    }
    branch(at);
  }
  std::uint32_t end = branches.back().end;
  Block orelse = otherwise == no_node ? Block{} : else_block(otherwise, end);
  level_ = outer_level;
  for (std::size_t index = branches.size(); index-- > 0;) {
    const Branch& current = branches[index];
    const StmtId id = add(StmtKind::If, {at(current.node).begin, end});
    stmt(id).header = header(current.node);
    stmt(id).a = current.test;
    stmt(id).body = current.body;
    stmt(id).orelse = orelse;
    if (index == 0) {
      finish(id);
    } else {
      orelse = {static_cast<std::uint32_t>(module_.stmt_lists.size()), 1};
      module_.stmt_lists.push_back(id);
    }
  }
}

// The statements of an else or finally clause; `end` moves to their end.
Block Lowering::else_block(Node clause, std::uint32_t& end) {
  const Block result = body_of(clause, child(clause, Kind::Block));
  end = std::max(end, end_of(result, header(clause).end));
  return result;
}

void Lowering::while_statement(Node node) {
  const ExprId test = expression_or_error(node, child(node, Field::Condition));
  const Span head = header(node);
  const Block body = body_of(node, child(node, Field::Body));
  std::uint32_t end = end_of(body, head.end);
  const Node otherwise = child(node, Kind::ElseClause);
  const Block orelse = otherwise == no_node ? Block{} : else_block(otherwise, end);
  const StmtId id = finish(add(StmtKind::While, {at(node).begin, end}));
  stmt(id).header = head;
  stmt(id).a = test;
  stmt(id).body = body;
  stmt(id).orelse = orelse;
}

void Lowering::for_statement(Node node) {
  const Node left = child(node, Field::Left);
  const ExprId iterable = expression_or_error(node, child(node, Field::Right));
  const std::size_t begin = mark();
  pending(left == no_node ? error_expression(span(node)) : target(left));
  const ir::Range targets = take(begin);
  const Span head = header(node);
  const Block body = body_of(node, child(node, Field::Body));
  std::uint32_t end = end_of(body, head.end);
  const Node otherwise = child(node, Kind::ElseClause);
  const Block orelse = otherwise == no_node ? Block{} : else_block(otherwise, end);
  const StmtId id = finish(add(StmtKind::For, {at(node).begin, end}));
  stmt(id).header = head;
  stmt(id).a = iterable;
  stmt(id).items = targets;
  stmt(id).body = body;
  stmt(id).orelse = orelse;
  stmt(id).op = child(node, Kind::Async) != no_node ? 1 : 0;
}

void Lowering::with_statement(Node node) {
  const std::size_t begin = mark();
  if (const Node clause = child(node, Kind::WithClause); clause != no_node) with_items(clause);
  const ir::Range items = take(begin);
  const Span head = header(node);
  const Block body = body_of(node, child(node, Field::Body));
  const StmtId id = finish(add(StmtKind::With, {at(node).begin, end_of(body, head.end)}));
  stmt(id).header = head;
  stmt(id).items = items;
  stmt(id).body = body;
  stmt(id).op = child(node, Kind::Async) != no_node ? 1 : 0;
}

// `with (a as x, b):` may come out as a with clause in parentheses or as one item that is a tuple.
void Lowering::with_items(Node clause) {
  Node only = no_node;
  std::size_t count = 0;
  for (Node at = first(clause); at < last(clause); at = next(at)) {
    if (kind(at) != Kind::WithItem) continue;
    only = operand(at);
    ++count;
  }
  if (count == 1 && only != no_node && (kind(only) == Kind::Tuple || kind(only) == Kind::ParenthesizedExpression)) {
    bool plain = has_children(only);
    for (Node at = first(only); at < last(only); at = next(at)) {
      if (kind(at) == Kind::ListSplat || kind(at) == Kind::Yield || kind(at) == Kind::NamedExpression) plain = false;
    }
    if (plain && operand(only) != no_node) {
      for (Node at = first(only); at < last(only); at = next(at)) {
        if (is_operand(at)) pending(with_item(at));
      }
      return;
    }
  }
  for (Node at = first(clause); at < last(clause); at = next(at)) {
    if (kind(at) == Kind::WithItem && operand(at) != no_node) pending(with_item(operand(at)));
  }
}

ExprId Lowering::with_item(Node value) {
  // In `a if b else c as d` the grammar hangs the `as` on `c`.
  Node as = value;
  while (as != no_node && (kind(as) == Kind::ConditionalExpression || kind(as) == Kind::Lambda)) {
    Node tail = no_node;
    for (Node at = first(as); at < last(as); at = next(at)) {
      if (is_operand(at)) tail = at;
    }
    as = tail;
  }
  const bool named = as != no_node && kind(as) == Kind::AsPattern;
  const Node alias = named ? child(as, Field::Alias) : no_node;
  hoisted_as_ = named ? as : no_node;
  const ExprId a = expression(value);
  if (named && as != value) {
    const std::uint32_t end = expr(a).span.end;
    for (ExprId tail = a; tail && expr(tail).kind == ExprKind::Conditional && expr(tail).span.end == end;) {
      expr(tail).span.end = operand(as) == no_node ? end : at(operand(as)).end;
      tail = expr(tail).c;
    }
  }
  const ExprId b = alias == no_node ? ExprId{} : target(alias);
  const ExprId id = add(ExprKind::WithItem, span(value));
  expr(id).a = a;
  expr(id).b = b;
  return id;
}

void Lowering::try_statement(Node node) {
  const Span head = header(node);
  const Block body = body_of(node, child(node, Field::Body));
  std::uint32_t end = end_of(body, head.end);
  Block orelse, finally;
  std::vector<ir::Handler> handlers;
  for (Node at = first(node); at < last(node); at = next(at)) {
    if (kind(at) == Kind::ExceptClause) handlers.push_back(handler(at, end));
    if (kind(at) == Kind::ElseClause) orelse = else_block(at, end);
    if (kind(at) == Kind::FinallyClause) finally = else_block(at, end);
  }
  const StmtId id = finish(add(StmtKind::Try, {at(node).begin, end}));
  stmt(id).header = head;
  stmt(id).body = body;
  stmt(id).orelse = orelse;
  stmt(id).finally = finally;
  stmt(id).handlers = {static_cast<std::uint32_t>(module_.handlers.size()),
                       static_cast<std::uint32_t>(handlers.size())};
  module_.handlers.insert(module_.handlers.end(), handlers.begin(), handlers.end());
}

ir::Handler Lowering::handler(Node node, std::uint32_t& end) {
  ir::Handler result;
  result.star = child(node, Kind::Star) != no_node;
  Node colon = child(node, Kind::Colon);
  if (colon == no_node) colon = last(node);
  Node type = operand(node);
  if (type != no_node && type > colon) type = no_node;
  Node alias = child(node, Field::Alias);
  if (type != no_node && kind(type) == Kind::AsPattern) {
    alias = child(type, Field::Alias);
    type = operand(type);
    if (type != no_node) result.type = expression(type);
  } else if (type != no_node && alias != no_node) {
    result.type = expression(type);
  } else if (type != no_node) {
    result.type = one_or_tuple(type, colon);
  }
  if (alias != no_node) result.target = target(alias);
  result.body = body_of(node, child(node, Kind::Block));
  const std::uint32_t own_end = end_of(result.body, header(node).end);
  result.span = {at(node).begin, own_end};
  end = std::max(end, own_end);
  return result;
}

void Lowering::match_statement(Node node) {
  const Span head = header(node);
  const Node body = child(node, Field::Body);
  Node colon = child(node, Kind::Colon);
  if (colon == no_node) colon = last(node);
  const ExprId subject = one_or_tuple(next(first(node)), colon);
  std::uint32_t end = head.end;
  std::vector<ir::MatchCase> cases;
  for (Node at = body == no_node ? last(node) : first(body); at < last(node); at = next(at)) {
    if (kind(at) != Kind::CaseClause) continue;
    ir::MatchCase added;
    const Node from = next(first(at));
    Node to = from;
    Span patterns{};
    bool comma = false;
    for (; to < last(at) && (kind(to) == Kind::CasePattern || kind(to) == Kind::Comma); to = next(to)) {
      comma = comma || kind(to) == Kind::Comma;
      if (to == from) patterns.begin = nodes_[to].begin;
      patterns.end = nodes_[to].end;
    }
    added.pattern = from == to ? error_expression(span(at)) : pattern_list(from, to, patterns, comma);
    if (const Node guard = child(at, Field::Guard); guard != no_node) {
      added.guard = expression_or_error(guard, operand(guard));
    }
    added.body = body_of(at, child(at, Field::Consequence));
    end = std::max(end, end_of(added.body, header(at).end));
    cases.push_back(added);
  }
  const StmtId id = finish(add(StmtKind::Match, {at(node).begin, end}));
  stmt(id).header = head;
  stmt(id).a = subject;
  stmt(id).handlers = {static_cast<std::uint32_t>(module_.cases.size()), static_cast<std::uint32_t>(cases.size())};
  module_.cases.insert(module_.cases.end(), cases.begin(), cases.end());
}

// "a.b.c", whatever blanks stand between.
Symbol Lowering::dotted(Node node) const {
  const std::string_view written = text(node);
  if (written.find_first_of(" \t\\\r\n\f") == std::string_view::npos) return Symbol::intern(written);
  std::string joined;
  for (Node at = first(node); at < last(node); at = next(at)) {
    if (kind(at) != Kind::Identifier) continue;
    if (!joined.empty()) joined += '.';
    joined += text(at);
  }
  return Symbol::intern(joined);
}

void Lowering::import_statement(Node node) {
  const StmtId id = add(StmtKind::Import, span(node));
  aliases(id, first(node), last(node), true);
  finish(id);
}

void Lowering::import_from(Node node) {
  const StmtId id = add(StmtKind::ImportFrom, span(node));
  finish(id);
  Node from = first(node);
  if (kind(node) == Kind::FutureImportStatement) {
    stmt(id).module = Symbol::intern("__future__");
  } else if (const Node module = child(node, Field::ModuleName); module != no_node) {
    from = next(module);
    Node path = module;
    if (kind(module) == Kind::RelativeImport) {
      if (const Node dots = child(module, Kind::ImportPrefix); dots != no_node) {
        stmt(id).level = static_cast<std::uint16_t>(std::ranges::count(text(dots), '.'));
      }
      path = child(module, Kind::DottedName);
    }
    if (path != no_node) stmt(id).module = dotted(path);
  }
  if (const Node star = child(node, Kind::WildcardImport); star != no_node) {
    stmt(id).aliases = {static_cast<std::uint32_t>(module_.aliases.size()), 1};
    module_.aliases.push_back({.name = Symbol::intern("*"), .as = {}, .target = {}, .span = span(star)});
    return;
  }
  aliases(id, from, last(node), false);
}

// The names imported by `id`; `import a.b` binds a, all others the last name or the alias.
void Lowering::aliases(StmtId id, Node from, Node to, bool whole_path) {
  const auto start = static_cast<std::uint32_t>(module_.aliases.size());
  for (Node at = from; at < to; at = next(at)) {
    const bool renamed = kind(at) == Kind::AliasedImport;
    if (!renamed && kind(at) != Kind::DottedName) continue;
    const Node path = renamed ? child(at, Field::Name) : at;
    const Node alias = renamed ? child(at, Field::Alias) : no_node;
    if (path == no_node) continue;
    ir::Alias added{.name = dotted(path), .as = {}, .target = {}, .span = span(at)};
    Node bound = alias;
    if (alias != no_node) {
      added.as = symbol(alias);
    } else {
      bound = whole_path ? child(path, Kind::Identifier) : path;
    }
    if (bound == no_node || added.name.text().empty()) continue;
    added.target = bound_name(span(bound), symbol(bound));
    module_.aliases.push_back(added);
  }
  stmt(id).aliases = {start, static_cast<std::uint32_t>(module_.aliases.size()) - start};
}

void Lowering::scope_statement(Node node) {
  const bool global = kind(node) == Kind::GlobalStatement;
  for (Node at = first(node); at < last(node); at = next(at)) {
    if (kind(at) != Kind::Identifier) continue;
    if (global) {
      scopes_.declare_global(place_.scope, symbol(at));
    } else {
      scopes_.declare_nonlocal(place_.scope, symbol(at));
    }
  }
  finish(add(global ? StmtKind::Global : StmtKind::Nonlocal, span(node)));
}

}  // namespace fullgraph::python
