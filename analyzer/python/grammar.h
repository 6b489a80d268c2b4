// The node kinds and fields of the Python grammar that lowering looks at, as dense enums.
//
// The parser numbers its symbols as its generator likes; they are translated by name once, so that lowering is a switch
// over constants and no string is compared while a file is read.
#pragma once

#include <cstdint>

struct TSLanguage;

namespace fullgraph::python {

// Nodes with children or text of their own.
#define FULLGRAPH_PYTHON_NODES(X)                        \
  X(Module, "module")                                    \
  X(Block, "block")                                      \
  X(ImportStatement, "import_statement")                 \
  X(ImportPrefix, "import_prefix")                       \
  X(RelativeImport, "relative_import")                   \
  X(FutureImportStatement, "future_import_statement")    \
  X(ImportFromStatement, "import_from_statement")        \
  X(AliasedImport, "aliased_import")                     \
  X(WildcardImport, "wildcard_import")                   \
  X(PrintStatement, "print_statement")                   \
  X(Chevron, "chevron")                                  \
  X(AssertStatement, "assert_statement")                 \
  X(ExpressionStatement, "expression_statement")         \
  X(NamedExpression, "named_expression")                 \
  X(ReturnStatement, "return_statement")                 \
  X(DeleteStatement, "delete_statement")                 \
  X(RaiseStatement, "raise_statement")                   \
  X(PassStatement, "pass_statement")                     \
  X(BreakStatement, "break_statement")                   \
  X(ContinueStatement, "continue_statement")             \
  X(IfStatement, "if_statement")                         \
  X(ElifClause, "elif_clause")                           \
  X(ElseClause, "else_clause")                           \
  X(MatchStatement, "match_statement")                   \
  X(CaseClause, "case_clause")                           \
  X(ForStatement, "for_statement")                       \
  X(WhileStatement, "while_statement")                   \
  X(TryStatement, "try_statement")                       \
  X(ExceptClause, "except_clause")                       \
  X(FinallyClause, "finally_clause")                     \
  X(WithStatement, "with_statement")                     \
  X(WithClause, "with_clause")                           \
  X(WithItem, "with_item")                               \
  X(FunctionDefinition, "function_definition")           \
  X(Parameters, "parameters")                            \
  X(LambdaParameters, "lambda_parameters")               \
  X(ListSplat, "list_splat")                             \
  X(DictionarySplat, "dictionary_splat")                 \
  X(GlobalStatement, "global_statement")                 \
  X(NonlocalStatement, "nonlocal_statement")             \
  X(ExecStatement, "exec_statement")                     \
  X(TypeAliasStatement, "type_alias_statement")          \
  X(ClassDefinition, "class_definition")                 \
  X(TypeParameter, "type_parameter")                     \
  X(ParenthesizedListSplat, "parenthesized_list_splat")  \
  X(ArgumentList, "argument_list")                       \
  X(DecoratedDefinition, "decorated_definition")         \
  X(Decorator, "decorator")                              \
  X(ExpressionList, "expression_list")                   \
  X(DottedName, "dotted_name")                           \
  X(CasePattern, "case_pattern")                         \
  X(UnionPattern, "union_pattern")                       \
  X(DictPattern, "dict_pattern")                         \
  X(KeywordPattern, "keyword_pattern")                   \
  X(SplatPattern, "splat_pattern")                       \
  X(ClassPattern, "class_pattern")                       \
  X(ComplexPattern, "complex_pattern")                   \
  X(TuplePattern, "tuple_pattern")                       \
  X(ListPattern, "list_pattern")                         \
  X(DefaultParameter, "default_parameter")               \
  X(TypedDefaultParameter, "typed_default_parameter")    \
  X(TypedParameter, "typed_parameter")                   \
  X(ListSplatPattern, "list_splat_pattern")              \
  X(DictionarySplatPattern, "dictionary_splat_pattern")  \
  X(KeywordSeparator, "keyword_separator")               \
  X(PositionalSeparator, "positional_separator")         \
  X(AsPattern, "as_pattern")                             \
  X(AsPatternTarget, "as_pattern_target")                \
  X(NotOperator, "not_operator")                         \
  X(BooleanOperator, "boolean_operator")                 \
  X(BinaryOperator, "binary_operator")                   \
  X(UnaryOperator, "unary_operator")                     \
  X(ComparisonOperator, "comparison_operator")           \
  X(Lambda, "lambda")                                    \
  X(Assignment, "assignment")                            \
  X(AugmentedAssignment, "augmented_assignment")         \
  X(PatternList, "pattern_list")                         \
  X(Yield, "yield")                                      \
  X(Attribute, "attribute")                              \
  X(Subscript, "subscript")                              \
  X(Slice, "slice")                                      \
  X(Call, "call")                                        \
  X(Type, "type")                                        \
  X(SplatType, "splat_type")                             \
  X(GenericType, "generic_type")                         \
  X(UnionType, "union_type")                             \
  X(ConstrainedType, "constrained_type")                 \
  X(MemberType, "member_type")                           \
  X(KeywordArgument, "keyword_argument")                 \
  X(List, "list")                                        \
  X(Set, "set")                                          \
  X(Tuple, "tuple")                                      \
  X(Dictionary, "dictionary")                            \
  X(Pair, "pair")                                        \
  X(ListComprehension, "list_comprehension")             \
  X(DictionaryComprehension, "dictionary_comprehension") \
  X(SetComprehension, "set_comprehension")               \
  X(GeneratorExpression, "generator_expression")         \
  X(ParenthesizedExpression, "parenthesized_expression") \
  X(ForInClause, "for_in_clause")                        \
  X(IfClause, "if_clause")                               \
  X(ConditionalExpression, "conditional_expression")     \
  X(ConcatenatedString, "concatenated_string")           \
  X(String, "string")                                    \
  X(StringStart, "string_start")                         \
  X(StringContent, "string_content")                     \
  X(StringEnd, "string_end")                             \
  X(Interpolation, "interpolation")                      \
  X(FormatExpression, "format_expression")               \
  X(FormatSpecifier, "format_specifier")                 \
  X(TypeConversion, "type_conversion")                   \
  X(Await, "await")                                      \
  X(Identifier, "identifier")                            \
  X(Ellipsis, "ellipsis")                                \
  X(Integer, "integer")                                  \
  X(Float, "float")                                      \
  X(True, "true")                                        \
  X(False, "false")                                      \
  X(None, "none")                                        \
  X(Comment, "comment")                                  \
  X(LineContinuation, "line_continuation")

// Keywords and punctuation that lowering asks for; all others are `Token`.
#define FULLGRAPH_PYTHON_TOKENS(X) \
  X(Comma, ",")                    \
  X(Colon, ":")                    \
  X(Dot, ".")                      \
  X(Star, "*")                     \
  X(StarStar, "**")                \
  X(Async, "async")                \
  X(As, "as")                      \
  X(From, "from")                  \
  X(Or, "or")                      \
  X(And, "and")                    \
  X(Underscore, "_")               \
  X(Equal, "=")                    \
  X(Plus, "+")                     \
  X(Minus, "-")                    \
  X(At, "@")                       \
  X(Slash, "/")                    \
  X(Percent, "%")                  \
  X(SlashSlash, "//")              \
  X(Pipe, "|")                     \
  X(Ampersand, "&")                \
  X(Caret, "^")                    \
  X(LeftShift, "<<")               \
  X(RightShift, ">>")              \
  X(Tilde, "~")                    \
  X(Less, "<")                     \
  X(LessEqual, "<=")               \
  X(EqualEqual, "==")              \
  X(NotEqual, "!=")                \
  X(GreaterEqual, ">=")            \
  X(Greater, ">")                  \
  X(LessGreater, "<>")             \
  X(In, "in")                      \
  X(NotIn, "not in")               \
  X(Is, "is")                      \
  X(IsNot, "is not")               \
  X(PlusEqual, "+=")               \
  X(MinusEqual, "-=")              \
  X(StarEqual, "*=")               \
  X(SlashEqual, "/=")              \
  X(AtEqual, "@=")                 \
  X(SlashSlashEqual, "//=")        \
  X(PercentEqual, "%=")            \
  X(StarStarEqual, "**=")          \
  X(RightShiftEqual, ">>=")        \
  X(LeftShiftEqual, "<<=")         \
  X(AmpersandEqual, "&=")          \
  X(CaretEqual, "^=")              \
  X(PipeEqual, "|=")               \
  X(Else, "else")                  \
  X(Except, "except")              \
  X(Finally, "finally")

#define FULLGRAPH_PYTHON_FIELDS(X)       \
  X(Alias, "alias")                      \
  X(Alternative, "alternative")          \
  X(Argument, "argument")                \
  X(Arguments, "arguments")              \
  X(Attribute, "attribute")              \
  X(Body, "body")                        \
  X(Cause, "cause")                      \
  X(Code, "code")                        \
  X(Condition, "condition")              \
  X(Consequence, "consequence")          \
  X(Definition, "definition")            \
  X(Expression, "expression")            \
  X(FormatSpecifier, "format_specifier") \
  X(Function, "function")                \
  X(Guard, "guard")                      \
  X(Key, "key")                          \
  X(Left, "left")                        \
  X(ModuleName, "module_name")           \
  X(Name, "name")                        \
  X(Object, "object")                    \
  X(Operator, "operator")                \
  X(Operators, "operators")              \
  X(Parameters, "parameters")            \
  X(ReturnType, "return_type")           \
  X(Right, "right")                      \
  X(Subject, "subject")                  \
  X(Subscript, "subscript")              \
  X(Superclasses, "superclasses")        \
  X(Type, "type")                        \
  X(TypeConversion, "type_conversion")   \
  X(TypeParameters, "type_parameters")   \
  X(Value, "value")

#define FULLGRAPH_ENUMERATOR(name, text) name,

enum class Kind : std::uint8_t {
  Error,                                               // what the parser could not make sense of
  FULLGRAPH_PYTHON_NODES(FULLGRAPH_ENUMERATOR) Token,  // from here on: keywords and punctuation
  FULLGRAPH_PYTHON_TOKENS(FULLGRAPH_ENUMERATOR)
};

enum class Field : std::uint8_t { None, FULLGRAPH_PYTHON_FIELDS(FULLGRAPH_ENUMERATOR) };

#undef FULLGRAPH_ENUMERATOR

constexpr bool is_token(Kind kind) {
  return kind >= Kind::Token;
}

const TSLanguage* python_language();
Kind kind_of_symbol(std::uint16_t symbol);
Field field_of_id(std::uint16_t field);

}  // namespace fullgraph::python
