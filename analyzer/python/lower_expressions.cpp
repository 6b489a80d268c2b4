// Expressions and assignment targets.
#include <algorithm>
#include <utility>

#include "analyzer/python/lowering.h"

namespace fullgraph::python {

using ir::BinaryOp;
using ir::CompareOp;
using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Span;
using ir::Symbol;
using ir::UnaryOp;

namespace {

BinaryOp binary_operator(Kind token) {
  switch (token) {
    case Kind::Minus:
      return BinaryOp::Sub;
    case Kind::Star:
      return BinaryOp::Mul;
    case Kind::At:
      return BinaryOp::MatMul;
    case Kind::Slash:
      return BinaryOp::Div;
    case Kind::SlashSlash:
      return BinaryOp::FloorDiv;
    case Kind::Percent:
      return BinaryOp::Mod;
    case Kind::StarStar:
      return BinaryOp::Pow;
    case Kind::LeftShift:
      return BinaryOp::LeftShift;
    case Kind::RightShift:
      return BinaryOp::RightShift;
    case Kind::Ampersand:
      return BinaryOp::And;
    case Kind::Pipe:
      return BinaryOp::Or;
    case Kind::Caret:
      return BinaryOp::Xor;
    default:
      return BinaryOp::Add;
  }
}

CompareOp compare_operator(Kind token) {
  switch (token) {
    case Kind::NotEqual:
    case Kind::LessGreater:
      return CompareOp::NotEq;
    case Kind::Less:
      return CompareOp::Less;
    case Kind::LessEqual:
      return CompareOp::LessEq;
    case Kind::Greater:
      return CompareOp::Greater;
    case Kind::GreaterEqual:
      return CompareOp::GreaterEq;
    case Kind::Is:
      return CompareOp::Is;
    case Kind::IsNot:
      return CompareOp::IsNot;
    case Kind::In:
      return CompareOp::In;
    case Kind::NotIn:
      return CompareOp::NotIn;
    default:
      return CompareOp::Eq;
  }
}

}  // namespace

ExprId Lowering::expression(Node node) {
  if (level_ >= most_levels) {
    report_too_deep(node);
    return error_expression(span(node));
  }
  ++level_;
  const ExprId result = expression_of_kind(node);
  --level_;
  return result;
}

ExprId Lowering::expression_or_error(Node parent, Node node) {
  return node == no_node ? error_expression({at(parent).end, at(parent).end}) : expression(node);
}

// Parentheses are not a level of the IR: thousands of them may be peeled off.
Lowering::Node Lowering::without_parentheses(Node node) const {
  for (;;) {
    const Kind outer = kind(node);
    if (outer != Kind::ParenthesizedExpression && outer != Kind::Type && outer != Kind::ParenthesizedListSplat)
      return node;
    const Node inner = operand(node);
    if (inner == no_node) return node;
    node = inner;
  }
}

ExprId Lowering::expression_of_kind(Node node) {
  if (node == soft_call_) return soft_keyword_call(node);
  node = without_parentheses(node);
  if (at(node).begin < text_.size() && text_[at(node).begin] == '*' && hoisted_star_ != at(node).begin) {
    if (const ExprId hoisted = hoist_star(node)) return hoisted;
  }
  switch (kind(node)) {
    case Kind::Identifier:
      return name(node);
    case Kind::Attribute:
      return attribute(node);
    case Kind::MemberType:
      return attribute(node);
    case Kind::Call:
      return call(node);
    case Kind::Subscript:
      return subscript(node);
    case Kind::GenericType:
      return generic_type(node);
    case Kind::Slice:
      return slice(node);
    case Kind::ConstrainedType:
      return slice(node);
    case Kind::Integer:
    case Kind::Float:
      return number(node);
    case Kind::String:
      return string(node);
    case Kind::ConcatenatedString:
      return concatenated(node);
    case Kind::None:
      return add(ExprKind::None, span(node));
    case Kind::True:
      return add(ExprKind::True, span(node));
    case Kind::False:
      return add(ExprKind::False, span(node));
    case Kind::Ellipsis:
      return add(ExprKind::Ellipsis, span(node));
    case Kind::UnaryOperator:
    case Kind::NotOperator:
      return unary(node);
    case Kind::BinaryOperator:
      return binary(node);
    case Kind::UnionType:
      return union_type(node);
    case Kind::BooleanOperator:
      return boolean(node);
    case Kind::ComparisonOperator:
      return comparison(node);
    case Kind::ConditionalExpression:
      return conditional(node);
    case Kind::NamedExpression:
      return named(node);
    case Kind::Lambda:
      return lambda(node);
    case Kind::Await:
      return await(node);
    case Kind::Yield:
      return yield(node);
    case Kind::List:
    case Kind::ListPattern:
      return display(ExprKind::List, node);
    case Kind::Tuple:
    case Kind::ExpressionList:
    case Kind::PatternList:
      return display(ExprKind::Tuple, node);
    case Kind::TuplePattern:
      return one_or_tuple(first(node), last(node));
    case Kind::Set:
      return display(ExprKind::Set, node);
    case Kind::Dictionary:
      return dictionary(node);
    case Kind::Pair:
      return pair(node);
    case Kind::ListComprehension:
      return comprehension(ExprKind::ListComp, node);
    case Kind::SetComprehension:
      return comprehension(ExprKind::SetComp, node);
    case Kind::DictionaryComprehension:
      return comprehension(ExprKind::DictComp, node);
    case Kind::GeneratorExpression:
      return comprehension(ExprKind::GeneratorExp, node);
    case Kind::ListSplat:
    case Kind::ListSplatPattern:
      if (hoisted_star_ == at(node).begin && operand(node) != no_node) return expression(operand(node));
      return starred(ExprKind::Starred, node);
    case Kind::DictionarySplat:
    case Kind::DictionarySplatPattern:
      return starred(ExprKind::DoubleStarred, node);
    case Kind::SplatType:
      return starred(kind(first(node)) == Kind::StarStar ? ExprKind::DoubleStarred : ExprKind::Starred, node);
    case Kind::KeywordArgument:
      return argument(node);
    case Kind::AsPattern:
      if (node == hoisted_as_ && operand(node) != no_node) return expression(operand(node));
      report(span(node), "invalid syntax: 'as' is not an operator");
      return error_expression(span(node));
    default:
      return error_expression(span(node));
  }
}

// In `*a.b(), c` the grammar may hang the star on `a` alone: lowers without it and puts it around the whole.
ExprId Lowering::hoist_star(Node node) {
  if (kind(node) == Kind::ExpressionList || kind(node) == Kind::PatternList) return {};
  Node head = node;
  while (head != no_node && at(head).begin == at(node).begin && kind(head) != Kind::ListSplat &&
         kind(head) != Kind::UnaryOperator) {
    head = operand(head);
  }
  if (head == no_node || head == node || at(head).begin != at(node).begin) return {};
  const Node inner = operand(head);
  if (inner == no_node) return {};
  const std::uint32_t star = at(node).begin;
  const std::uint32_t outer = std::exchange(hoisted_star_, star);
  const ExprId value = expression(node);
  hoisted_star_ = outer;
  for (ExprId left = value; left && expr(left).span.begin == star;) {
    Expr& current = expr(left);
    current.span.begin = at(inner).begin;
    left = current.kind == ExprKind::Conditional ? current.b
           : current.kind == ExprKind::BoolOp    ? module_.list(current.items)[0]
                                                 : current.a;
  }
  return add_unary(ExprKind::Starred, span(node), value);
}

ExprId Lowering::name(Node node) {
  if (at(node).missing) return error_expression(span(node));
  const ExprId id = add(ExprKind::Name, span(node));
  expr(id).name = symbol(node);
  scopes_.use(place_.scope, id);
  return id;
}

ExprId Lowering::attribute(Node node) {
  const Node object = operand(node);
  if (object == no_node) return error_expression(span(node));
  Node name = no_node;
  for (Node at = next(object); at < last(node); at = next(at)) {
    if (kind(at) == Kind::Identifier) name = at;
  }
  const ExprId value = expression(object);
  if (name == no_node || at(name).missing) return value;
  const ExprId id = add(ExprKind::Attribute, {at(node).begin, at(name).end});
  expr(id).a = value;
  expr(id).name = symbol(name);
  return id;
}

ExprId Lowering::call(Node node) {
  const Node callee = operand(node);
  if (callee == no_node) return error_expression(span(node));
  const Node list = operand(node, next(callee));
  const ExprId function = expression(callee);
  ir::Range items;
  if (list != no_node && kind(list) == Kind::GeneratorExpression) {
    const std::size_t begin = mark();
    pending(expression(list));
    items = take(begin);
  } else if (list != no_node) {
    items = arguments(list);
  }
  const ExprId id = add(ExprKind::Call, span(node));
  expr(id).a = function;
  expr(id).items = items;
  return id;
}

ir::Range Lowering::arguments(Node node) {
  const std::size_t begin = mark();
  for (Node at = first(node); at < last(node); at = next(at)) {
    if (is_operand(at)) pending(argument(at));
  }
  return take(begin);
}

ExprId Lowering::argument(Node node) {
  if (kind(node) != Kind::KeywordArgument) return expression(node);
  const Node name = child(node, Field::Name);
  const Node value = child(node, Field::Value);
  if (name == no_node) return error_expression(span(node));
  const ExprId lowered = expression_or_error(node, value);
  const ExprId id = add_unary(ExprKind::Keyword, span(node), lowered);
  expr(id).name = symbol(name);
  return id;
}

ExprId Lowering::subscript(Node node) {
  const Node value = operand(node);
  if (value == no_node) return error_expression(span(node));
  const ExprId object = expression(value);
  const Node index = operand(node, next(value));
  const ExprId lowered =
      index == no_node ? error_expression({at(node).end, at(node).end}) : one_or_tuple(index, last(node));
  const ExprId id = add(ExprKind::Subscript, span(node));
  expr(id).a = object;
  expr(id).b = lowered;
  return id;
}

// `List[int]` in an annotation: the grammar has a node of its own for it.
ExprId Lowering::generic_type(Node node) {
  const Node base = operand(node);
  const Node parameters = child(node, Kind::TypeParameter);
  if (base == no_node || parameters == no_node) return error_expression(span(node));
  const ExprId object = expression(base);
  const ExprId index = one_or_tuple(first(parameters), last(parameters));
  const ExprId id = add(ExprKind::Subscript, span(node));
  expr(id).a = object;
  expr(id).b = index;
  return id;
}

// `list[A] | B | None` in an annotation: the grammar may nest it to the right, Python nests it to the left.
ExprId Lowering::union_type(Node node) {
  std::vector<Node> operands;
  std::vector<Node> open{node};
  while (!open.empty()) {
    const Node current = open.back();
    open.pop_back();
    Node inner = current;
    while (kind(inner) == Kind::Type && operand(inner) != no_node) inner = operand(inner);
    const bool chain =
        kind(inner) == Kind::UnionType || (kind(inner) == Kind::BinaryOperator && child(inner, Kind::Pipe) != no_node);
    const Node left = chain ? operand(inner) : no_node;
    if (left == no_node) {
      operands.push_back(current);
      continue;
    }
    if (const Node right = operand(inner, next(left)); right != no_node) open.push_back(right);
    open.push_back(left);
  }
  if (operands.size() > most_levels - std::min(level_, most_levels)) {
    report_too_deep(node);
    return error_expression(span(node));
  }
  const std::uint32_t begin = at(operands.front()).begin;
  ExprId result = expression(operands.front());
  for (std::size_t index = 1; index < operands.size(); ++index) {
    const ExprId right = expression(operands[index]);
    const ExprId id = add(ExprKind::Binary, {begin, at(operands[index]).end});
    expr(id).op = static_cast<std::uint8_t>(BinaryOp::Or);
    expr(id).a = result;
    expr(id).b = right;
    result = id;
  }
  return result;
}

// `type(x).attribute = y` looks like the start of a type alias to the grammar. `arguments` is what stands in
// parentheses.
ExprId Lowering::soft_keyword_call(Node arguments) {
  soft_call_ = no_node;
  const ExprId callee = add(ExprKind::Name, soft_keyword_);
  expr(callee).name = Symbol::intern(text_.substr(soft_keyword_.begin, soft_keyword_.end - soft_keyword_.begin));
  scopes_.use(place_.scope, callee);
  const std::size_t begin = mark();
  if (kind(arguments) == Kind::GeneratorExpression) {
    pending(expression(arguments));
  } else {
    children_of(arguments);
  }
  const ir::Range items = take(begin);
  const ExprId id = add(ExprKind::Call, {soft_keyword_.begin, at(arguments).end});
  expr(id).a = callee;
  expr(id).items = items;
  return id;
}

ExprId Lowering::slice(Node node) {
  std::array<ExprId, 3> parts;
  std::size_t part = 0;
  for (Node at = first(node); at < last(node); at = next(at)) {
    if (kind(at) == Kind::Colon) {
      part = std::min<std::size_t>(part + 1, 2);
    } else if (is_operand(at)) {
      parts[part] = expression(at);
    }
  }
  const ExprId id = add(ExprKind::Slice, span(node));
  expr(id).a = parts[0];
  expr(id).b = parts[1];
  expr(id).c = parts[2];
  return id;
}

ExprId Lowering::number(Node node) {
  if (at(node).missing) return error_expression(span(node));
  const std::string_view digits = text(node);
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (digits.ends_with('l') || digits.ends_with('L'))
    report(span(node), "invalid number `" + std::string(digits) + "`");
  if (!hexadecimal && (digits.ends_with('j') || digits.ends_with('J'))) return add(ExprKind::Imaginary, span(node));
  return add(kind(node) == Kind::Integer ? ExprKind::Int : ExprKind::Float, span(node));
}

ExprId Lowering::unary(Node node) {
  // A star that was passed to the parser as `~`.
  if (text_[at(node).begin] == '*') {
    if (hoisted_star_ == at(node).begin && operand(node) != no_node) return expression(operand(node));
    return starred(ExprKind::Starred, node);
  }
  const Kind token = kind(first(node));
  const UnaryOp op = kind(node) == Kind::NotOperator ? UnaryOp::Not
                     : token == Kind::Minus          ? UnaryOp::Negative
                     : token == Kind::Plus           ? UnaryOp::Positive
                                                     : UnaryOp::Invert;
  return add_unary(ExprKind::Unary, span(node), expression_or_error(node, operand(node)), static_cast<unsigned>(op));
}

ExprId Lowering::binary(Node node) {
  const Node left = operand(node);
  if (left == no_node) return error_expression(span(node));
  Node token = next(left);
  while (token < last(node) && !is_token(kind(token))) token = next(token);
  if (token < last(node) && kind(token) == Kind::Ampersand) {
    if (const ExprId regrouped = and_of_xor(node)) return regrouped;
  }
  const Node right = token < last(node) ? operand(node, token) : no_node;
  const ExprId a = expression(left);
  const ExprId b = expression_or_error(node, right);
  const ExprId id = add(ExprKind::Binary, span(node));
  if (token < last(node)) expr(id).op = static_cast<std::uint8_t>(binary_operator(kind(token)));
  expr(id).a = a;
  expr(id).b = b;
  return id;
}

// The grammar lets `^` bind tighter than `&`; in Python it is the other way round. Regroups a chain of both; none when
// there is no `^` in it.
ExprId Lowering::and_of_xor(Node node) {
  struct Operand {
    Node node;
    Kind before;  // the operator in front of it
  };
  std::vector<Operand> operands;
  std::vector<Operand> open{{node, Kind::Token}};
  bool mixed = false;
  while (!open.empty()) {
    const Operand current = open.back();
    open.pop_back();
    const bool chain = kind(current.node) == Kind::BinaryOperator;
    Node token = chain ? child(current.node, Kind::Ampersand) : no_node;
    if (chain && token == no_node) token = child(current.node, Kind::Caret);
    const Node left = token == no_node ? no_node : operand(current.node);
    const Node right = left == no_node ? no_node : operand(current.node, token);
    if (right == no_node) {
      operands.push_back(current);
      continue;
    }
    mixed = mixed || kind(token) == Kind::Caret;
    open.push_back({right, kind(token)});
    open.push_back({left, current.before});
  }
  if (!mixed) return {};
  if (operands.size() > most_levels - std::min(level_, most_levels)) {
    report_too_deep(node);
    return error_expression(span(node));
  }
  const auto join = [&](BinaryOp op, ExprId a, ExprId b, Span whole) {
    const ExprId id = add(ExprKind::Binary, whole);
    expr(id).op = static_cast<std::uint8_t>(op);
    expr(id).a = a;
    expr(id).b = b;
    return id;
  };
  ExprId sum;
  std::uint32_t sum_begin = 0;
  for (std::size_t index = 0; index < operands.size();) {
    const std::uint32_t begin = at(operands[index].node).begin;
    std::uint32_t end = at(operands[index].node).end;
    ExprId product = expression(operands[index].node);
    for (++index; index < operands.size() && operands[index].before == Kind::Ampersand; ++index) {
      end = at(operands[index].node).end;
      product = join(BinaryOp::And, product, expression(operands[index].node), {begin, end});
    }
    if (!sum) sum_begin = begin;
    sum = sum ? join(BinaryOp::Xor, sum, product, {sum_begin, end}) : product;
  }
  return sum;
}

// The grammar binds `await x ** y` as `await (x ** y)`; Python awaits first.
ExprId Lowering::await(Node node) {
  const Node value = operand(node);
  if (value != no_node && kind(value) == Kind::BinaryOperator) {
    const Node left = operand(value);
    const Node power = child(value, Kind::StarStar);
    if (left != no_node && power != no_node) {
      const ExprId awaited = add_unary(ExprKind::Await, {at(node).begin, at(left).end}, expression(left));
      const ExprId exponent = expression_or_error(value, operand(value, power));
      const ExprId id = add(ExprKind::Binary, span(node));
      expr(id).op = static_cast<std::uint8_t>(BinaryOp::Pow);
      expr(id).a = awaited;
      expr(id).b = exponent;
      return id;
    }
  }
  return add_unary(ExprKind::Await, span(node), expression_or_error(node, value));
}

// `a or b or c` is nested to the left in the tree and one node in the IR.
ExprId Lowering::boolean(Node node) {
  const bool disjunction = child(node, Kind::Or) != no_node;
  const Kind token = disjunction ? Kind::Or : Kind::And;
  std::vector<Node> rights;
  Node left = node;
  for (;;) {
    const Node inner = operand(left);
    if (inner == no_node) return error_expression(span(node));
    rights.push_back(operand(left, next(inner)));
    left = inner;
    if (kind(left) != Kind::BooleanOperator || child(left, token) == no_node) break;
  }
  const std::size_t begin = mark();
  pending(expression(left));
  for (auto right = rights.rbegin(); right != rights.rend(); ++right) pending(expression_or_error(node, *right));
  const ExprId id = add_list(ExprKind::BoolOp, span(node), begin);
  expr(id).op = disjunction ? 1 : 0;
  return id;
}

ExprId Lowering::comparison(Node node) {
  const Node left = operand(node);
  if (left == no_node) return error_expression(span(node));
  const ExprId a = expression(left);
  const std::size_t begin = mark();
  Node token = no_node;
  for (Node at = next(left); at < last(node); at = next(at)) {
    if (is_token(kind(at))) token = at;
    if (!is_operand(at) || token == no_node) continue;
    const Span whole{nodes_[token].begin, nodes_[at].end};
    const ExprId right = expression(at);
    pending(add_unary(ExprKind::Comparison, whole, right, static_cast<unsigned>(compare_operator(kind(token)))));
    if (kind(token) == Kind::LessGreater) report(span(token), "invalid syntax near `<>`");
  }
  const ExprId id = add_list(ExprKind::Compare, span(node), begin);
  expr(id).a = a;
  return id;
}

ExprId Lowering::conditional(Node node) {
  const Node when_true = operand(node);
  if (when_true == no_node) return error_expression(span(node));
  const Node test = operand(node, next(when_true));
  const Node when_false = test == no_node ? no_node : operand(node, next(test));
  // The grammar reads `x := a if b else c` as `(x := a) if b else c`.
  const bool inner_name = kind(when_true) == Kind::NamedExpression && child(when_true, Field::Value) != no_node;
  const Node value = inner_name ? child(when_true, Field::Value) : when_true;
  const ExprId named = inner_name ? named_target(when_true) : ExprId{};
  const ExprId b = expression(value);
  const ExprId a = expression_or_error(node, test);
  const ExprId c = expression_or_error(node, when_false);
  const ExprId id = add(ExprKind::Conditional, {at(value).begin, at(node).end});
  expr(id).a = a;
  expr(id).b = b;
  expr(id).c = c;
  if (!inner_name) return id;
  const ExprId whole = add(ExprKind::NamedExpr, span(node));
  expr(whole).a = named;
  expr(whole).b = id;
  return whole;
}

ExprId Lowering::named_target(Node node) {
  const Node name = child(node, Field::Name);
  if (name == no_node) return error_expression(span(node));
  const ExprId target = this->name(name);
  if (expr(target).name) scopes_.bind_named_expression(place_.scope, expr(target).name);
  return target;
}

ExprId Lowering::named(Node node) {
  const ExprId target = named_target(node);
  const ExprId lowered = expression_or_error(node, child(node, Field::Value));
  const ExprId id = add(ExprKind::NamedExpr, span(node));
  expr(id).a = target;
  expr(id).b = lowered;
  return id;
}

ExprId Lowering::yield(Node node) {
  if (place_.function) module_.functions[place_.function.index].is_generator = true;
  const bool from = child(node, Kind::From) != no_node;
  const ExprId value = optional_expression(operand(node));
  return add_unary(from ? ExprKind::YieldFrom : ExprKind::Yield, span(node), value);
}

ExprId Lowering::starred(ExprKind kind, Node node) {
  return add_unary(kind, span(node), expression_or_error(node, operand(node)));
}

void Lowering::children_of(Node node) {
  for (Node at = first(node); at < last(node); at = next(at)) {
    if (is_operand(at)) pending(expression(at));
  }
}

ExprId Lowering::display(ExprKind kind, Node node) {
  const std::size_t begin = mark();
  children_of(node);
  return add_list(kind, span(node), begin);
}

// The nodes in [from, to): `x` alone, or `x, y` and `x,` as a Tuple; brackets around them are left out of its span.
ExprId Lowering::one_or_tuple(Node from, Node to) {
  Span whole{};
  bool comma = false;
  std::size_t count = 0;
  Node only = no_node;
  for (Node at = from; at < to; at = next(at)) {
    if (kind(at) == Kind::Comma) {
      comma = true;
    } else if (is_operand(at)) {
      only = at;
      if (count++ == 0) whole.begin = nodes_[at].begin;
    } else {
      continue;
    }
    whole.end = nodes_[at].end;
  }
  if (count == 1 && !comma && kind(only) != Kind::ListSplat) return expression(only);
  const std::size_t begin = mark();
  for (Node at = from; at < to; at = next(at)) {
    if (is_operand(at)) pending(expression(at));
  }
  return add_list(ExprKind::Tuple, whole, begin);
}

ExprId Lowering::dictionary(Node node) {
  return display(ExprKind::Dict, node);
}

ExprId Lowering::pair(Node node) {
  const ExprId key = expression_or_error(node, child(node, Field::Key));
  const ExprId value = expression_or_error(node, child(node, Field::Value));
  const ExprId id = add(ExprKind::DictItem, span(node));
  expr(id).a = key;
  expr(id).b = value;
  return id;
}

// The first iterable is evaluated outside of the comprehension, all else inside.
ExprId Lowering::comprehension(ExprKind kind, Node node) {
  const Node body = operand(node);
  if (body == no_node) return error_expression(span(node));
  const ScopeId outer = place_.scope;
  const ScopeId inner = scopes_.open(ScopeKind::Comprehension, outer);
  const std::size_t begin = mark();
  bool first_clause = true;
  for (Node at = next(body); at < last(node); at = next(at)) {
    if (this->kind(at) == Kind::ForInClause) {
      const Node left = child(at, Field::Left);
      const Node right = child(at, Field::Right);
      place_.scope = first_clause ? outer : inner;
      const ExprId iterable = expression_or_error(at, right);
      place_.scope = inner;
      const ExprId bound = left == no_node ? error_expression(span(at)) : target(left);
      const ExprId clause = add(ExprKind::CompFor, span(at));
      expr(clause).a = bound;
      expr(clause).b = iterable;
      expr(clause).op = child(at, Kind::Async) != no_node ? 1 : 0;
      pending(clause);
      first_clause = false;
    } else if (this->kind(at) == Kind::IfClause) {
      place_.scope = inner;
      pending(add_unary(ExprKind::CompIf, span(at), expression_or_error(at, operand(at))));
    }
  }
  place_.scope = inner;
  ExprId a, b;
  if (kind == ExprKind::DictComp && this->kind(body) == Kind::Pair) {
    a = expression_or_error(body, child(body, Field::Key));
    b = expression_or_error(body, child(body, Field::Value));
  } else {
    a = expression(body);
  }
  place_.scope = outer;
  const ExprId id = add_list(kind, span(node), begin);
  expr(id).a = a;
  expr(id).b = b;
  return id;
}

ExprId Lowering::lambda(Node node) {
  const ir::FunctionId id{static_cast<std::uint32_t>(module_.functions.size())};
  module_.functions.emplace_back();
  const ScopeId scope = scopes_.open(ScopeKind::Function, place_.scope, id);
  const Node list = child(node, Field::Parameters);
  const ir::Range params = list == no_node ? ir::Range{} : parameters(list, scope);
  Place outer = place_;
  place_ = {scope, id, {}, outer.prefix + "<lambda>.<locals>."};
  const ExprId body = expression_or_error(node, child(node, Field::Body));
  ir::Function& function = module_.functions[id.index];
  function.name = Symbol::intern("<lambda>");
  function.qualified = outer.prefix + "<lambda>";
  function.span = span(node);
  function.name_span = {at(node).begin, at(node).begin + 6};
  function.params = params;
  function.lambda_body = body;
  function.parent = outer.function;
  place_ = std::move(outer);
  const ExprId result = add(ExprKind::Lambda, span(node));
  expr(result).function = id;
  return result;
}

ExprId Lowering::bound_name(Span span, Symbol symbol) {
  const ExprId id = add(ExprKind::Name, span);
  expr(id).name = symbol;
  scopes_.bind(place_.scope, symbol);
  scopes_.use(place_.scope, id);
  return id;
}

ExprId Lowering::target(Node node) {
  if (level_ >= most_levels) return expression(node);
  ++level_;
  const ExprId result = target_of_kind(node);
  --level_;
  return result;
}

ExprId Lowering::target_of_kind(Node node) {
  node = without_parentheses(node);
  switch (kind(node)) {
    case Kind::Identifier:
      return at(node).missing ? error_expression(span(node)) : bound_name(span(node), symbol(node));
    case Kind::AsPatternTarget:
      return operand(node) == no_node ? error_expression(span(node)) : target(operand(node));
    case Kind::TuplePattern:
    case Kind::Tuple:
    case Kind::ListPattern:
    case Kind::List:
    case Kind::PatternList:
    case Kind::ExpressionList: {
      const Node only = operand(node);
      const bool parentheses =
          kind(node) == Kind::TuplePattern && only != no_node && child(node, Kind::Comma) == no_node;
      if (parentheses) return target(only);
      const std::size_t begin = mark();
      for (Node at = first(node); at < last(node); at = next(at)) {
        if (is_operand(at)) pending(target(at));
      }
      const bool list = kind(node) == Kind::ListPattern || kind(node) == Kind::List;
      return add_list(list ? ExprKind::List : ExprKind::Tuple, span(node), begin);
    }
    case Kind::ListSplatPattern:
    case Kind::ListSplat: {
      const Node value = operand(node);
      const ExprId inner = value == no_node ? error_expression(span(node)) : target(value);
      return add_unary(ExprKind::Starred, span(node), inner);
    }
    default:
      return expression(node);
  }
}

}  // namespace fullgraph::python
