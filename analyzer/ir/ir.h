// The program representation: small, Python-shaped, the same for every frontend.
//
// A Module owns flat tables of expressions, statements, functions and classes; everything refers to everything else by
// 4-byte ids into these tables, so that a module can be dropped, dumped or sent to another process as a whole. A Module
// is immutable once a frontend has returned it and may be read by many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/source.h"
#include "analyzer/ir/source_map.h"
#include "analyzer/ir/symbol.h"

namespace fullgraph::ir {

template <class Tag>
struct Id {
  std::uint32_t index = UINT32_MAX;
  explicit operator bool() const { return index != UINT32_MAX; }
  friend bool operator==(Id, Id) = default;
};
using ExprId = Id<struct ExprTag>;
using StmtId = Id<struct StmtTag>;
using FunctionId = Id<struct FunctionTag>;
using ClassId = Id<struct ClassTag>;

// A run of entries in one of the Module's list tables.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// The letters say which fields of Expr are used: a, b, c operands; items children; name; op; text.
enum class ExprKind : std::uint8_t {
  Error,  // unparsable source; evaluates to unknown
  None,
  True,
  False,
  Ellipsis,
  Int,            // text: the literal as written, `value` when it fits (see Module::int_value)
  Float,          // text
  Imaginary,      // text
  String,         // name: the decoded text (adjacent literals joined, escapes resolved)
  Bytes,          // name: the decoded bytes
  FString,        // items: String and Formatted parts (t-strings too)
  Formatted,      // a: value, b: format spec (FString) or none, op: Conversion
  Name,           // name, op: Scope, slot when Local (see `slot`)
  Attribute,      // a: object, name; `name_span()` = last bytes of the span
  Subscript,      // a: object, b: index (a Tuple for several)
  Slice,          // a: lower, b: upper, c: step, each may be none
  Call,           // a: callee, items: arguments (plain, Starred, DoubleStarred, Keyword), in source order
  Keyword,        // name, a: value; only in Call and ClassDef arguments
  Starred,        // a; in calls, displays and targets
  DoubleStarred,  // a; in calls and dict displays
  Unary,          // op: UnaryOp, a
  Binary,         // op: BinaryOp, a, b
  BoolOp,         // op: 0 and, 1 or; items: two or more operands
  Compare,        // a: first operand, items: Comparison entries
  Comparison,     // op: CompareOp, a: right operand
  Conditional,    // a: test, b: when true, c: when false
  Lambda,         // function
  List,
  Tuple,
  Set,       // items
  Dict,      // items: DictItem or DoubleStarred
  DictItem,  // a: key, b: value
  ListComp,
  SetComp,
  GeneratorExp,  // a: element, items: CompFor and CompIf clauses in order
  DictComp,      // a: key, b: value, items: clauses
  CompFor,       // a: target, b: iterable, op: 1 when async
  CompIf,        // a: condition
  Await,         // a
  Yield,         // a or none
  YieldFrom,     // a
  NamedExpr,     // a: target Name, b: value
  WithItem,      // a: context manager, b: target or none
  // Patterns of `match`
  PatternValue,     // a: expression compared with ==
  PatternCapture,   // a: target Name or none for `_`; b: inner pattern or none (`p as x`)
  PatternSequence,  // items: patterns, Starred(PatternCapture) for the rest
  PatternMapping,   // items: DictItem(key, pattern), DoubleStarred(PatternCapture)
  PatternClass,     // a: class expression, items: patterns and Keyword(name, pattern)
  PatternOr,        // items
};

enum class Scope : std::uint8_t {
  Local,      // `slot` is an index into Function::locals of the enclosing function; also in a class body inside of it
  Enclosing,  // a local of a function further out; `slot` is its slot there
  Global,     // module level, or builtin when the module has none
  ClassBody,  // assigned in the class body that the expression stands in, else as Global
};
enum class UnaryOp : std::uint8_t { Not, Negative, Positive, Invert };
enum class BinaryOp : std::uint8_t {
  Add,
  Sub,
  Mul,
  MatMul,
  Div,
  FloorDiv,
  Mod,
  Pow,
  LeftShift,
  RightShift,
  And,
  Or,
  Xor
};
enum class CompareOp : std::uint8_t { Eq, NotEq, Less, LessEq, Greater, GreaterEq, Is, IsNot, In, NotIn };
enum class Conversion : std::uint8_t { None, Str, Repr, Ascii };

struct Expr {
  ExprKind kind = ExprKind::Error;
  std::uint8_t op = 0;
  std::uint16_t slot = 0;  // Name with Scope::Local: index into Function::locals
  Span span;
  Symbol name;
  ExprId a, b, c;
  Range items;          // into Module::expr_lists
  FunctionId function;  // Lambda
};

enum class StmtKind : std::uint8_t {
  Error,
  Expression,  // a
  Assign,      // items: targets (in source order), a: value. Also `type X = …`
  AugAssign,   // items[0]: target, op: BinaryOp, a: value
  AnnAssign,   // items[0]: target, a: value or none, b: annotation
  Return,      // a or none
  Raise,       // a or none, b: cause or none
  Assert,      // a: test, b: message or none
  Delete,      // items: targets
  Pass,
  Break,
  Continue,
  If,           // a: test, body, orelse (an `elif` is an If in orelse)
  While,        // a: test, body, orelse
  For,          // a: iterable, items[0]: target, body, orelse, op: 1 when async
  With,         // items: WithItem, body, op: 1 when async
  Try,          // body, handlers, orelse, finally
  Match,        // a: subject, cases
  Import,       // aliases
  ImportFrom,   // module, level, aliases (a single "*" alias for a star import)
  FunctionDef,  // function, a: the Name that is bound
  ClassDef,     // cls, a: the Name that is bound
  Global,
  Nonlocal,  // names are resolved in Expr::op; nothing to do
};

using Block = Range;  // into Module::stmt_lists

struct Stmt {
  StmtKind kind = StmtKind::Error;
  std::uint8_t op = 0;
  std::uint16_t level = 0;  // ImportFrom: leading dots
  Span span;                // whole statement, bodies included, decorators included
  Span header;              // up to the colon for compound statements, else == span
  ExprId a, b;
  Range items;  // into Module::expr_lists
  Block body, orelse, finally;
  Range handlers;  // Try: into Module::handlers; Match: into Module::cases
  Range aliases;   // into Module::aliases
  Symbol module;   // ImportFrom: dotted name, may be empty
  FunctionId function;
  ClassId cls;
};

struct Handler {
  ExprId type;    // none for a bare except
  ExprId target;  // Name expression of `as name`, or none
  bool star = false;
  Span span;
  Block body;
};

struct MatchCase {
  ExprId pattern;
  ExprId guard;  // or none
  Block body;
};

struct Alias {
  Symbol name;    // dotted for Import
  Symbol as;      // empty when absent
  ExprId target;  // the Name expression that is bound (first component for `import a.b`); none for "*"
  Span span;
};

enum class ParamKind : std::uint8_t { PositionalOnly, Positional, VarArgs, KeywordOnly, KwArgs };

struct Param {
  Symbol name;
  ParamKind kind = ParamKind::Positional;
  std::uint16_t slot = 0;  // index into Function::locals
  ExprId annotation;
  ExprId default_value;
  Span span;
};

struct Function {
  Symbol name;            // "<lambda>" for lambdas
  std::string qualified;  // "Class.method", "outer.<locals>.inner"
  Span span;              // from the first decorator or `def` to the end
  Span name_span;
  Range params;        // into Module::params
  Range decorators;    // into Module::expr_lists
  ExprId returns;      // annotation
  ExprId lambda_body;  // lambdas only
  Block body;
  std::vector<Symbol>
      locals;         // slots; parameters first, then every other name bound in the body, comprehension targets last
  ClassId owner;      // the class whose body holds the def, if any
  FunctionId parent;  // enclosing function, if any
  bool is_async = false;
  bool is_generator = false;  // has a yield of its own
};

struct Class {
  Symbol name;
  std::string qualified;
  Span span;
  Span name_span;
  Range arguments;  // bases, Starred and Keyword (metaclass=…), into Module::expr_lists
  Range decorators;
  Block body;
  ClassId owner;      // enclosing class
  FunctionId parent;  // enclosing function
};

struct SyntaxError {
  Span span;
  std::string message;
};

// What a text stands for that no author has written.
enum class Recording : std::uint8_t {
  None,         // an author's source
  Graph,        // an exported program or FX text: operators on tensors, in the order in which they were recorded
  TorchScript,  // code of a TorchScript archive
  Pickle,       // the objects of an archive
  Cxx,          // C++ sources, spelled as the Python that does the same
};

struct Module {
  std::shared_ptr<const SourceFile> source;
  Recording recording = Recording::None;
  std::shared_ptr<const SourceMap> map;  // of a recording: back to the author's sources; null for a source
  std::string name;                      // dotted module name ("pkg.mod"; "pkg" for pkg/__init__.py)
  bool is_package = false;               // an __init__.py

  std::vector<Expr> exprs;
  std::vector<Stmt> stmts;
  std::vector<Function> functions;
  std::vector<Class> classes;
  std::vector<Param> params;
  std::vector<Handler> handlers;
  std::vector<MatchCase> cases;
  std::vector<Alias> aliases;
  std::vector<ExprId> expr_lists;
  std::vector<StmtId> stmt_lists;
  std::vector<Span> comments;  // in source order, with the leading '#'
  std::vector<SyntaxError> errors;
  Block body;

  [[nodiscard]] const Expr& expr(ExprId id) const { return exprs[id.index]; }
  [[nodiscard]] const Stmt& stmt(StmtId id) const { return stmts[id.index]; }
  [[nodiscard]] const Function& function(FunctionId id) const { return functions[id.index]; }
  [[nodiscard]] const Class& cls(ClassId id) const { return classes[id.index]; }

  struct ExprList {
    const ExprId* first;
    const ExprId* last;
    [[nodiscard]] const ExprId* begin() const { return first; }
    [[nodiscard]] const ExprId* end() const { return last; }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(last - first); }
    ExprId operator[](std::size_t index) const { return first[index]; }
  };
  struct StmtList {
    const StmtId* first;
    const StmtId* last;
    [[nodiscard]] const StmtId* begin() const { return first; }
    [[nodiscard]] const StmtId* end() const { return last; }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(last - first); }
  };
  [[nodiscard]] ExprList list(Range range) const {
    return {expr_lists.data() + range.first, expr_lists.data() + range.first + range.count};
  }
  [[nodiscard]] StmtList block(Block range) const {
    return {stmt_lists.data() + range.first, stmt_lists.data() + range.first + range.count};
  }
  [[nodiscard]] std::string_view text(ExprId id) const { return source->text(expr(id).span); }
  // The name at the end of an Attribute.
  [[nodiscard]] Span name_span(ExprId id) const {
    const Expr& attribute = expr(id);
    return {attribute.span.end - static_cast<std::uint32_t>(attribute.name.text().size()), attribute.span.end};
  }
  // The value of an Int, when it fits.
  [[nodiscard]] std::optional<std::int64_t> int_value(ExprId id) const;
};

// A readable dump of the whole module (`fullgraph dump --ir FILE`).
std::string dump(const Module& module);

}  // namespace fullgraph::ir
