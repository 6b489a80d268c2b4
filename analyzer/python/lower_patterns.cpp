// Patterns of `match` statements.
#include "analyzer/python/lowering.h"

namespace fullgraph::python {

using ir::ExprId;
using ir::ExprKind;
using ir::Span;
using ir::Symbol;

ExprId Lowering::pattern(Node node) {
  if (level_ >= most_levels) return expression(node);
  ++level_;
  // `case_pattern` only wraps; what it holds may be two nodes (a sign and a number).
  Node inner = node;
  ExprId result;
  if (kind(node) == Kind::CasePattern) {
    inner = first(node);
    result = inner < last(node) ? pattern_at(inner, last(node)) : error_expression(span(node));
  } else {
    result = pattern_at(inner, next(node));
  }
  --level_;
  return result;
}

// Lowers the pattern that starts at `at` and moves `at` behind it.
ExprId Lowering::pattern_at(Node& at, Node end) {
  const Node node = at;
  if (kind(node) == Kind::Minus || kind(node) == Kind::Integer || kind(node) == Kind::Float)
    return pattern_number(at, end);
  at = next(node);
  switch (kind(node)) {
    case Kind::CasePattern:
      return pattern(node);
    case Kind::Underscore:
      return capture(span(node), no_node);
    case Kind::Identifier:
      return capture(span(node), node);
    case Kind::DottedName:
      return dotted_value(node);
    case Kind::String:
      return pattern_value(string(node));
    case Kind::ConcatenatedString:
      return pattern_value(concatenated(node));
    case Kind::True:
    case Kind::False:
    case Kind::None:
      return pattern_value(expression(node));
    case Kind::ComplexPattern: {
      Node part = first(node);
      return pattern_number(part, last(node));
    }
    case Kind::AsPattern: {
      const Node inner = operand(node);
      const Node name = inner == no_node ? no_node : operand(node, next(inner));
      const ExprId pattern = inner == no_node ? error_expression(span(node)) : this->pattern(inner);
      return name == no_node ? pattern : capture(span(node), name, pattern);
    }
    case Kind::UnionPattern: {
      const std::size_t begin = mark();
      for (Node part = first(node); part < last(node);) {
        if (kind(part) == Kind::Pipe || kind(part) == Kind::Error) {
          part = next(part);
        } else {
          pending(pattern_at(part, last(node)));
        }
      }
      return add_list(ExprKind::PatternOr, span(node), begin);
    }
    case Kind::ListPattern:
      return pattern_list(first(node), last(node), span(node), true);
    case Kind::TuplePattern:
      return pattern_list(first(node), last(node), span(node), false);
    case Kind::DictPattern:
      return mapping_pattern(node);
    case Kind::ClassPattern:
      return class_pattern(node);
    case Kind::SplatPattern: {
      Node name = operand(node);
      if (name == no_node) name = child(node, Kind::Underscore);
      const bool mapping = kind(first(node)) == Kind::StarStar;
      const ExprId inner = name == no_node ? error_expression(span(node)) : capture(span(name), name);
      return add_unary(mapping ? ExprKind::DoubleStarred : ExprKind::Starred, span(node), inner);
    }
    case Kind::KeywordPattern: {
      const Node name = operand(node);
      Node value = name == no_node ? last(node) : next(name);
      while (value < last(node) && (kind(value) == Kind::Equal || kind(value) == Kind::Error)) value = next(value);
      if (name == no_node || value >= last(node)) return error_expression(span(node));
      const Symbol symbol = this->symbol(name);
      const ExprId id = add_unary(ExprKind::Keyword, span(node), pattern_at(value, last(node)));
      expr(id).name = symbol;
      return id;
    }
    default:
      return error_expression(span(node));
  }
}

// Patterns with commas between them; `(p)` is just p.
ExprId Lowering::pattern_list(Node from, Node to, Span span, bool always_sequence) {
  const std::size_t begin = mark();
  bool comma = false;
  for (Node part = from; part < to; part = next(part)) {
    if (kind(part) == Kind::Comma) comma = true;
    if (is_operand(part)) pending(pattern(part));
  }
  const bool starred = mark() == begin + 1 && expr(pending_.back()).kind == ExprKind::Starred;
  if (!always_sequence && !comma && !starred && mark() == begin + 1) {
    const ExprId only = pending_.back();
    pending_.pop_back();
    return only;
  }
  return add_list(ExprKind::PatternSequence, span, begin);
}

ExprId Lowering::pattern_value(ExprId value) {
  return add_unary(ExprKind::PatternValue, expr(value).span, value);
}

// `1`, `-1`, `1 + 2j`, `-1 - 2j`
ExprId Lowering::pattern_number(Node& at, Node end) {
  const auto signed_number = [&]() -> ExprId {
    const std::uint32_t begin = nodes_[at].begin;
    const bool negative = kind(at) == Kind::Minus;
    if (negative) at = next(at);
    if (at >= end) return error_expression({begin, begin});
    const Node number = at;
    at = next(at);
    const ExprId value = this->number(number);
    if (!negative) return value;
    return add_unary(ExprKind::Unary, {begin, nodes_[number].end}, value, static_cast<unsigned>(ir::UnaryOp::Negative));
  };
  const ExprId real = signed_number();
  if (at >= end || (kind(at) != Kind::Plus && kind(at) != Kind::Minus)) return pattern_value(real);
  const ir::BinaryOp op = kind(at) == Kind::Plus ? ir::BinaryOp::Add : ir::BinaryOp::Sub;
  at = next(at);
  if (at >= end) return pattern_value(real);
  const ExprId imaginary = number(at);
  at = next(at);
  const ExprId sum = add(ExprKind::Binary, {expr(real).span.begin, expr(imaginary).span.end});
  expr(sum).op = static_cast<std::uint8_t>(op);
  expr(sum).a = real;
  expr(sum).b = imaginary;
  return pattern_value(sum);
}

ExprId Lowering::capture(Span span, Node name, ExprId inner) {
  ExprId bound;
  if (name != no_node && text(name) != "_" && !at(name).missing) {
    bound = bound_name(this->span(name), symbol(name));
  }
  const ExprId id = add(ExprKind::PatternCapture, span);
  expr(id).a = bound;
  expr(id).b = inner;
  return id;
}

// A single name captures, a dotted one is a value to compare with.
ExprId Lowering::dotted_value(Node node) {
  const Node start = operand(node);
  if (start == no_node) return error_expression(span(node));
  if (operand(node, next(start)) == no_node) return capture(span(node), start);
  ExprId value = name(start);
  for (Node part = next(start); part < last(node); part = next(part)) {
    if (!is_operand(part)) continue;
    const ExprId attribute = add_unary(ExprKind::Attribute, {at(node).begin, at(part).end}, value);
    expr(attribute).name = symbol(part);
    value = attribute;
  }
  return pattern_value(value);
}

ExprId Lowering::class_pattern(Node node) {
  const Node path = operand(node);
  if (path == no_node) return error_expression(span(node));
  ExprId cls;
  const Node start = operand(path);
  if (start == no_node) {
    cls = error_expression(span(path));
  } else if (operand(path, next(start)) == no_node) {
    cls = name(start);
  } else {
    cls = expr(dotted_value(path)).a;
  }
  const std::size_t begin = mark();
  for (Node part = next(path); part < last(node); part = next(part)) {
    if (is_operand(part)) pending(pattern(part));
  }
  const ExprId id = add_list(ExprKind::PatternClass, span(node), begin);
  expr(id).a = cls;
  return id;
}

ExprId Lowering::mapping_pattern(Node node) {
  const std::size_t begin = mark();
  for (Node part = first(node); part < last(node);) {
    if (kind(part) == Kind::SplatPattern || kind(part) == Kind::CasePattern) {
      pending(pattern(part));
      part = next(part);
    } else if (at(part).field == Field::Key || kind(part) == Kind::Minus) {
      const std::uint32_t start = at(part).begin;
      const ExprId key_pattern = pattern_at(part, last(node));
      const bool value_key = expr(key_pattern).kind == ExprKind::PatternValue;
      const ExprId key = value_key ? expr(key_pattern).a : key_pattern;
      while (part < last(node) && kind(part) != Kind::CasePattern && kind(part) != Kind::Comma) part = next(part);
      if (part >= last(node) || kind(part) != Kind::CasePattern) continue;
      const std::uint32_t end = at(part).end;
      const ExprId value = pattern(part);
      part = next(part);
      const ExprId item = add(ExprKind::DictItem, {start, end});
      expr(item).a = key;
      expr(item).b = value;
      pending(item);
    } else {
      part = next(part);
    }
  }
  return add_list(ExprKind::PatternMapping, span(node), begin);
}

}  // namespace fullgraph::python
