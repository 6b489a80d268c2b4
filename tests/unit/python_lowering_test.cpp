// Source text → IR: one case for each kind, with the dump as the expected form. That the dump agrees with Python's own
// parser on real code is tested in tests/python; here stand the forms that real code hardly has.
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

// The dump of the module's body, without its heading and two levels of indentation less.
std::string body(std::string text) {
  const auto module = parse(std::move(text));
  const std::string dump = ir::dump(*module);
  std::string result;
  for (std::size_t at = 0; at < dump.size();) {
    const std::size_t end = dump.find('\n', at);
    const std::string line = dump.substr(at, end - at);
    if (line.starts_with("  ")) result += line.substr(2) + "\n";
    if (line.starts_with("SyntaxError")) result += line + "\n";
    at = end + 1;
  }
  return result;
}

// The dump of the only expression statement.
std::string expression(const std::string& text) {
  const std::string dump = body(text + "\n");
  const std::size_t first = dump.find('\n') + 1;
  std::string result;
  for (std::size_t at = first; at < dump.size();) {
    const std::size_t end = dump.find('\n', at);
    result += dump.substr(at + 2, end - at - 1);
    at = end + 1;
  }
  return result.substr(0, 2) == "a " ? result.substr(2) : result;
}

}  // namespace

TEST_CASE("literals") {
  CHECK(expression("None") == "None 1:1-1:5\n");
  CHECK(expression("True") == "True 1:1-1:5\n");
  CHECK(expression("False") == "False 1:1-1:6\n");
  CHECK(expression("...") == "Ellipsis 1:1-1:4\n");
  CHECK(expression("0x_ff") == "Int 1:1-1:6 0x_ff\n");
  CHECK(expression("1.5e3") == "Float 1:1-1:6 1.5e3\n");
  CHECK(expression("2J") == "Imaginary 1:1-1:3 2J\n");
  CHECK(expression("1.J") == "Imaginary 1:1-1:4 1.J\n");
}

TEST_CASE("the value of an integer") {
  const auto value = [](const std::string& text) {
    const auto module = parse(text);
    return module->int_value(module->stmt(module->block(module->body).begin()[0]).a);
  };
  CHECK(value("0") == 0);
  CHECK(value("1_000") == 1000);
  CHECK(value("0xFF") == 255);
  CHECK(value("0o17") == 15);
  CHECK(value("0B101") == 5);
  CHECK(value("9223372036854775807") == 9223372036854775807);
  CHECK(value("9223372036854775808") == std::nullopt);
}

TEST_CASE("strings are decoded") {
  CHECK(expression(R"('a\n\x41\101\u00e9\q')") == "String 1:1-1:22 \"a\\x0aAA\\xc3\\xa9\\x5cq\"\n");
  CHECK(expression(R"(r'a\n')") == "String 1:1-1:7 \"a\\x5cn\"\n");
  CHECK(expression(R"(r'\\')") == "String 1:1-1:6 \"\\x5c\\x5c\"\n");
  CHECK(expression(R"(b'\xff\u1')") == "Bytes 1:1-1:11 \"\\xff\\x5cu1\"\n");
  CHECK(expression(R"(rb'\x')") == "Bytes 1:1-1:7 \"\\x5cx\"\n");
  CHECK(expression(R"(u"a" 'b' '''c''')") == "String 1:1-1:17 \"abc\"\n");
  CHECK(expression("'a\\\nb'") == "String 1:1-2:3 \"ab\"\n");
  CHECK(expression("'''a\r\nb'''") == "String 1:1-2:5 \"a\\x0ab\"\n");         // as Python reads line ends
  CHECK(expression(R"('\ud800')") == "String 1:1-1:9 \"\\xed\\xa0\\x80\"\n");  // a lone surrogate
  CHECK(expression(R"('\N{DASH}!')") == "String 1:1-1:12 \"\\xef\\xbf\\xbd!\"\n");
  CHECK(expression("''") == "String 1:1-1:3 \"\"\n");
}

TEST_CASE("f-strings") {
  CHECK(expression("f'a{{{x!r:>{w}}b}}' 'c'") ==
        "FString 1:1-1:24\n"
        "  String 1:3-1:6 \"a{\"\n"
        "  Formatted 1:6-1:16 !r\n"
        "    a Name 1:7-1:8 x global\n"
        "    b FString 1:11-1:15\n"
        "      String 1:11-1:12 \">\"\n"
        "      Formatted 1:12-1:15\n"
        "        a Name 1:13-1:14 w global\n"
        "  String 1:16-1:23 \"b}c\"\n");
  // `=` shows the source text and means !r
  CHECK(expression("f'{x = }'") ==
        "FString 1:1-1:10\n"
        "  String 1:4-1:8 \"x = \"\n"
        "  Formatted 1:3-1:9 !r\n"
        "    a Name 1:4-1:5 x global\n");
  // PEP 701: the same quotes inside
  CHECK(expression("f'{d['k']}'") ==
        "FString 1:1-1:12\n"
        "  Formatted 1:3-1:11\n"
        "    a Subscript 1:4-1:10\n"
        "      a Name 1:4-1:5 d global\n"
        "      b String 1:6-1:9 \"k\"\n");
  CHECK(expression("t'{x}'") ==
        "FString 1:1-1:7\n"
        "  Formatted 1:3-1:6\n"
        "    a Name 1:4-1:5 x global\n");
}

TEST_CASE("parentheses belong to what is around them") {
  CHECK(expression("((a)).b") == "Attribute 1:1-1:8 b\n  a Name 1:3-1:4 a global\n");
  CHECK(expression("(a, b)") == "Tuple 1:1-1:7\n  Name 1:2-1:3 a global\n  Name 1:5-1:6 b global\n");
  CHECK(expression("a, b") == "Tuple 1:1-1:5\n  Name 1:1-1:2 a global\n  Name 1:4-1:5 b global\n");
  CHECK(expression("a,") == "Tuple 1:1-1:3\n  Name 1:1-1:2 a global\n");
  CHECK(expression("()") == "Tuple 1:1-1:3\n");
}

TEST_CASE("calls and their arguments") {
  CHECK(expression("f(a, *b, k=c, **d)") ==
        "Call 1:1-1:19\n"
        "  a Name 1:1-1:2 f global\n"
        "  Name 1:3-1:4 a global\n"
        "  Starred 1:6-1:8\n"
        "    a Name 1:7-1:8 b global\n"
        "  Keyword 1:10-1:13 k\n"
        "    a Name 1:12-1:13 c global\n"
        "  DoubleStarred 1:15-1:18\n"
        "    a Name 1:17-1:18 d global\n");
  CHECK(expression("f(x for x in y)") ==
        "Call 1:1-1:16\n"
        "  a Name 1:1-1:2 f global\n"
        "  GeneratorExp 1:2-1:16\n"
        "    a Name 1:3-1:4 x global\n"
        "    CompFor 1:5-1:15\n"
        "      a Name 1:9-1:10 x global\n"
        "      b Name 1:14-1:15 y global\n");
}

TEST_CASE("subscripts and slices") {
  CHECK(expression("a[1:, ::2]") ==
        "Subscript 1:1-1:11\n"
        "  a Name 1:1-1:2 a global\n"
        "  b Tuple 1:3-1:10\n"
        "    Slice 1:3-1:5\n"
        "      a Int 1:3-1:4 1\n"
        "    Slice 1:7-1:10\n"
        "      c Int 1:9-1:10 2\n");
  CHECK(expression("a[b,]").find("b Tuple 1:3-1:5") != std::string::npos);
  CHECK(expression("a[*b]").find("b Tuple 1:3-1:5") != std::string::npos);
}

TEST_CASE("the name of an attribute") {
  const auto module = parse("a . b\n");
  const ir::ExprId id = module->stmt(module->block(module->body).begin()[0]).a;
  CHECK(module->name_span(id) == ir::Span{4, 5});
}

TEST_CASE("operators") {
  CHECK(expression("not -a") == "Unary 1:1-1:7 not\n  a Unary 1:5-1:7 -\n    a Name 1:6-1:7 a global\n");
  CHECK(expression("a or b or (c or d) and e") ==
        "BoolOp 1:1-1:25 or\n"
        "  Name 1:1-1:2 a global\n"
        "  Name 1:6-1:7 b global\n"
        "  BoolOp 1:11-1:25 and\n"
        "    BoolOp 1:12-1:18 or\n"
        "      Name 1:12-1:13 c global\n"
        "      Name 1:17-1:18 d global\n"
        "    Name 1:24-1:25 e global\n");
  CHECK(expression("a < b is not c not in d") ==
        "Compare 1:1-1:24\n"
        "  a Name 1:1-1:2 a global\n"
        "  Comparison 1:3-1:6 <\n"
        "    a Name 1:5-1:6 b global\n"
        "  Comparison 1:7-1:15 is not\n"
        "    a Name 1:14-1:15 c global\n"
        "  Comparison 1:16-1:24 not in\n"
        "    a Name 1:23-1:24 d global\n");
  for (const std::string op : {"+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"}) {
    CHECK(expression("a" + op + "b").starts_with("Binary 1:1-1:" + std::to_string(3 + op.size()) + " " + op + "\n"));
  }
  for (const std::string op : {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"}) {
    CHECK(expression("a " + op + " b").find(" " + op + "\n") != std::string::npos);
  }
}

TEST_CASE("precedences that the grammar has differently") {
  CHECK(expression("await a ** b").starts_with("Binary 1:1-1:13 **\n  a Await 1:1-1:8\n"));
  CHECK(expression("(x := a if b else c)").starts_with("NamedExpr 1:2-1:20\n"));
  CHECK(body("x = *a.b, c\n") ==
        "Assign 1:1-1:12\n"
        "  item Name 1:1-1:2 x global\n"
        "  a Tuple 1:5-1:12\n"
        "    Starred 1:5-1:9\n"
        "      a Attribute 1:6-1:9 b\n"
        "        a Name 1:6-1:7 a global\n"
        "    Name 1:11-1:12 c global\n");
  CHECK(expression("a ^ b & c ^ d") ==
        "Binary 1:1-1:14 ^\n"
        "  a Binary 1:1-1:10 ^\n"
        "    a Name 1:1-1:2 a global\n"
        "    b Binary 1:5-1:10 &\n"
        "      a Name 1:5-1:6 b global\n"
        "      b Name 1:9-1:10 c global\n"
        "  b Name 1:13-1:14 d global\n");
  CHECK(expression("f'{x:=>9}'") ==
        "FString 1:1-1:11\n"
        "  Formatted 1:3-1:10\n"
        "    a Name 1:4-1:5 x global\n"
        "    b FString 1:6-1:9\n"
        "      String 1:6-1:9 \"=>9\"\n");
  CHECK(expression("print >> f, x") ==
        "Tuple 1:1-1:14\n"
        "  Binary 1:1-1:11 >>\n"
        "    a Name 1:1-1:6 print global\n"
        "    b Name 1:10-1:11 f global\n"
        "  Name 1:13-1:14 x global\n");
  CHECK(body("x = a, *[b] * 2\n") ==
        "Assign 1:1-1:16\n"
        "  item Name 1:1-1:2 x global\n"
        "  a Tuple 1:5-1:16\n"
        "    Name 1:5-1:6 a global\n"
        "    Starred 1:8-1:16\n"
        "      a Binary 1:9-1:16 *\n"
        "        a List 1:9-1:12\n"
        "          Name 1:10-1:11 b global\n"
        "        b Int 1:15-1:16 2\n");
  CHECK(body("type(x).y = z\n") ==
        "Assign 1:1-1:14\n"
        "  item Attribute 1:1-1:10 y\n"
        "    a Call 1:1-1:8\n"
        "      a Name 1:1-1:5 type global\n"
        "      Name 1:6-1:7 x global\n"
        "  a Name 1:13-1:14 z global\n");
  CHECK(body("x: A[b] | C | None\n").find("b Binary 1:4-1:19 |\n    a Binary 1:4-1:12 |\n") != std::string::npos);
}

TEST_CASE("conditional, lambda, await, yield, walrus") {
  CHECK(expression("a if b else c") ==
        "Conditional 1:1-1:14\n"
        "  a Name 1:6-1:7 b global\n"
        "  b Name 1:1-1:2 a global\n"
        "  c Name 1:13-1:14 c global\n");
  CHECK(expression("lambda x, *y: x") ==
        "Lambda 1:1-1:16\n"
        "  function <lambda> 1:1-1:16\n"
        "  locals x y\n"
        "  param x 1:8-1:9 positional slot 0\n"
        "  param y 1:11-1:13 var-args slot 1\n"
        "  result Name 1:15-1:16 x local 0\n");
  CHECK(body("def f():\n  yield\n  yield a, b\n  c = yield from d\n").find("generator") != std::string::npos);
  CHECK(body("def f():\n  return lambda: (yield)\n").find("function f 1:1-2:25\n") != std::string::npos);
  CHECK(expression("(x := 1)") == "NamedExpr 1:2-1:8\n  a Name 1:2-1:3 x global\n  b Int 1:7-1:8 1\n");
}

TEST_CASE("displays and comprehensions") {
  CHECK(expression("[a, *b]") ==
        "List 1:1-1:8\n  Name 1:2-1:3 a global\n  Starred 1:5-1:7\n    a Name 1:6-1:7 b global\n");
  CHECK(expression("{a}") == "Set 1:1-1:4\n  Name 1:2-1:3 a global\n");
  CHECK(expression("{a: b, **c}") ==
        "Dict 1:1-1:12\n"
        "  DictItem 1:2-1:6\n"
        "    a Name 1:2-1:3 a global\n"
        "    b Name 1:5-1:6 b global\n"
        "  DoubleStarred 1:8-1:11\n"
        "    a Name 1:10-1:11 c global\n");
  CHECK(expression("{k: v for k in a if b async for v in c}") ==
        "DictComp 1:1-1:40\n"
        "  a Name 1:2-1:3 k global\n"
        "  b Name 1:5-1:6 v global\n"
        "  CompFor 1:7-1:17\n"
        "    a Name 1:11-1:12 k global\n"
        "    b Name 1:16-1:17 a global\n"
        "  CompIf 1:18-1:22\n"
        "    a Name 1:21-1:22 b global\n"
        "  CompFor 1:23-1:39 async\n"
        "    a Name 1:33-1:34 v global\n"
        "    b Name 1:38-1:39 c global\n");
  CHECK(expression("{a for a in b}").starts_with("SetComp 1:1-1:15\n"));
  CHECK(expression("[a for a in b]").starts_with("ListComp 1:1-1:15\n"));
}

TEST_CASE("simple statements") {
  CHECK(body("a = b, *c = d\n") ==
        "Assign 1:1-1:14\n"
        "  item Name 1:1-1:2 a global\n"
        "  item Tuple 1:5-1:10\n"
        "    Name 1:5-1:6 b global\n"
        "    Starred 1:8-1:10\n"
        "      a Name 1:9-1:10 c global\n"
        "  a Name 1:13-1:14 d global\n");
  CHECK(body("a.b //= c\n").starts_with("AugAssign 1:1-1:10 //=\n  item Attribute 1:1-1:4 b\n"));
  CHECK(body("a: int = 1\n") ==
        "AnnAssign 1:1-1:11\n  item Name 1:1-1:2 a global\n  a Int 1:10-1:11 1\n  b Name 1:4-1:7 int global\n");
  CHECK(body("raise a from b\n") == "Raise 1:1-1:15\n  a Name 1:7-1:8 a global\n  b Name 1:14-1:15 b global\n");
  CHECK(body("raise\n") == "Raise 1:1-1:6\n");
  CHECK(body("assert a, b\n") == "Assert 1:1-1:12\n  a Name 1:8-1:9 a global\n  b Name 1:11-1:12 b global\n");
  CHECK(
      body("del a, b[0]\n").starts_with("Delete 1:1-1:12\n  item Name 1:5-1:6 a global\n  item Subscript 1:8-1:12\n"));
  CHECK(body("pass; break ;continue # c\n") == "Pass 1:1-1:5\nBreak 1:7-1:12\nContinue 1:14-1:22\n");
  CHECK(body("return\n") == "Return 1:1-1:7\n");
  CHECK(body("return a, b\n").starts_with("Return 1:1-1:12\n  a Tuple 1:8-1:12\n"));
  CHECK(body("global a\nnonlocal b\n") == "Global 1:1-1:9\nNonlocal 2:1-2:11\n");
  CHECK(body("type A[T] = list[T]\n")
            .starts_with("Assign 1:1-1:20\n  item Name 1:6-1:7 A global\n  a Subscript 1:13-1:20\n"));
}

TEST_CASE("imports") {
  CHECK(body("import a.b, c as d\n") ==
        "Import 1:1-1:19\n"
        "  alias a.b 1:8-1:11\n"
        "    target Name 1:8-1:9 a global\n"
        "  alias c 1:13-1:19 as d\n"
        "    target Name 1:18-1:19 d global\n");
  CHECK(body("from ...a.b import (c as d, e,)\n") ==
        "ImportFrom 1:1-1:32 ...a.b\n"
        "  alias c 1:21-1:27 as d\n"
        "    target Name 1:26-1:27 d global\n"
        "  alias e 1:29-1:30\n"
        "    target Name 1:29-1:30 e global\n");
  CHECK(body("from . import *\n") == "ImportFrom 1:1-1:16 .\n  alias * 1:15-1:16\n");
  CHECK(
      body("from __future__ import annotations\n").starts_with("ImportFrom 1:1-1:35 __future__\n  alias annotations"));
}

TEST_CASE("compound statements end with their last statement, the header with the colon") {
  CHECK(body("if a:\n  b # c\n  # d\nelif c: pass\nelse:\n  d\n# e\n\n") ==
        "If 1:1-6:4 header 1:1-1:6\n"
        "  a Name 1:4-1:5 a global\n"
        "  body\n"
        "    Expression 2:3-2:4\n"
        "      a Name 2:3-2:4 b global\n"
        "  else\n"
        "    If 4:1-6:4 header 4:1-4:8\n"
        "      a Name 4:6-4:7 c global\n"
        "      body\n"
        "        Pass 4:9-4:13\n"
        "      else\n"
        "        Expression 6:3-6:4\n"
        "          a Name 6:3-6:4 d global\n");
  CHECK(body("while a: pass\nelse: pass\n").starts_with("While 1:1-2:11 header 1:1-1:9\n"));
  CHECK(
      body("async for a, in b:\n  pass\n").starts_with("For 1:1-2:7 async header 1:1-1:19\n  item Tuple 1:11-1:13\n"));
  CHECK(body("async with a as b, c:\n  pass\n") ==
        "With 1:1-2:7 async header 1:1-1:22\n"
        "  item WithItem 1:12-1:18\n"
        "    a Name 1:12-1:13 a global\n"
        "    b Name 1:17-1:18 b global\n"
        "  item WithItem 1:20-1:21\n"
        "    a Name 1:20-1:21 c global\n"
        "  body\n"
        "    Pass 2:3-2:7\n");
  // One item in parentheses with a trailing comma, and an `as` behind a conditional.
  CHECK(body("with (a as b,): pass\n").find("item WithItem 1:7-1:13\n") != std::string::npos);
  CHECK(body("with a if b else c as d: pass\n").find("    a Conditional 1:6-1:19\n") != std::string::npos);
}

TEST_CASE("try") {
  CHECK(body("try:\n  a\nexcept B as c:\n  d\nexcept (E, F): pass\nexcept: pass\nelse:\n  g\nfinally:\n  h\n") ==
        "Try 1:1-10:4 header 1:1-1:5\n"
        "  body\n"
        "    Expression 2:3-2:4\n"
        "      a Name 2:3-2:4 a global\n"
        "  except 3:1-4:4\n"
        "    type Name 3:8-3:9 B global\n"
        "    target Name 3:13-3:14 c global\n"
        "    body\n"
        "      Expression 4:3-4:4\n"
        "        a Name 4:3-4:4 d global\n"
        "  except 5:1-5:20\n"
        "    type Tuple 5:8-5:14\n"
        "      Name 5:9-5:10 E global\n"
        "      Name 5:12-5:13 F global\n"
        "    body\n"
        "      Pass 5:16-5:20\n"
        "  except 6:1-6:13\n"
        "    body\n"
        "      Pass 6:9-6:13\n"
        "  else\n"
        "    Expression 8:3-8:4\n"
        "      a Name 8:3-8:4 g global\n"
        "  finally\n"
        "    Expression 10:3-10:4\n"
        "      a Name 10:3-10:4 h global\n");
  CHECK(body("try: pass\nexcept* A: pass\n").find("except* 2:1-2:16\n") != std::string::npos);
  // Python 3.14: no parentheses
  CHECK(body("try: pass\nexcept A, B: pass\n").find("type Tuple 2:8-2:12\n") != std::string::npos);
}

TEST_CASE("match") {
  CHECK(body("match a, b:\n  case 1, -2: pass\n") ==
        "Match 1:1-2:19 header 1:1-1:12\n"
        "  a Tuple 1:7-1:11\n"
        "    Name 1:7-1:8 a global\n"
        "    Name 1:10-1:11 b global\n"
        "  case\n"
        "    pattern PatternSequence 2:8-2:13\n"
        "      PatternValue 2:8-2:9\n"
        "        a Int 2:8-2:9 1\n"
        "      PatternValue 2:11-2:13\n"
        "        a Unary 2:11-2:13 -\n"
        "          a Int 2:12-2:13 2\n"
        "    body\n"
        "      Pass 2:15-2:19\n");
  const auto pattern = [](const std::string& text) {
    const std::string dump = body("match a:\n case " + text + ": pass\n");
    const std::size_t begin = dump.find("pattern ") + 8;
    return dump.substr(begin, dump.find("    body\n", begin) - begin);
  };
  CHECK(pattern("_") == "PatternCapture 2:7-2:8\n");
  CHECK(pattern("x") == "PatternCapture 2:7-2:8\n      a Name 2:7-2:8 x global\n");
  CHECK(pattern("a.b") == "PatternValue 2:7-2:10\n      a Attribute 2:7-2:10 b\n        a Name 2:7-2:8 a global\n");
  CHECK(pattern("'s'") == "PatternValue 2:7-2:10\n      a String 2:7-2:10 \"s\"\n");
  CHECK(pattern("None") == "PatternValue 2:7-2:11\n      a None 2:7-2:11\n");
  CHECK(pattern("(x)") == "PatternCapture 2:8-2:9\n      a Name 2:8-2:9 x global\n");
  CHECK(pattern("[x, *_]") ==
        "PatternSequence 2:7-2:14\n"
        "      PatternCapture 2:8-2:9\n"
        "        a Name 2:8-2:9 x global\n"
        "      Starred 2:11-2:13\n"
        "        a PatternCapture 2:12-2:13\n");
  CHECK(pattern("1 | 2 as x") ==
        "PatternCapture 2:7-2:17\n"
        "      a Name 2:16-2:17 x global\n"
        "      b PatternOr 2:7-2:12\n"
        "        PatternValue 2:7-2:8\n"
        "          a Int 2:7-2:8 1\n"
        "        PatternValue 2:11-2:12\n"
        "          a Int 2:11-2:12 2\n");
  CHECK(pattern("{'k': x, **r}") ==
        "PatternMapping 2:7-2:20\n"
        "      DictItem 2:8-2:14\n"
        "        a String 2:8-2:11 \"k\"\n"
        "        b PatternCapture 2:13-2:14\n"
        "          a Name 2:13-2:14 x global\n"
        "      DoubleStarred 2:16-2:19\n"
        "        a PatternCapture 2:18-2:19\n"
        "          a Name 2:18-2:19 r global\n");
  CHECK(pattern("A.B(x, k=1)") ==
        "PatternClass 2:7-2:18\n"
        "      a Attribute 2:7-2:10 B\n"
        "        a Name 2:7-2:8 A global\n"
        "      PatternCapture 2:11-2:12\n"
        "        a Name 2:11-2:12 x global\n"
        "      Keyword 2:14-2:17 k\n"
        "        a PatternValue 2:16-2:17\n"
        "          a Int 2:16-2:17 1\n");
  CHECK(pattern("1 + 2j if x").starts_with("PatternValue 2:7-2:13\n      a Binary 2:7-2:13 +\n"));
  CHECK(body("match = case\nmatch(x)\n").starts_with("Assign 1:1-1:13\n"));  // soft keywords stay names
}

TEST_CASE("functions and classes") {
  CHECK(body("@d\nasync def f[T](a, /, b: T = 1, *c, e, **g) -> h:\n  pass\n") ==
        "FunctionDef 1:1-3:7 header 1:1-2:49\n"
        "  name Name 2:11-2:12 f global\n"
        "  function f 1:1-3:7 async\n"
        "  locals a b c e g\n"
        "  decorator Name 1:2-1:3 d global\n"
        "  param a 2:16-2:17 positional-only slot 0\n"
        "  param b 2:22-2:30 positional slot 1\n"
        "    annotation Name 2:25-2:26 T global\n"
        "    default Int 2:29-2:30 1\n"
        "  param c 2:32-2:34 var-args slot 2\n"
        "  param e 2:36-2:37 keyword-only slot 3\n"
        "  param g 2:39-2:42 kw-args slot 4\n"
        "  returns Name 2:47-2:48 h global\n"
        "  body\n"
        "    Pass 3:3-3:7\n");
  CHECK(body("class A(B, metaclass=C):\n  def m(self): pass\n") ==
        "ClassDef 1:1-2:20 header 1:1-1:25\n"
        "  name Name 1:7-1:8 A global\n"
        "  class A 1:1-2:20\n"
        "  argument Name 1:9-1:10 B global\n"
        "  argument Keyword 1:12-1:23 metaclass\n"
        "    a Name 1:22-1:23 C global\n"
        "  body\n"
        "    FunctionDef 2:3-2:20 header 2:3-2:15\n"
        "      name Name 2:7-2:8 m class\n"
        "      function A.m 2:3-2:20\n"
        "      locals self\n"
        "      param self 2:9-2:13 positional slot 0\n"
        "      body\n"
        "        Pass 2:16-2:20\n");
  CHECK(body("class A[T = int, *Ts = *tuple[int]]: pass\n").starts_with("ClassDef 1:1-1:42"));  // PEP 696
}

TEST_CASE("qualified names, owners and parents") {
  const auto module =
      parse("class A:\n  class B:\n    def m(self):\n      def inner(): pass\n      return lambda: 0\n");
  REQUIRE(module->functions.size() == 3);
  const ir::Function& method = module->functions[0];
  const ir::Function& inner = module->functions[1];
  const ir::Function& lambda = module->functions[2];
  CHECK(module->classes[1].qualified == "A.B");
  CHECK(module->classes[1].owner == ir::ClassId{0});
  CHECK(method.qualified == "A.B.m");
  CHECK(method.owner == ir::ClassId{1});
  CHECK_FALSE(method.parent);
  CHECK(inner.qualified == "A.B.m.<locals>.inner");
  CHECK_FALSE(inner.owner);
  CHECK(inner.parent == ir::FunctionId{0});
  CHECK(lambda.qualified == "A.B.m.<locals>.<lambda>");
}

TEST_CASE("comments are kept in source order") {
  const auto module = parse("# a\r\nx = (1, # b\r\n 2)\n\nif x: # c\n  # d\n  pass\n");
  std::string all;
  for (const ir::Span span : module->comments) all += std::string(module->source->text(span)) + "|";
  CHECK(all == "# a|# b|# c|# d|");
}

TEST_CASE("lines inside brackets may be indented less than their block") {
  const auto module = parse("def f():\n    (bar. # a\nbaz)\n    x = 1 # b\n");
  CHECK(module->errors.empty());
  CHECK(module->functions[0].body.count == 2);
  REQUIRE(module->comments.size() == 2);
  CHECK(module->source->text(module->comments[0]) == "# a");
}

TEST_CASE("line ends, tabs, form feeds and byte order marks") {
  const std::string expected = body("if a:\n\tb\nc\n");
  CHECK(expected.find("Expression 2:2-2:3") != std::string::npos);
  CHECK(body("if a:\r\n\tb\r\nc\r\n") == expected);
  CHECK(body("if a:\r\tb\rc\r") == expected);
  CHECK(body("\xEF\xBB\xBFif a:\n\tb\nc\n") == expected);
  CHECK(body("\f\nif a:\n\tb\n\fc\n").find("Expression 4:2-4:3") != std::string::npos);
}
