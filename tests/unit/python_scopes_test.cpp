// Which variable a name means. Expected values: the language reference, section 4.2 (naming and binding).
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "analyzer/python/parse.h"

using namespace fullgraph;
using ir::ExprKind;

namespace {

std::shared_ptr<const ir::Module> parse(std::string text) {
  auto source = python::make_source(std::move(text), "t.py");
  REQUIRE(source.has_value());
  return python::parse(*source, "m", false);
}

// What the name at the `nth` (from 1) occurrence of `text` means: "local NAME", "enclosing NAME", "global", "class".
std::string meaning(const ir::Module& module, std::string_view name, std::size_t nth) {
  std::map<std::uint32_t, const ir::Expr*> places;
  for (const ir::Expr& expr : module.exprs) {
    if (expr.kind == ExprKind::Name && expr.name.text() == name) places[expr.span.begin] = &expr;
  }
  REQUIRE(places.size() >= nth);
  const ir::Expr& expr = *std::next(places.begin(), static_cast<std::ptrdiff_t>(nth - 1))->second;
  switch (static_cast<ir::Scope>(expr.op)) {
    case ir::Scope::Local:
      return "local " + std::to_string(expr.slot);
    case ir::Scope::Enclosing:
      return "enclosing";
    case ir::Scope::Global:
      return "global";
    case ir::Scope::ClassBody:
      return "class";
  }
  return {};
}

std::string locals(const ir::Module& module, std::size_t function) {
  std::string result;
  for (const ir::Symbol name : module.functions[function].locals) result += std::string(name.text()) + " ";
  return result;
}

}  // namespace

TEST_CASE("every way of binding makes a local") {
  const auto module = parse(
      "def f(p, *q, **r):\n"
      "  use(late)\n"
      "  a = 1\n"
      "  (b, [c, *d]) = x\n"
      "  e += 1\n"
      "  g: int\n"
      "  for h in x: pass\n"
      "  with x as i, x as (j, k): pass\n"
      "  try: pass\n"
      "  except E as l: pass\n"
      "  import m.n, o as s\n"
      "  from t import u as v, w\n"
      "  def y(): pass\n"
      "  class z: pass\n"
      "  (aa := 1)\n"
      "  del bb\n"
      "  match x:\n"
      "    case [cc, *dd]: pass\n"
      "    case {'k': ee, **ff}: pass\n"
      "    case A(gg, hh=ii) as jj: pass\n"
      "  o.attribute = 1\n"
      "  o[0] = 1\n"
      "  late = 2\n");
  CHECK(locals(*module, 0) == "p q r a b c d e g h i j k l m s v w y z aa bb cc dd ee ff gg ii jj late ");
  CHECK(meaning(*module, "late", 1) == "local 29");
  CHECK(meaning(*module, "x", 1) == "global");
  CHECK(meaning(*module, "o", 1) == "global");  // `o as s` binds s alone
  CHECK(meaning(*module, "use", 1) == "global");
}

TEST_CASE("an annotation in parentheses binds nothing") {
  const auto module = parse("def f():\n  (x): int\n  (y): int = 1\n  z: int\n");
  CHECK(locals(*module, 0) == "y z ");
}

TEST_CASE("global and nonlocal") {
  const auto module = parse(
      "def f():\n"
      "  a = b = 1\n"
      "  global b\n"
      "  def g():\n"
      "    nonlocal a\n"
      "    a = b\n"
      "    b2 = a\n");
  CHECK(locals(*module, 0) == "a g ");
  CHECK(locals(*module, 1) == "b2 ");
  CHECK(meaning(*module, "a", 1) == "local 0");
  CHECK(meaning(*module, "b", 1) == "global");
  CHECK(meaning(*module, "a", 2) == "enclosing");
  CHECK(meaning(*module, "b", 2) == "global");  // through the declaration of the outer function
  CHECK(meaning(*module, "a", 3) == "enclosing");
}

TEST_CASE("functions do not see the names of the class around them") {
  const auto module = parse(
      "x = 0\n"
      "def f(y):\n"
      "  class A:\n"
      "    x = 1\n"
      "    z = x, y\n"
      "    def m(self): return x, y\n");
  CHECK(meaning(*module, "x", 1) == "global");
  CHECK(meaning(*module, "x", 2) == "class");
  CHECK(meaning(*module, "x", 3) == "class");
  CHECK(meaning(*module, "y", 1) == "local 0");  // a class body runs in the frame of the function
  CHECK(meaning(*module, "x", 4) == "global");
  CHECK(meaning(*module, "y", 2) == "enclosing");
}

TEST_CASE("defaults, annotations and decorators belong to the scope outside") {
  const auto module = parse("def f(x):\n  @x\n  def g(x=x) -> x: return x\n");
  CHECK(meaning(*module, "x", 1) == "local 0");  // decorator
  CHECK(meaning(*module, "x", 2) == "local 0");  // default
  CHECK(meaning(*module, "x", 3) == "local 0");  // annotation
  CHECK(meaning(*module, "x", 4) == "local 0");
  CHECK(locals(*module, 0) == "x g ");
  CHECK(locals(*module, 1) == "x ");
}

TEST_CASE("comprehension targets are slots of their own, behind all others") {
  const auto module = parse(
      "def f(x, i):\n"
      "  a = [i for i in i if (w := i)]\n"
      "  b = [i for i in x]\n"
      "  return i, lambda: w\n");
  CHECK(locals(*module, 0) == "x i w a b i i ");
  CHECK(meaning(*module, "i", 1) == "local 5");  // element
  CHECK(meaning(*module, "i", 2) == "local 5");  // target
  CHECK(meaning(*module, "i", 3) == "local 1");  // the first iterable is evaluated outside
  CHECK(meaning(*module, "i", 4) == "local 5");
  CHECK(meaning(*module, "i", 5) == "local 6");
  CHECK(meaning(*module, "i", 7) == "local 1");
  CHECK(meaning(*module, "w", 1) == "local 2");  // `:=` binds in the function
  CHECK(meaning(*module, "w", 2) == "enclosing");
}

TEST_CASE("nested comprehensions and functions in comprehensions") {
  const auto module = parse("def f(x):\n  return [[a + b for b in a] for a in x], [lambda: c for c in x]\n");
  CHECK(locals(*module, 0) == "x a b c ");
  CHECK(meaning(*module, "a", 1) == "local 1");
  CHECK(meaning(*module, "a", 2) == "local 1");
  CHECK(meaning(*module, "c", 1) == "enclosing");
}

TEST_CASE("comprehensions outside of functions") {
  const auto module = parse("v = [i for i in x]\nclass A:\n  n = 1\n  w = [j + n for j in n]\n");
  CHECK(meaning(*module, "i", 1) == "global");
  CHECK(meaning(*module, "j", 1) == "class");
  CHECK(meaning(*module, "n", 2) == "global");  // inside a comprehension the class body is not seen …
  CHECK(meaning(*module, "n", 3) == "class");   // … but its first iterable is outside
}

TEST_CASE("lambdas are functions") {
  const auto module = parse("def f(a):\n  return lambda b=a: (a, b, c)\n");
  CHECK(meaning(*module, "a", 1) == "local 0");
  CHECK(meaning(*module, "a", 2) == "enclosing");
  CHECK(meaning(*module, "b", 1) == "local 0");
  CHECK(meaning(*module, "c", 1) == "global");
}

TEST_CASE("type parameters hide outer names") {
  const auto module = parse("def f(T):\n  def g[T](x: T): return T\n  return T\n");
  CHECK(meaning(*module, "T", 1) == "global");
  CHECK(meaning(*module, "T", 2) == "global");
  CHECK(meaning(*module, "T", 3) == "local 0");
}

TEST_CASE("parameters know their slot") {
  const auto module = parse("def f(a, b, *, c): pass\n");
  for (std::size_t index = 0; index < 3; ++index) CHECK(module->params[index].slot == index);
}
