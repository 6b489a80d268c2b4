#include <doctest/doctest.h>

#include <string>

#include "analyzer/graphs/torchscript.h"
#include "tests/unit/archives.h"
#include "tests/unit/pickles.h"

using namespace fullgraph;
using namespace fullgraph::graphs;
using namespace samples::pickles;

namespace {

const std::string linear_code =
    "class Linear(Module):\n"
    "  __parameters__ = [\"weight\", \"bias\", ]\n"
    "  __buffers__ = [\"scale\", ]\n"
    "  weight : Tensor\n"
    "  def forward(self: __torch__.m.Linear,\n"
    "    x: Tensor) -> Tensor:\n"
    "    return torch.mul(x, CONSTANTS.c0)\n";

const std::string linear_class = global("__torch__.m", "Linear");

Graphs read(const std::vector<std::pair<std::string, std::string>>& members) {
  const std::string bytes = samples::make_zip(members);
  const auto archive = Archive::in_memory(bytes, "m.pt");
  if (!archive) FAIL(archive.error().message);
  auto graphs = read_torchscript(*archive);
  if (!graphs) FAIL(graphs.error().message);
  CHECK(graphs->format == Format::TorchScript);
  return std::move(*graphs);
}

std::string error_of(const std::vector<std::pair<std::string, std::string>>& members) {
  const std::string bytes = samples::make_zip(members);
  const auto archive = Archive::in_memory(bytes, "m.pt");
  REQUIRE(archive);
  const auto graphs = read_torchscript(*archive);
  REQUIRE(!graphs);
  return graphs.error().message;
}

std::string load_of(const std::string& pickle) {
  const Graphs graphs = read({{"m/code/__torch__/m.py", linear_code}, {"m/data.pkl", pickle + "."}});
  REQUIRE(graphs.texts.back().module == "__archive__");
  return graphs.texts.back().text;
}

}  // namespace

TEST_CASE("torchscript: code files are modules, as they stand in the archive") {
  const Graphs graphs = read({{"m/code/__torch__.py", "class A(Module):\n  pass\n"},
                              {"m/code/__torch__/a/b.py", "x = 1\n"},
                              {"m/code/__torch__/a/b/___torch_mangle_0.py", "y = 2\n"},
                              {"m/version", "3\n"}});
  REQUIRE(graphs.texts.size() == 3);
  CHECK(graphs.texts[0].module == "__torch__");
  CHECK(graphs.texts[1].module == "__torch__.a.b");
  CHECK(graphs.texts[2].module == "__torch__.a.b.___torch_mangle_0");
  CHECK(graphs.texts[1].member == "code/__torch__/a/b.py");
  CHECK(graphs.texts[1].text == "x = 1\n");
  CHECK(graphs.entry.empty());
}

TEST_CASE("torchscript: the objects are made children first, with the parameters and buffers that their classes name") {
  const std::string child = object(linear_class, dict({{"weight", tensor({4, 2}, true)},
                                                       {"bias", tensor({4}, false)},
                                                       {"scale", tensor({}, false, "LongStorage", "cuda:0")},
                                                       {"training", yes},
                                                       {"_is_full_backward_hook", yes}}));
  CHECK(load_of(object(global("__torch__.m", "Net"), dict({{"training", no}, {"0", child}}))) ==
        "import __torch__.m\n"
        "import torch\n"
        "\n\n"
        "def load():\n"
        "    m1 = object.__new__(__torch__.m.Linear)\n"
        "    m1.weight = torch.nn.Parameter(torch.empty([4, 2]), requires_grad=True)\n"
        "    m1.bias = torch.nn.Parameter(torch.empty([4]), requires_grad=False)\n"
        "    m1.register_buffer(\"scale\", torch.empty([], dtype=torch.int64, device=\"cuda:0\"))\n"
        "    m1.training = True\n"
        "    m1._is_full_backward_hook = True\n"
        "    m0 = object.__new__(__torch__.m.Net)\n"
        "    m0.training = False\n"
        "    setattr(m0, \"0\", m1)\n"
        "    return m0\n");
}

TEST_CASE("torchscript: what is there once is spelled once") {
  const std::string child = put(object(linear_class, dict({{"weight", put(tensor({2}), 1)}})), 0);
  const std::string text =
      load_of(object(global("__torch__.m", "Net"), dict({{"a", child}, {"b", get(0)}, {"w", get(1)}})));
  CHECK(text.contains("v0 = torch.nn.Parameter(torch.empty([2]), requires_grad=False)\n"));
  CHECK(text.contains("m1.weight = v0\n"));
  CHECK(text.contains("m0.a = m1\n    m0.b = m1\n    m0.w = v0\n"));
}

TEST_CASE("torchscript: an object that holds itself") {
  const std::string text =
      load_of(global("__torch__.m", "Net") + ")\x81" + put("", 0) + dict({{"me", get(0)}, {"n", number(1)}}) + "b");
  CHECK(text.contains("m0 = object.__new__(__torch__.m.Net)\n    m0.me = m0\n    m0.n = 1\n"));
}

TEST_CASE("torchscript: lists of torch's, states of other kinds, and what is not understood") {
  const std::string ints = call(global("torch.jit._pickle", "build_intlist"), {list({number(1), number(2)})});
  const std::string typed =
      call(global("torch.jit._pickle", "restore_type_tag"), {dict({{"a", number(1)}}), text("Dict[str, int]")});
  const std::string packed = object(global("__torch__.torch.classes.quantized", "Packed"), tuple({number(1)}));
  const std::string state = object(global("__torch__.m", "Own"), tuple({number(1), text("a\"b\n")}));
  const std::string made =
      load_of(object(global("__torch__.m", "Net"), dict({{"i", ints}, {"d", typed}, {"p", packed}, {"s", state}})));
  CHECK(made.contains("m0.i = [1, 2]\n"));
  CHECK(made.contains("m0.d = {\"a\": 1}\n"));
  CHECK(made.contains("m0.p = ...\n"));
  CHECK(made.contains("m1.__setstate__((1, \"a\\\"b\\n\"))\n"));
  CHECK(load_of("\x8A\x09" + std::string(9, '\1')).contains("return ...\n"));
}

TEST_CASE("torchscript: names that are none of Python's are not spelled") {
  const std::string made =
      load_of(dict({{"a", global("__torch__.m", "<lambda>")}, {"b", object(global("a b", "c"), none)}}));
  CHECK(made.contains("{\"a\": ..., \"b\": m0}"));
  CHECK(made.contains("m0 = object.__new__(...)\n"));
}

TEST_CASE("torchscript: constants of the code") {
  const Graphs graphs = read({{"m/code/__torch__/m.py", linear_code},
                              {"m/constants.pkl", tuple({tensor({2, 3}), text("ä"), number(7)}) + "."}});
  REQUIRE(graphs.texts.size() == 2);
  CHECK(graphs.texts[1].module == "CONSTANTS");
  CHECK(graphs.texts[1].text == "import torch\n\nc0 = torch.empty([2, 3])\nc1 = \"ä\"\nc2 = 7\n");
  CHECK(read({{"m/code/__torch__/m.py", linear_code}, {"m/constants.pkl", ")."}}).texts.size() == 1);
}

TEST_CASE("torchscript: a source map stands beside its code") {
  const std::string row =
      tuple({number(0), tuple({tuple({text("def f():\n"), text("/m.py"), number(3)}), number(0), number(0)})});
  const Graphs graphs =
      read({{"m/code/__torch__/m.py", "x = 1\n"}, {"m/code/__torch__/m.py.debug_pkl", tuple({row}) + "."}});
  REQUIRE(graphs.texts[0].map.at(0) != nullptr);
  CHECK(graphs.texts[0].map.at(0)->line == 3);
}

TEST_CASE("torchscript: errors name the member") {
  CHECK(error_of({{"m/version", "3"}}) == "member `code/`: the archive has no code");
  CHECK(error_of({{"m/bytecode.pkl", "N."}}).contains("an archive for mobile devices"));
  CHECK(error_of({{"m/code/a.py", ""}, {"m/code/a.py.debug_pkl", "N."}}) ==
        "member `code/a.py.debug_pkl`: the source map is damaged: no table of rows");
  CHECK(error_of({{"m/code/a.py", ""}, {"m/data.pkl", ""}})
            .starts_with("member `data.pkl`: the pickle is damaged: byte 0"));
  CHECK(error_of({{"m/code/a.py", ""}, {"m/constants.pkl", "t."}})
            .starts_with("member `constants.pkl`: the pickle is damaged"));
}
