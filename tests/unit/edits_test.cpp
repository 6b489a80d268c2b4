// The edits that rules are made of. Each case is source before, source after; that the results are Python is checked by
// the parser, and what the layouts mean stands in Python's grammar.
#include <doctest/doctest.h>

#include "fixer/apply.h"
#include "rules/edits.h"
#include "rules/purpose.h"
#include "tests/unit/samples.h"

using namespace fullgraph;
using namespace fullgraph::rules;

namespace {

using Make = std::function<Edits(const ir::Module&, ir::Span)>;

// The text after the edits at the place of `at`; "-" when there are none.
std::string changed(const std::string& text, std::string_view at, const Make& make) {
  const auto module = samples::module(text);
  REQUIRE(module->errors.empty());
  const Edits edits = make(*module, samples::at(module->source, at).span);
  if (edits.empty()) return "-";
  std::vector<const Edit*> list;
  for (const Edit& edit : edits) list.push_back(&edit);
  const std::string after = fixer::apply(text, *module->source, std::move(list)).value();
  CHECK_MESSAGE(samples::module(after)->errors.empty(), after);
  return after;
}

std::string without(const std::string& text, std::string_view at = "GONE") {
  return changed(text, at, remove_statement);
}

std::string guarded(const std::string& text, std::string_view at = "HERE") {
  return changed(text, at, [](const ir::Module& m, ir::Span s) { return guard_statement(m, s, "c"); });
}

std::string before(const std::string& text, std::string_view lines = "new()", std::string_view at = "HERE") {
  return changed(text, at, [&](const ir::Module& m, ir::Span s) { return insert_before_statement(m, s, lines); });
}

std::string import(const std::string& text, std::string_view dotted, std::string_view at = "USE") {
  const auto module = samples::module(text);
  const auto found = ensure_import(*module, dotted, samples::at(module->source, at).span);
  if (!found) return "no";
  return found->edits.empty() ? found->name
                              : found->name + "|" + changed(text, at, [&](const ir::Module& m, ir::Span s) {
                                  return ensure_import(m, dotted, s)->edits;
                                });
}

}  // namespace

TEST_CASE("edits: a statement goes with its lines and the comment at its end") {
  CHECK(without("a\nGONE = 1  # why\nb\n") == "a\nb\n");
  CHECK(without("def f():\n    # stays\n    GONE(\n        1,  # one\n        2,\n    )  # two\n    b\n") ==
        "def f():\n    # stays\n    b\n");
  CHECK(without("a\r\nGONE\r\nb\r\n") == "a\r\nb\r\n");
  CHECK(without("a\nGONE") == "a\n");
  CHECK(without("a\nGONE = '''\n# no comment\n'''\nb\n") == "a\nb\n");
  CHECK(without("a\n@decorate\n# why\ndef GONE():\n    pass\nb\n") == "a\nb\n");
  CHECK(without("\xEF\xBB\xBFGONE\nb\n") ==
        "\xEF\xBB\xBF"
        "b\n");
  CHECK(without("if x:\n\tGONE\n\tb\n") == "if x:\n\tb\n");
  CHECK(without("GONE = 1 + \\\n    2\nb\n") == "b\n");
}

TEST_CASE("edits: of several statements on a line one goes") {
  CHECK(without("GONE; b  # why\n") == "b  # why\n");
  CHECK(without("a; GONE  # why\n") == "a  # why\n");
  CHECK(without("a; GONE; c\n") == "a; c\n");
  CHECK(without("a; GONE;\n") == "a;\n");
  CHECK(without("a\nGONE;\nb\n") == "a\nb\n");
  CHECK(without("if x: GONE; b\n") == "if x: b\n");
  CHECK(without("if x: a; GONE\n") == "if x: a\n");
}

TEST_CASE("edits: the last statement of a block takes its clause along where that changes nothing") {
  CHECK(without("a\nif x and not self.y:\n    GONE  # why\nb\n") == "a\nb\n");
  CHECK(without("a\nif x: GONE\nb\n") == "a\nb\n");
  CHECK(without("a\nif x:\n    if isinstance(x, T):\n        GONE\nb\n") == "a\nb\n");
  CHECK(without("if x:\n    a\n# stays\nelse:\n    # goes\n    GONE\nb\n") == "if x:\n    a\n# stays\nb\n");
  CHECK(without("if x:\n    a\nelse: GONE\nb\n") == "if x:\n    a\nb\n");
  CHECK(without("if x:\n    a\nelif y > 1:\n    GONE\nb\n") == "if x:\n    a\nb\n");
  CHECK(without("if x:\n    a  # else\nelse:\n    if y:\n        GONE\nb\n") == "if x:\n    a  # else\nb\n");
  CHECK(without("for i in x:\n    a\nelse:\n    GONE\n") == "for i in x:\n    a\n");
  CHECK(without("try:\n    a\nexcept E:\n    b\nelse:\n    GONE\nfinally:\n    c\n") ==
        "try:\n    a\nexcept E:\n    b\nfinally:\n    c\n");
  CHECK(without("try:\n    a\nexcept E:\n    b\nfinally:\n    GONE\nc\n") == "try:\n    a\nexcept E:\n    b\nc\n");
  CHECK(without("def f(x):\n    if x:\n        GONE\n") == "def f(x):\n    pass\n");
}

TEST_CASE("edits: where the clause must stay, `pass` does too") {
  CHECK(without("if f(x):\n    GONE  # why\n") == "if f(x):\n    pass  # why\n");
  CHECK(without("if (x := 1):\n    GONE\n") == "if (x := 1):\n    pass\n");
  CHECK(without("if x:\n    GONE\nelse:\n    b\n") == "if x:\n    pass\nelse:\n    b\n");
  CHECK(without("if x:\n    a\nelif y:\n    GONE\nelse:\n    b\n") ==
        "if x:\n    a\nelif y:\n    pass\nelse:\n    b\n");
  CHECK(without("try:\n    GONE\nexcept E:\n    b\n") == "try:\n    pass\nexcept E:\n    b\n");
  CHECK(without("try:\n    a\nexcept E:\n    GONE\n") == "try:\n    a\nexcept E:\n    pass\n");
  CHECK(without("try:\n    a\nfinally:\n    GONE\n") == "try:\n    a\nfinally:\n    pass\n");
  CHECK(without("for i in x: GONE\n") == "for i in x: pass\n");
  CHECK(without("with x:\n    GONE\n") == "with x:\n    pass\n");
  CHECK(without("class A: GONE\n") == "class A: pass\n");
  CHECK(without("match x:\n    case 1:\n        GONE\n    case _: b\n") ==
        "match x:\n    case 1:\n        pass\n    case _: b\n");
  CHECK(without("GONE\n") == "pass\n");
}

TEST_CASE("edits: the innermost statement is meant, an elif being a part of one") {
  CHECK(without("a\nif x:\n    b\nelif GONE:\n    c\nd\n") == "a\nd\n");
  CHECK(without("a\nfor i in GONE:\n    b\nc\n") == "a\nc\n");
  CHECK(without("a\nx = lambda: GONE\nc\n") == "a\nc\n");
}

TEST_CASE("edits: nothing is touched in what was not understood") {
  const auto module = samples::module("def f(:\n    GONE\n    b\n");
  CHECK(remove_statement(*module, samples::at(module->source, "GONE").span).empty());
  CHECK(without("if x: \\\n  GONE; b\n") == "-");
}

TEST_CASE("edits: a statement under a condition") {
  CHECK(guarded("a\nHERE = 1  # why\nb\n") == "a\nif c:\n    HERE = 1  # why\nb\n");
  CHECK(guarded("if x:\n  HERE(\n    1,\n\n    2,  # two\n  )\n  b\n") ==
        "if x:\n  if c:\n    HERE(\n      1,\n\n      2,  # two\n    )\n  b\n");
  CHECK(guarded("def f():\n\tHERE(1,\n\t     2)\n") == "def f():\n\tif c:\n\t\tHERE(1,\n\t\t     2)\n");
  CHECK(guarded("a\r\nHERE(\r\n  1)\r\n") == "a\r\nif c:\r\n    HERE(\r\n      1)\r\n");
  CHECK(guarded("a\nHERE") == "a\nif c:\n    HERE");
  CHECK(guarded("HERE = 1 + \\\n  2\n") == "if c:\n    HERE = 1 + \\\n      2\n");
  CHECK(guarded("a\n# above\n@d\n# between\ndef HERE():\n  # in\n  x\n\n  # more\n  y\n# below\n") ==
        "a\n# above\nif c:\n  @d\n  # between\n  def HERE():\n    # in\n    x\n\n    # more\n    y\n# below\n");
  CHECK(guarded("for HERE in x:\n    a\nelse:\n    b\n") ==
        "if c:\n    for HERE in x:\n        a\n    else:\n        b\n");
  CHECK(guarded("if x:\n    a\nelif HERE:\n    b\n") == "if c:\n    if x:\n        a\n    elif HERE:\n        b\n");
}

TEST_CASE("edits: a condition goes in front of the test that is there already") {
  CHECK(guarded("if HERE:\n    raise x\n") == "if c and HERE:\n    raise x\n");
  CHECK(guarded("if x and y: HERE\n") == "if c and x and y: HERE\n");
  // What binds weaker than `and` is held together.
  CHECK(guarded("if x or y:\n    HERE\n") == "if c and (x or y):\n    HERE\n");
  CHECK(guarded("if (x or\n    y):\n    HERE\n") == "if (c and (x or\n    y)):\n    HERE\n");
  CHECK(guarded("if x if y else z:\n    HERE\n") == "if c and (x if y else z):\n    HERE\n");
  // A test that does something is still made, and what else hangs on it stays.
  CHECK(guarded("if f():\n    HERE\n") == "if f():\n    if c:\n        HERE\n");
  CHECK(guarded("if x:\n    HERE\nelse:\n    y\n") == "if x:\n    if c:\n        HERE\nelse:\n    y\n");
}

TEST_CASE("edits: a paragraph goes with its comment") {
  CHECK(without("a\n\n# why\nGONE\n\nb\n") == "a\n\nb\n");
  // The comment may be about what follows.
  CHECK(without("a\n\n# why\nGONE\nb\n") == "a\n\n# why\nb\n");
  CHECK(without("a\n# why\nGONE\n\nb\n") == "a\n# why\n\nb\n");
}

TEST_CASE("edits: what a statement is there for") {
  const auto purpose = [](std::string text) {
    const auto at = static_cast<std::uint32_t>(text.find("HERE"));
    const auto module = samples::module(text);
    return purpose_of(*module, {at, at + 4});
  };
  CHECK(purpose("assert HERE > 1\n") == Purpose::Check);
  CHECK(purpose("if HERE:\n    raise ValueError(x)\n") == Purpose::Check);
  CHECK(purpose("if HERE:\n    print(x)\n    raise ValueError(x)\n") == Purpose::Check);
  CHECK(purpose("if HERE:\n    logger.warning(x)\n") == Purpose::Message);
  CHECK(purpose("warnings.warn(HERE)\n") == Purpose::Message);
  CHECK(purpose("if HERE:\n    raise x\nelse:\n    y = 1\n") == Purpose::Other);
  CHECK(purpose("if HERE:\n    y = 1\n") == Purpose::Other);
  CHECK(purpose("y = print(HERE)\n") == Purpose::Other);
  CHECK(purpose("f(HERE)\n") == Purpose::Other);
  // What is caught decides how the program goes on.
  CHECK(purpose("try:\n    if HERE:\n        raise x\nexcept E:\n    y = 1\n") == Purpose::Other);
  CHECK(purpose("try:\n    assert HERE\nfinally:\n    y = 1\n") == Purpose::Check);
  CHECK(purpose("try:\n    def f():\n        assert HERE\nexcept E:\n    y = 1\n") == Purpose::Check);
  // What is bound or taken on the way is needed later.
  CHECK(purpose("if (n := HERE) > 3:\n    raise x\n") == Purpose::Other);
  CHECK(purpose("print(HERE, stack.pop())\n") == Purpose::Other);
  CHECK(purpose("print(f'{HERE.item():.3f}', x.mean())\n") == Purpose::Message);
}

TEST_CASE("edits: one more argument for a call") {
  const auto with_argument = [](const std::string& text) {
    const std::string call = text.substr(0, text.rfind(')') + 1);
    return changed(text, call, [](const ir::Module& m, ir::Span s) { return add_argument(m, s, "k=1"); });
  };
  CHECK(with_argument("f()\n") == "f(k=1)\n");
  CHECK(with_argument("f(a, *b)\n") == "f(a, *b, k=1)\n");
  CHECK(with_argument("f(\n    a,\n)\n") == "f(\n    a, k=1,\n)\n");
  CHECK(with_argument("f(x for x in y)\n") == "-");
}

TEST_CASE("edits: strings keep their lines when a statement is indented") {
  CHECK(guarded("if x:\n    HERE = '''one\n    two\n'''\n    y\n") ==
        "if x:\n    if c:\n        HERE = '''one\n    two\n'''\n    y\n");
  CHECK(guarded("HERE = 'one\\\n  two'\n") == "if c:\n    HERE = 'one\\\n  two'\n");
  CHECK(guarded("HERE(\n  f'a{x}'  # '''\n  f'''b{\n  y['''k''']}\n  '''\n  'c',\n)\n") ==
        "if c:\n    HERE(\n      f'a{x}'  # '''\n      f'''b{\n  y['''k''']}\n  '''\n      'c',\n    )\n");
  CHECK(guarded("class HERE:\n  '''doc\n  more'''\n  x = 1\n") ==
        "if c:\n  class HERE:\n    '''doc\n  more'''\n    x = 1\n");
}

TEST_CASE("edits: lines are broken up where a condition must come between") {
  CHECK(guarded("HERE; b  # why\n") == "if c:\n    HERE\nb  # why\n");
  CHECK(guarded("a; HERE  # why\n") == "a\nif c:\n    HERE  # why\n");
  CHECK(guarded("a; HERE; b\n") == "a\nif c:\n    HERE\nb\n");
  CHECK(guarded("HERE; \\\n  b\n") == "if c:\n    HERE\nb\n");  // the line goes on
  CHECK(guarded("if x: HERE; b\n") == "if x:\n    if c:\n        HERE\n    b\n");
  CHECK(guarded("def f():\n  if x:HERE\n  else: b\n") == "def f():\n  if x:\n    if c:\n      HERE\n  else: b\n");
  CHECK(guarded("try: a\nexcept (A,\n        B): HERE\n") ==
        "try: a\nexcept (A,\n        B):\n    if c:\n        HERE\n");
  CHECK(guarded("match x:\n  case 1: HERE\n  case _:\n    b\n") ==
        "match x:\n  case 1:\n    if c:\n      HERE\n  case _:\n    b\n");
  CHECK(guarded("def f():\n    a\n    while x: b; HERE\n") ==
        "def f():\n    a\n    while x:\n        b\n        if c:\n            HERE\n");
}

TEST_CASE("edits: what must not stand under a condition stays") {
  CHECK(guarded("from __future__ import HERE\n") == "-");
  CHECK(guarded("def f():\n    global HERE\n") == "-");
}

TEST_CASE("edits: lines before a statement") {
  CHECK(before("a\n# above\nHERE\n") == "a\n# above\nnew()\nHERE\n");
  CHECK(before("if x:\n\tHERE\n", "if y:\n\tnew()") == "if x:\n\tif y:\n\t\tnew()\n\tHERE\n");
  CHECK(before("a\r\nHERE", "one\ntwo") == "a\r\none\r\ntwo\r\nHERE");
  CHECK(before("\xEF\xBB\xBFHERE\n") ==
        "\xEF\xBB\xBF"
        "new()\nHERE\n");
  CHECK(before("a; HERE; b\n") == "a\nnew()\nHERE; b\n");
  CHECK(before("if x: HERE; b\n") == "if x:\n    new()\n    HERE; b\n");
  CHECK(before("if x: a; HERE\n") == "if x:\n    a\n    new()\n    HERE\n");
  CHECK(before("if x:\n    a\nelif HERE:\n    b\n") == "new()\nif x:\n    a\nelif HERE:\n    b\n");
  CHECK(before("@d(HERE)\ndef f(): pass\n") == "new()\n@d(HERE)\ndef f(): pass\n");
  CHECK(before("x = [\n    HERE,\n]\n") == "new()\nx = [\n    HERE,\n]\n");
}

TEST_CASE("edits: an import that is there is used") {
  CHECK(import("import torch\nUSE\n", "torch") == "torch");
  CHECK(import("import os, torch as t\nUSE\n", "torch") == "t");
  CHECK(import("import torch.nn as nn\nimport torch.utils\nUSE\n", "torch") == "torch");
  CHECK(import("from torch.utils import checkpoint as c\nUSE\n", "torch.utils.checkpoint") == "c");
  CHECK(import("import torch.utils.checkpoint\nUSE\n", "torch.utils.checkpoint") == "torch.utils.checkpoint");
  CHECK(import("try:\n    import torch\nexcept ImportError:\n    torch = None\nUSE\n", "torch") == "torch");
  CHECK(import("import torch\nimport torch as t\ndef f(torch):\n    USE\n", "torch") == "t");
}

TEST_CASE("edits: an import that is missing goes behind the others") {
  CHECK(import("'''doc'''\nfrom __future__ import annotations\nimport os  # why\n\nx = 1\ndef f():\n    USE\n",
               "torch") ==
        "torch|'''doc'''\nfrom __future__ import annotations\nimport os  # why\nimport torch\n\nx = 1\ndef f():\n    "
        "USE\n");
  CHECK(import("'''doc'''\nUSE\n", "torch") == "torch|'''doc'''\n\nimport torch\nUSE\n");
  CHECK(import("#!/usr/bin/python\n# coding: utf-8\nUSE\n", "torch") ==
        "torch|#!/usr/bin/python\n# coding: utf-8\nimport torch\n\nUSE\n");
  CHECK(import("USE\r\nimport os", "torch") == "torch|USE\r\nimport os\r\nimport torch");
  CHECK(import("import os; x = 1\nUSE\nclass A:\n    pass\nimport sys\n", "torch") ==
        "torch|import os; x = 1\nimport torch\nUSE\nclass A:\n    pass\nimport sys\n");
  CHECK(import("import torch.nn as nn\nUSE\n", "torch") == "torch|import torch.nn as nn\nimport torch\nUSE\n");
  CHECK(import("if TYPE_CHECKING:\n    import torch\nUSE\n", "torch").starts_with("torch|import torch\n"));
}

TEST_CASE("edits: a name that means something else is not taken") {
  CHECK(import("def f(torch):\n    USE\n", "torch") == "no");
  CHECK(import("def f():\n    def g():\n        USE\n    torch = 1\n", "torch") == "no");
  CHECK(import("torch = importorskip('torch')\nUSE\n", "torch") == "no");
  CHECK(import("import numpy as torch\nUSE\n", "torch") == "no");
}
