// What cannot be parsed, and what is too deep: errors with places, everything around them analysed.
#include <doctest/doctest.h>

#include <string>

#include "analyzer/python/parse.h"

using namespace fullgraph;
using ir::ExprKind;
using ir::StmtKind;

namespace {

std::shared_ptr<const ir::Module> parse(std::string text) {
  auto source = python::make_source(std::move(text), "t.py");
  REQUIRE(source.has_value());
  return python::parse(*source, "m", false);
}

unsigned error_line(const ir::Module& module, std::size_t index = 0) {
  REQUIRE(module.errors.size() > index);
  return module.source->position(module.errors[index].span.begin).line;
}

bool has_function(const ir::Module& module, std::string_view name) {
  for (const ir::Function& function : module.functions) {
    if (function.name.text() == name) return true;
  }
  return false;
}

std::string repeat(const std::string& text, int count) {
  std::string result;
  for (int index = 0; index < count; ++index) result += text;
  return result;
}

// The deepest nesting of expressions and statements, measured without recursion.
std::size_t depth(const ir::Module& module) {
  // Children have smaller ids than their parents.
  std::vector<std::size_t> levels(module.exprs.size(), 1);
  std::size_t deepest = 0;
  for (std::size_t index = 0; index < module.exprs.size(); ++index) {
    const ir::Expr& expr = module.exprs[index];
    const auto below = [&](ir::ExprId id) {
      if (id) levels[index] = std::max(levels[index], levels[id.index] + 1);
    };
    below(expr.a);
    below(expr.b);
    below(expr.c);
    for (const ir::ExprId item : module.list(expr.items)) below(item);
    if (expr.function) below(module.function(expr.function).lambda_body);
    deepest = std::max(deepest, levels[index]);
  }
  return deepest;
}

}  // namespace

TEST_CASE("a clause without a statement is an error") {
  for (const char* text : {"if x:\n", "if x:\n    # only a comment\ny\n", "def f():\nx\n", "class A:\n",
                           "if x:\n    pass\nelse:\n", "try:\n    a\nexcept E:\nfinally:\n    b\n", "for i in x:\n",
                           "while x:\n", "with x:\n", "match x:\n    case 1:\n"}) {
    CAPTURE(text);
    CHECK(parse(text)->errors.size() == 1);
  }
  CHECK(error_line(*parse("a\nif x:\n    pass\nelif y:\nb\n")) == 4);
  CHECK(parse("if x: pass\nelse: pass\n")->errors.empty());
  CHECK(parse("def f(): ...\nclass A: 'doc'\n")->errors.empty());
}

TEST_CASE("the functions around an error are analysed") {
  const auto module = parse("def a():\n  return 1\n\ndef b(:\n  return 2\n\ndef c():\n  return 3\n");
  CHECK(error_line(*module) == 4);
  CHECK(has_function(*module, "a"));
  CHECK(has_function(*module, "c"));
}

TEST_CASE("a missing token is named") {
  const auto module = parse("x = (1, 2\ny = 3\n");
  REQUIRE_FALSE(module->errors.empty());
  const auto other = parse("class A\n  pass\n");
  REQUIRE_FALSE(other->errors.empty());
}

TEST_CASE("indentation that Python refuses") {
  const auto deeper = parse("def f():\n  a\n    b\n  c\n");
  CHECK(error_line(*deeper) == 3);
  CHECK(deeper->errors[0].message == "unexpected indent");
  CHECK(deeper->functions[0].body.count == 3);
  CHECK(error_line(*parse("if a:\n    b\n  c\n")) == 3);
  CHECK(error_line(*parse("a\n b\n")) == 2);
  CHECK(parse("if a:\n\tb\n        c\n")->errors.empty());  // a tab goes to column 8
  CHECK(parse("if a: b; c\nd; \\\n  e\n# x\n  # y\nf\n")->errors.empty());
}

TEST_CASE("Python 2 statements are errors, what follows is not") {
  const auto module = parse("print 'x'\nexec code\nx = 1\n");
  REQUIRE(module->errors.size() == 2);
  CHECK(module->errors[0].message.find("print") != std::string::npos);
  const auto statements = module->block(module->body);
  REQUIRE(statements.size() == 3);
  CHECK(module->stmt(statements.begin()[0]).kind == StmtKind::Error);
  CHECK(module->stmt(statements.begin()[2]).kind == StmtKind::Assign);
  CHECK(parse("x = 10L\n")->errors.size() == 1);
  CHECK(parse("x <> y\n")->errors.size() == 1);
}

TEST_CASE("print as a function is no error") {
  CHECK(parse("print('x')\nprint\nprint -1\nprint(a, file=b), c\n")->errors.empty());
}

TEST_CASE("valid syntax of all versions gives no error") {
  for (const char* text : {"def f(a, /, b, *, c): pass\n",
                           "with (open(a) as b, open(c) as d): pass\n",
                           "type X = int\n",
                           "class A[T: int, *Ts, **P](B): pass\n",
                           "try: pass\nexcept* A: pass\n",
                           "f'{x!r:{w}}'\n",
                           "f\"{d[\"k\"]}\"\n",
                           "async def f():\n  async with a: pass\n  return [x async for x in y]\n",
                           "x = yield\n",
                           "@a.b[0](c)\ndef f(): pass\n",
                           "match x:\n  case [1, *_] | {'a': b}: pass\n",
                           "print(*a, sep='')\n",
                           "x: int\n",
                           "lambda *, k=1: k\n",
                           "def f(*args: *Ts): pass\n",
                           "for x in *a, b: pass\n",
                           "a[*b]\n",
                           "return\n",
                           "f'{x:=>9}'\n",
                           "x = *(a), *[b]\n",
                           "for x in *[a], b: pass\n",
                           "print >> f, x\n",
                           "t'{x}'\n",
                           "\n",
                           "",
                           "# only a comment"}) {
    CAPTURE(text);
    CHECK(parse(text)->errors.empty());
  }
}

TEST_CASE("the number of errors is limited") {
  const auto module = parse(repeat("def (:\n", 500));
  CHECK_FALSE(module->errors.empty());
  CHECK(module->errors.size() <= 40);
}

TEST_CASE("parentheses are not a level") {
  const auto module = parse("x = " + repeat("(", 10000) + "1" + repeat(")", 10000) + "\n");
  CHECK(module->errors.empty());
  CHECK(module->exprs.size() == 2);
}

TEST_CASE("what is nested too deeply is cut with an error") {
  const std::string n = "\n";
  for (const std::string& text :
       {"x = a" + repeat(" + a", 5000) + n, "x = " + repeat("[", 10000) + repeat("]", 10000) + n,
        "x = a" + repeat(".b()", 5000) + n, "x = " + repeat("-", 10000) + "1" + n,
        "x = " + repeat("lambda: ", 10000) + "1" + n, "x = " + repeat("a if b else ", 10000) + "1" + n,
        "x: A" + repeat(" | A[b]", 10000) + n,
        "match x:\n  case " + repeat("[", 10000) + repeat("]", 10000) + ":\n    pass\n",
        "for " + repeat("[", 10000) + "x" + repeat("]", 10000) + " in y: pass\n",
        "if a: pass\n" + repeat("elif b: pass\n", 5000)}) {
    CAPTURE(text.substr(0, 30));
    const auto module = parse(text);
    CHECK_FALSE(module->errors.empty());
    CHECK(depth(*module) <= 1001);
    CHECK_FALSE(ir::dump(*module).empty());  // recursion over the result is safe
  }
}

TEST_CASE("unclosed and senseless input") {
  for (const std::string& text : {repeat("(", 10000),
                                  repeat("f\"{", 3000),
                                  repeat("if a:\n", 3000),
                                  std::string("\\"),
                                  std::string("\""),
                                  std::string("'''"),
                                  std::string("\xEF\xBB\xBF"),
                                  repeat(")", 1000),
                                  std::string("def"),
                                  std::string("@"),
                                  std::string("class A(\n"),
                                  std::string("x = f'{"),
                                  std::string("f'{}'"),
                                  std::string("f'{x'"),
                                  std::string("match x:\n case"),
                                  std::string("import"),
                                  std::string("from . import"),
                                  std::string("a.\n"),
                                  std::string("lambda"),
                                  std::string("x[")}) {
    CAPTURE(text.substr(0, 30));
    CHECK_FALSE(ir::dump(*parse(text)).empty());
  }
}
