// Functions, classes, parameters and type parameters.
#include "analyzer/python/lowering.h"

namespace fullgraph::python {

using ir::ClassId;
using ir::ExprId;
using ir::ExprKind;
using ir::FunctionId;
using ir::Param;
using ir::ParamKind;
using ir::Span;
using ir::StmtId;
using ir::StmtKind;
using ir::Symbol;

void Lowering::decorated(Node node) {
  const Node definition = child(node, Field::Definition);
  if (definition == no_node) return error_statement(node);
  if (kind(definition) == Kind::FunctionDefinition) return function_definition(definition, node);
  if (kind(definition) == Kind::ClassDefinition) return class_definition(definition, node);
  error_statement(node);
}

ir::Range Lowering::decorators(Node decorated) {
  if (decorated == no_node) return {};
  const std::size_t begin = mark();
  for (Node at = first(decorated); at < last(decorated); at = next(at)) {
    if (kind(at) == Kind::Decorator) pending(expression_or_error(at, operand(at)));
  }
  return take(begin);
}

// Opens the scope of `[T, *Ts, **P]` if there is one; returns the scope to go on in.
ScopeId Lowering::type_parameters(Node node) {
  const Node list = child(node, Kind::TypeParameter);
  if (list == no_node) return place_.scope;
  const ScopeId scope = scopes_.open(ScopeKind::TypeParameters, place_.scope);
  bool named = false;  // the name was in front of a default, which the grammar cannot read
  for (Node at = first(list); at < last(list); at = next(at)) {
    if (kind(at) == Kind::Comma) named = false;
    if (is_token(kind(at)) || named) continue;
    named = kind(at) == Kind::Error;
    // `T`, `T: bound`, `*Ts`, `**P`: in each the first identifier is the name.
    Node name = at;
    while (name != no_node && kind(name) != Kind::Identifier) name = has_children(name) ? operand(name) : no_node;
    if (name != no_node) scopes_.bind(scope, symbol(name));
  }
  return scope;
}

void Lowering::function_definition(Node node, Node decorated) {
  const Node whole = decorated == no_node ? node : decorated;
  const Node name = child(node, Field::Name);
  const Node list = child(node, Field::Parameters);
  const Node returns = child(node, Field::ReturnType);
  const ir::Range decorators = this->decorators(decorated);
  if (name == no_node) return error_statement(node);
  const Symbol symbol = this->symbol(name);
  const ExprId bound = bound_name(span(name), symbol);

  const FunctionId id{static_cast<std::uint32_t>(module_.functions.size())};
  module_.functions.emplace_back();
  Place outer = place_;
  place_.scope = type_parameters(node);
  const ScopeId scope = scopes_.open(ScopeKind::Function, place_.scope, id);
  const ir::Range params = list == no_node ? ir::Range{} : parameters(list, scope);
  const ExprId annotation = optional_expression(returns);

  place_ = {scope, id, {}, outer.prefix + std::string(symbol.text()) + ".<locals>."};
  const Span head = header(node);
  const ir::Block body = body_of(node, child(node, Field::Body));
  place_ = std::move(outer);
  const Span full{at(whole).begin, end_of(body, head.end)};

  ir::Function& function = module_.functions[id.index];
  function.name = symbol;
  function.qualified = place_.prefix + std::string(symbol.text());
  function.span = full;
  function.name_span = span(name);
  function.params = params;
  function.decorators = decorators;
  function.returns = annotation;
  function.body = body;
  function.owner = place_.owner;
  function.parent = place_.function;
  function.is_async = child(node, Kind::Async) != no_node;

  const StmtId statement = finish(add(StmtKind::FunctionDef, full));
  stmt(statement).header = {at(whole).begin, head.end};
  stmt(statement).function = id;
  stmt(statement).a = bound;
}

void Lowering::class_definition(Node node, Node decorated) {
  const Node whole = decorated == no_node ? node : decorated;
  const Node name = child(node, Field::Name);
  const Node list = child(node, Field::Superclasses);
  const ir::Range decorators = this->decorators(decorated);
  if (name == no_node) return error_statement(node);
  const Symbol symbol = this->symbol(name);
  const ExprId bound = bound_name(span(name), symbol);

  const ClassId id{static_cast<std::uint32_t>(module_.classes.size())};
  module_.classes.emplace_back();
  Place outer = place_;
  place_.scope = type_parameters(node);
  const ir::Range arguments = list == no_node ? ir::Range{} : this->arguments(list);
  const ScopeId scope = scopes_.open(ScopeKind::Class, place_.scope);

  place_ = {scope, outer.function, id, outer.prefix + std::string(symbol.text()) + "."};
  const Span head = header(node);
  const ir::Block body = body_of(node, child(node, Field::Body));
  place_ = std::move(outer);
  const Span full{at(whole).begin, end_of(body, head.end)};

  ir::Class& cls = module_.classes[id.index];
  cls.name = symbol;
  cls.qualified = place_.prefix + std::string(symbol.text());
  cls.span = full;
  cls.name_span = span(name);
  cls.arguments = arguments;
  cls.decorators = decorators;
  cls.body = body;
  cls.owner = place_.owner;
  cls.parent = place_.function;

  const StmtId statement = finish(add(StmtKind::ClassDef, full));
  stmt(statement).header = {at(whole).begin, head.end};
  stmt(statement).cls = id;
  stmt(statement).a = bound;
}

// Defaults and annotations belong to the scope around the function, the names to `scope`.
ir::Range Lowering::parameters(Node node, ScopeId scope) {
  std::vector<Param> list;
  ParamKind kind = ParamKind::Positional;
  for (Node at = first(node); at < last(node); at = next(at)) {
    if (this->kind(at) == Kind::PositionalSeparator) {
      for (Param& param : list) param.kind = ParamKind::PositionalOnly;
    } else if (this->kind(at) == Kind::KeywordSeparator) {
      kind = ParamKind::KeywordOnly;
    } else if (is_operand(at)) {
      Param param = parameter(at, scope);
      if (!param.name) continue;
      if (param.kind == ParamKind::Positional) param.kind = kind;
      if (param.kind == ParamKind::VarArgs) kind = ParamKind::KeywordOnly;
      list.push_back(param);
    }
  }
  const ir::Range range{static_cast<std::uint32_t>(module_.params.size()), static_cast<std::uint32_t>(list.size())};
  module_.params.insert(module_.params.end(), list.begin(), list.end());
  return range;
}

Param Lowering::parameter(Node node, ScopeId scope) {
  Param param;
  param.span = span(node);
  Node name = node;
  switch (kind(node)) {
    case Kind::TypedParameter:
      name = operand(node);
      param.annotation = optional_expression(child(node, Field::Type));
      break;
    case Kind::DefaultParameter:
    case Kind::TypedDefaultParameter: {
      name = child(node, Field::Name);
      const Node type = child(node, Field::Type);
      param.annotation = optional_expression(type);
      param.default_value = expression_or_error(node, child(node, Field::Value));
      break;
    }
    default:
      break;
  }
  if (name != no_node && kind(name) == Kind::ListSplatPattern) {
    param.kind = ParamKind::VarArgs;
    name = operand(name);
  } else if (name != no_node && kind(name) == Kind::DictionarySplatPattern) {
    param.kind = ParamKind::KwArgs;
    name = operand(name);
  }
  if (name == no_node || kind(name) != Kind::Identifier || at(name).missing) {
    if (name == no_node || !at(name).missing) report(span(node), "invalid parameter");
    return param;
  }
  param.name = symbol(name);
  scopes_.bind(scope, param.name);
  return param;
}

}  // namespace fullgraph::python
