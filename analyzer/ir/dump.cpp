// The program representation as indented text, for people and for tests. One line for each statement, expression and
// part, children below their parent; spans are line:column of the first and behind the last character.
#include <array>
#include <string>

#include <fmt/format.h>

#include "analyzer/ir/ir.h"

namespace fullgraph::ir {
namespace {

constexpr std::array expr_names = {
    "Error",     "None",         "True",           "False",           "Ellipsis",       "Int",           "Float",
    "Imaginary", "String",       "Bytes",          "FString",         "Formatted",      "Name",          "Attribute",
    "Subscript", "Slice",        "Call",           "Keyword",         "Starred",        "DoubleStarred", "Unary",
    "Binary",    "BoolOp",       "Compare",        "Comparison",      "Conditional",    "Lambda",        "List",
    "Tuple",     "Set",          "Dict",           "DictItem",        "ListComp",       "SetComp",       "GeneratorExp",
    "DictComp",  "CompFor",      "CompIf",         "Await",           "Yield",          "YieldFrom",     "NamedExpr",
    "WithItem",  "PatternValue", "PatternCapture", "PatternSequence", "PatternMapping", "PatternClass",  "PatternOr"};
static_assert(expr_names.size() == static_cast<std::size_t>(ExprKind::PatternOr) + 1);

constexpr std::array stmt_names = {"Error",  "Expression", "Assign",      "AugAssign", "AnnAssign", "Return",
                                   "Raise",  "Assert",     "Delete",      "Pass",      "Break",     "Continue",
                                   "If",     "While",      "For",         "With",      "Try",       "Match",
                                   "Import", "ImportFrom", "FunctionDef", "ClassDef",  "Global",    "Nonlocal"};
static_assert(stmt_names.size() == static_cast<std::size_t>(StmtKind::Nonlocal) + 1);

constexpr std::array unary_names = {"not", "-", "+", "~"};
constexpr std::array binary_names = {"+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"};
constexpr std::array compare_names = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
constexpr std::array conversion_names = {"", "!s", "!r", "!a"};
constexpr std::array param_names = {"positional-only", "positional", "var-args", "keyword-only", "kw-args"};

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7F || c == '"' || c == '\\') {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result + '"';
}

class Dump {
 public:
  explicit Dump(const Module& module) : module_(module) {}

  std::string run() {
    line(fmt::format("Module {}{}", module_.name, module_.is_package ? " package" : ""));
    for (const SyntaxError& error : module_.errors)
      line(fmt::format("SyntaxError {} {}", where(error.span), error.message));
    block("body", module_.body);
    return std::move(out_);
  }

 private:
  void line(std::string_view text) {
    out_.append(2 * depth_, ' ');
    out_ += text;
    out_ += '\n';
  }

  std::string where(Span span) const {
    const LineColumn begin = module_.source->position(span.begin);
    const LineColumn end = module_.source->position(span.end);
    return fmt::format("{}:{}-{}:{}", begin.line, begin.column, end.line, end.column);
  }

  static std::string scope_of(const Expr& name) {
    switch (static_cast<Scope>(name.op)) {
      case Scope::Local:
        return fmt::format("local {}", name.slot);
      case Scope::Enclosing:
        return "enclosing";
      case Scope::Global:
        return "global";
      case Scope::ClassBody:
        return "class";
    }
    return {};
  }

  std::string details(const Expr& expr) const {
    switch (expr.kind) {
      case ExprKind::Int:
      case ExprKind::Float:
      case ExprKind::Imaginary:
        return std::string(module_.source->text(expr.span));
      case ExprKind::String:
      case ExprKind::Bytes:
        return quoted(expr.name.text());
      case ExprKind::Formatted:
        return conversion_names[expr.op];
      case ExprKind::Name:
        return fmt::format("{} {}", expr.name.text(), scope_of(expr));
      case ExprKind::Attribute:
      case ExprKind::Keyword:
        return std::string(expr.name.text());
      case ExprKind::Unary:
        return unary_names[expr.op];
      case ExprKind::Binary:
        return binary_names[expr.op];
      case ExprKind::BoolOp:
        return expr.op == 0 ? "and" : "or";
      case ExprKind::Comparison:
        return compare_names[expr.op];
      case ExprKind::CompFor:
        return expr.op == 1 ? "async" : "";
      default:
        return {};
    }
  }

  void expression(std::string_view label, ExprId id) {
    if (!id) return;
    const Expr& expr = module_.expr(id);
    const std::string extra = details(expr);
    line(fmt::format("{}{}{} {}{}{}", label, label.empty() ? "" : " ", expr_names[static_cast<std::size_t>(expr.kind)],
                     where(expr.span), extra.empty() ? "" : " ", extra));
    ++depth_;
    if (expr.kind == ExprKind::Lambda) {
      function(module_.function(expr.function));
    } else {
      expression("a", expr.a);
      expression("b", expr.b);
      expression("c", expr.c);
      for (const ExprId item : module_.list(expr.items)) expression("", item);
    }
    --depth_;
  }

  void block(std::string_view label, Block range) {
    if (range.count == 0) return;
    line(label);
    ++depth_;
    for (const StmtId id : module_.block(range)) statement(id);
    --depth_;
  }

  void list(std::string_view label, Range range) {
    for (const ExprId id : module_.list(range)) expression(label, id);
  }

  void function(const Function& function) {
    std::string head = fmt::format("function {} {}", function.qualified, where(function.span));
    if (function.is_async) head += " async";
    if (function.is_generator) head += " generator";
    line(head);
    std::string locals = "locals";
    for (const Symbol name : function.locals) locals += fmt::format(" {}", name.text());
    if (!function.locals.empty()) line(locals);
    list("decorator", function.decorators);
    for (std::uint32_t index = 0; index < function.params.count; ++index) {
      const Param& param = module_.params[function.params.first + index];
      line(fmt::format("param {} {} {} slot {}", param.name.text(), where(param.span),
                       param_names[static_cast<std::size_t>(param.kind)], param.slot));
      ++depth_;
      expression("annotation", param.annotation);
      expression("default", param.default_value);
      --depth_;
    }
    expression("returns", function.returns);
    expression("result", function.lambda_body);
    block("body", function.body);
  }

  void cls(const Class& cls) {
    line(fmt::format("class {} {}", cls.qualified, where(cls.span)));
    list("decorator", cls.decorators);
    list("argument", cls.arguments);
    block("body", cls.body);
  }

  std::string details(const Stmt& stmt) const {
    switch (stmt.kind) {
      case StmtKind::AugAssign:
        return fmt::format(" {}=", binary_names[stmt.op]);
      case StmtKind::For:
      case StmtKind::With:
        return stmt.op == 1 ? " async" : "";
      case StmtKind::ImportFrom:
        return fmt::format(" {}{}", std::string(stmt.level, '.'), stmt.module.text());
      default:
        return {};
    }
  }

  void statement(StmtId id) {
    const Stmt& stmt = module_.stmt(id);
    std::string head =
        fmt::format("{} {}{}", stmt_names[static_cast<std::size_t>(stmt.kind)], where(stmt.span), details(stmt));
    if (stmt.header != stmt.span) head += fmt::format(" header {}", where(stmt.header));
    line(head);
    ++depth_;
    if (stmt.kind == StmtKind::FunctionDef) {
      expression("name", stmt.a);
      function(module_.function(stmt.function));
    } else if (stmt.kind == StmtKind::ClassDef) {
      expression("name", stmt.a);
      cls(module_.cls(stmt.cls));
    } else {
      list("item", stmt.items);
      expression("a", stmt.a);
      expression("b", stmt.b);
      parts(stmt);
    }
    --depth_;
  }

  void parts(const Stmt& stmt) {
    for (std::uint32_t index = 0; index < stmt.aliases.count; ++index) {
      const Alias& alias = module_.aliases[stmt.aliases.first + index];
      line(fmt::format("alias {} {}{}{}", alias.name.text(), where(alias.span), alias.as ? " as " : "",
                       alias.as.text()));
      ++depth_;
      expression("target", alias.target);
      --depth_;
    }
    block("body", stmt.body);
    if (stmt.kind == StmtKind::Match) {
      for (std::uint32_t index = 0; index < stmt.handlers.count; ++index) {
        const MatchCase& current = module_.cases[stmt.handlers.first + index];
        line("case");
        ++depth_;
        expression("pattern", current.pattern);
        expression("guard", current.guard);
        block("body", current.body);
        --depth_;
      }
    } else {
      for (std::uint32_t index = 0; index < stmt.handlers.count; ++index) {
        const Handler& handler = module_.handlers[stmt.handlers.first + index];
        line(fmt::format("except{} {}", handler.star ? "*" : "", where(handler.span)));
        ++depth_;
        expression("type", handler.type);
        expression("target", handler.target);
        block("body", handler.body);
        --depth_;
      }
    }
    block("else", stmt.orelse);
    block("finally", stmt.finally);
  }

  const Module& module_;
  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string dump(const Module& module) {
  return Dump(module).run();
}

}  // namespace fullgraph::ir
