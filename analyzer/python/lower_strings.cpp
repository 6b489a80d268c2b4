// String literals: plain ones become one decoded text, f-strings (and t-strings) a list of texts and fields.
#include "analyzer/python/lowering.h"
#include "analyzer/python/strings.h"

namespace fullgraph::python {

using ir::ExprId;
using ir::ExprKind;
using ir::Span;
using ir::Symbol;

// The literal text seen since the last field, which may come from several adjacent literals.
struct Lowering::FormatText {
  std::string text;
  Span span;
  bool empty = true;

  void extend(Span more) {
    if (empty) span.begin = more.begin;
    span.end = more.end;
    empty = false;
  }
};

// The bytes between the quotes. The end token is not to be trusted: in r'\\\\' it covers the backslashes too.
Span Lowering::content(Node string) const {
  const Node start = child(string, Kind::StringStart);
  const Node end = child(string, Kind::StringEnd);
  const std::uint32_t begin = start == no_node ? at(string).begin : at(start).end;
  if (end == no_node || at(end).missing || start == no_node) return {begin, std::max(begin, at(string).end)};
  const std::uint32_t quotes = text(start).ends_with("\"\"\"") || text(start).ends_with("'''") ? 3 : 1;
  return {begin, std::max(begin, at(end).end - quotes)};
}

ExprId Lowering::string(Node node) {
  const Node start = child(node, Kind::StringStart);
  const StringPrefix prefix = start == no_node ? StringPrefix{} : string_prefix(text(start));
  if (prefix.format) {
    const std::size_t begin = mark();
    FormatText pieces;
    format_parts(node, pieces);
    flush(pieces);
    return add_list(ExprKind::FString, span(node), begin);
  }
  const Span inside = content(node);
  const std::string_view written = text_.substr(inside.begin, inside.end - inside.begin);
  Symbol value;
  if (written.find(prefix.raw ? '\r' : '\\') == std::string_view::npos &&
      written.find('\r') == std::string_view::npos) {
    value = Symbol::intern(written);
  } else {
    std::string decoded;
    append_decoded(decoded, written, prefix);
    value = Symbol::intern(decoded);
  }
  const ExprId id = add(prefix.bytes ? ExprKind::Bytes : ExprKind::String, span(node));
  expr(id).name = value;
  return id;
}

// Adjacent literals are one string; one f-string among them makes it an f-string.
ExprId Lowering::concatenated(Node node) {
  bool format = false;
  bool bytes = false;
  for (Node part = first(node); part < last(node); part = next(part)) {
    const Node start = kind(part) == Kind::String ? child(part, Kind::StringStart) : no_node;
    if (start == no_node) continue;
    const StringPrefix prefix = string_prefix(text(start));
    format = format || prefix.format;
    bytes = bytes || prefix.bytes;
  }
  const std::size_t begin = mark();
  FormatText pieces;
  for (Node part = first(node); part < last(node); part = next(part)) {
    if (kind(part) == Kind::String) format_parts(part, pieces);
  }
  if (format) {
    flush(pieces);
    return add_list(ExprKind::FString, span(node), begin);
  }
  const ExprId id = add(bytes ? ExprKind::Bytes : ExprKind::String, span(node));
  expr(id).name = Symbol::intern(pieces.text);
  return id;
}

void Lowering::flush(FormatText& text) {
  if (!text.text.empty()) {
    const ExprId id = add(ExprKind::String, text.span);
    expr(id).name = Symbol::intern(text.text);
    pending(id);
  }
  text = {};
}

void Lowering::format_parts(Node string, FormatText& text) {
  const Node start = child(string, Kind::StringStart);
  const StringPrefix prefix = start == no_node ? StringPrefix{} : string_prefix(this->text(start));
  const Span inside = content(string);
  std::uint32_t done = inside.begin;
  const auto literal = [&](std::uint32_t end) {
    if (end <= done) return;
    text.extend({done, end});
    append_decoded(text.text, text_.substr(done, end - done), prefix);
  };
  for (Node part = first(string); part < last(string); part = next(part)) {
    if (kind(part) != Kind::Interpolation) continue;
    literal(at(part).begin);
    format_field(part, text);
    done = at(part).end;
  }
  literal(inside.end);
}

// `{value=!r:spec}`
void Lowering::format_field(Node node, FormatText& text) {
  const Node value = operand(node);
  Node conversion = no_node;
  Node specifier = no_node;
  bool debug = false;
  std::uint32_t debug_end = at(node).end - 1;
  for (Node part = value == no_node ? last(node) : next(value); part < last(node); part = next(part)) {
    if (kind(part) == Kind::Equal) debug = true;
    if (kind(part) == Kind::TypeConversion) conversion = part;
    if (kind(part) == Kind::FormatSpecifier) specifier = part;
    if (kind(part) == Kind::TypeConversion || kind(part) == Kind::FormatSpecifier) {
      debug_end = std::min(debug_end, at(part).begin);
    }
  }
  ir::Conversion op = ir::Conversion::None;
  if (debug) {
    const Span written{at(node).begin + 1, debug_end};
    text.extend(written);
    append_decoded(text.text, text_.substr(written.begin, written.end - written.begin), {.raw = true});
    if (specifier == no_node) op = ir::Conversion::Repr;
  }
  if (conversion != no_node) {
    const char letter = this->text(conversion).back();
    op = letter == 's' ? ir::Conversion::Str : letter == 'a' ? ir::Conversion::Ascii : ir::Conversion::Repr;
  }
  flush(text);
  if (value != no_node && kind(value) == Kind::NamedExpression && specifier == no_node)
    return aligned_field(node, value);
  const ExprId lowered = expression_or_error(node, value);
  const ExprId format = specifier == no_node ? ExprId{} : format_specifier(specifier, false);
  const ExprId id = add_unary(ExprKind::Formatted, span(node), lowered, static_cast<unsigned>(op));
  expr(id).b = format;
  pending(id);
}

// `{x:=5}` is x with the format "=5"; only in parentheses is it an assignment.
void Lowering::aligned_field(Node node, Node named) {
  const Node name = child(named, Field::Name);
  if (name == no_node) return pending(error_expression(span(node)));
  const ExprId value = this->name(name);
  const auto colon = static_cast<std::uint32_t>(text_.find(':', at(name).end));
  const Span format{colon + 1, at(node).end - 1};
  const std::size_t begin = mark();
  const ExprId literal = add(ExprKind::String, format);
  expr(literal).name = Symbol::intern(text_.substr(format.begin, format.end - format.begin));
  pending(literal);
  const ExprId specifier = add_list(ExprKind::FString, format, begin);
  const ExprId id = add_unary(ExprKind::Formatted, span(node), value);
  expr(id).b = specifier;
  pending(id);
}

// The part after the colon: text with fields in it.
ExprId Lowering::format_specifier(Node node, bool raw) {
  const StringPrefix prefix{.raw = raw, .bytes = false, .format = true};
  const std::size_t begin = mark();
  FormatText pieces;
  std::uint32_t done = at(node).begin + 1;
  const auto literal = [&](std::uint32_t end) {
    if (end <= done) return;
    pieces.extend({done, end});
    append_decoded(pieces.text, text_.substr(done, end - done), prefix);
  };
  for (Node part = first(node); part < last(node); part = next(part)) {
    if (kind(part) != Kind::FormatExpression && kind(part) != Kind::Interpolation) continue;
    literal(at(part).begin);
    format_field(part, pieces);
    done = at(part).end;
  }
  literal(at(node).end);
  flush(pieces);
  return add_list(ExprKind::FString, {at(node).begin + 1, at(node).end}, begin);
}

}  // namespace fullgraph::python
