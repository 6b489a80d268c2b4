#include <doctest/doctest.h>

#include <string>

#include "analyzer/graphs/pickled_module.h"
#include "tests/unit/archives.h"
#include "tests/unit/pickles.h"

using namespace fullgraph;
using namespace fullgraph::graphs;
using namespace samples::pickles;

namespace {

using Items = std::vector<std::pair<std::string, std::string>>;

Graphs read(const std::string& pickle) {
  const std::string bytes = samples::make_zip({{"m/data.pkl", pickle + "."}, {"m/version", "3"}});
  const auto archive = Archive::in_memory(bytes, "m.pt");
  REQUIRE(archive);
  auto graphs = read_saved(*archive);
  if (!graphs) FAIL(graphs.error().message);
  return std::move(*graphs);
}

// The statements of load().
std::string made_by(const std::string& pickle) {
  const Graphs graphs = read(pickle);
  CHECK(graphs.format == Format::PickledModule);
  CHECK(graphs.entry == "__archive__:load");
  REQUIRE(!graphs.texts.empty());
  const std::string& text = graphs.texts.back().text;
  return text.substr(text.find("def load():\n") + 12);
}

// OrderedDict, filled with numbered functions.
std::string hooks(const Items& numbered) {
  std::string out = call(global("collections", "OrderedDict"), {});
  for (const auto& [key, value] : numbered) out += "I" + key + "\n" + value + "s";
  return out;
}

std::string module(const std::string& type, Items attributes, const Items& parameters = {}, const Items& children = {},
                   const Items& buffers = {}) {
  attributes.insert(attributes.begin(), {"training", yes});
  attributes.emplace_back("_parameters", dict(parameters));
  attributes.emplace_back("_buffers", dict(buffers));
  attributes.emplace_back("_modules", dict(children));
  return object(type, dict(attributes));
}

const std::string linear = global("torch.nn.modules.linear", "Linear");

}  // namespace

TEST_CASE("pickled module: parameters, buffers, children and attributes") {
  const std::string child =
      module(linear, {{"in_features", number(4)}}, {{"weight", parameter(tensor({4, 4}), true)}, {"bias", none}}, {},
             {{"b", tensor({2})}});
  CHECK(made_by(module(global("models", "Clean"), {}, {}, {{"block", child}})) ==
        "    m1 = object.__new__(torch.nn.Linear)\n"
        "    m1.training = True\n"
        "    m1.in_features = 4\n"
        "    m1.weight = torch.nn.Parameter(torch.empty([4, 4]), requires_grad=True)\n"
        "    m1.register_parameter(\"bias\", None)\n"
        "    m1.register_buffer(\"b\", torch.empty([2]))\n"
        "    m0 = object.__new__(models.Clean)\n"
        "    m0.training = True\n"
        "    m0.block = m1\n"
        "    return m0\n");
}

TEST_CASE("pickled module: hooks are registered by the calls that register them") {
  const std::string hook = global("__main__", "hook");
  const auto with = [&](const Items& attributes) { return made_by(module(linear, attributes)); };
  CHECK(with({{"_backward_hooks", hooks({{"7", hook}})}, {"_is_full_backward_hook", yes}})
            .contains("m0.register_full_backward_hook(__main__.hook)\n"));
  CHECK(with({{"_backward_hooks", hooks({{"7", hook}})}, {"_is_full_backward_hook", no}})
            .contains("m0.register_backward_hook(__main__.hook)\n"));
  CHECK(with({{"_backward_pre_hooks", hooks({{"7", hook}})}, {"_is_full_backward_hook", none}})
            .contains("m0.register_full_backward_pre_hook(__main__.hook)\n"));
  const std::string forward =
      with({{"_forward_hooks", hooks({{"1", hook}, {"2", hook}})},
            {"_forward_hooks_with_kwargs", hooks({{"2", yes}})},
            {"_forward_pre_hooks", hooks({{"3", call(global("builtins", "getattr"), {hook, text("f")})}})}});
  CHECK(forward.contains("m0.register_forward_pre_hook(__main__.hook.f)\n"));
  CHECK(forward.contains(
      "m0.register_forward_hook(__main__.hook)\n    m0.register_forward_hook(__main__.hook, with_kwargs=True)\n"));
  CHECK(!with({{"_backward_hooks", hooks({})}, {"_is_full_backward_hook", none}}).contains("hook"));
}

TEST_CASE("pickled module: torch's containers are made by their constructors") {
  const auto container = [&](const std::string& name, const Items& children) {
    return made_by(module(global("torch.nn.modules.container", name), {}, {}, children));
  };
  const std::string child = module(linear, {});
  CHECK(container("Sequential", {{"0", child}, {"1", child}}).contains("m0 = torch.nn.Sequential(m1, m2)\n"));
  CHECK(container("ModuleList", {{"0", child}}).contains("m0 = torch.nn.ModuleList([m1])\n"));
  CHECK(container("ModuleDict", {{"a b", child}}).contains("m0 = torch.nn.ModuleDict({\"a b\": m1})\n"));
  const std::string named = container("Sequential", {{"first", child}, {"1", child}});
  CHECK(named.contains("m0.first = m1\n    m0.add_module(\"1\", m2)\n"));
}

TEST_CASE("pickled module: a GraphModule brings its code and the break that ended it") {
  const std::string frame = object(global("traceback", "FrameSummary"), tuple({none, dict({{"filename", text("/m.py")},
                                                                                           {"lineno", number(17)},
                                                                                           {"colno", number(8)},
                                                                                           {"name", text("forward")},
                                                                                           {"_line", none}})}));
  const std::string outer =
      object(global("traceback", "FrameSummary"), dict({{"filename", text("/main.py")}, {"lineno", number(1)}}));
  const auto reason = [&](const std::string& is_break) {
    return object(global("torch._dynamo.output_graph", "GraphCompileReason"),
                  dict({{"reason", text("Call to `item()` (GB0124)\n  more")},
                        {"user_stack", list({outer, frame})},
                        {"graph_break", is_break}}));
  };
  const auto graph = [&](const std::string& is_break) {
    return call(global("torch.fx.graph_module", "reduce_graph_module"),
                {dict({{"training", yes},
                       {"_parameters", dict({})},
                       {"_modules", dict({})},
                       {"_graph_is_dirty", yes},
                       {"compile_subgraph_reason", reason(is_break)},
                       {"scale", number(2)},
                       {"_code", text("\n\n\ndef forward(self, x):\n    return x * self.scale\n    ")}}),
                 text("import math\nimport torch")});
  };
  const Graphs graphs = read(graph(yes));
  REQUIRE(graphs.texts.size() == 2);
  CHECK(graphs.texts[0].module == "__graph_module__");
  CHECK(graphs.texts[0].text ==
        "import torch\nimport math\nimport torch\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, x):\n "
        "       return x * self.scale\n");
  CHECK(graphs.texts[1].text.contains("import __graph_module__\n"));
  CHECK(
      graphs.texts[1].text.contains("    m0 = object.__new__(__graph_module__.GraphModule)\n    m0.training = True\n   "
                                    " m0.scale = 2\n    return m0\n"));
  REQUIRE(graphs.breaks.size() == 1);
  CHECK(graphs.breaks[0].where == ir::Origin{"/m.py", 17, 9, "forward", ""});
  CHECK(graphs.breaks[0].reason == "Call to `item()` (GB0124)");
  CHECK(graphs.breaks[0].gb_id == "GB0124");
  CHECK(graphs.breaks[0].stack == std::vector{ir::Origin{"/main.py", 1, 0, "", ""}});
  CHECK(read(graph(no)).breaks.empty());
}

TEST_CASE("pickled module: partial functions, sets, dicts, sizes") {
  const std::string partial = call(global("functools", "partial"), {global("m", "f")}) +
                              tuple({global("m", "f"), tuple({number(1)}), dict({{"k", text("v")}}), none}) + "b";
  const std::string made =
      made_by(module(linear, {{"p", partial},
                              {"s", call(global("__builtin__", "set"), {list({number(1)})})},
                              {"o", call(global("collections", "OrderedDict"), {}) + text("a") + number(1) + "s"},
                              {"z", call(global("torch", "Size"), {tuple({number(3)})})},
                              {"d", global("torch", "float16")},
                              {"c", call(global("models", "Config"), {number(3)}) + dict({{"a", no}}) + "b"},
                              {"r", call(global("numpy", "_reconstruct"), {none})}}));
  CHECK(made.contains("m0.p = functools.partial(m.f, 1, k=\"v\")\n"));
  CHECK(made.contains("m0.s = set([1])\n"));
  CHECK(made.contains("m0.o = {\"a\": 1}\n"));
  CHECK(made.contains("m0.z = torch.Size((3,))\n"));
  CHECK(made.contains("m0.d = torch.float16\n"));
  CHECK(made.contains("m1 = models.Config(3)\n    m1.a = False\n"));
  CHECK(made.contains("m0.c = m1\n"));
  CHECK(made.contains("m0.r = ...\n"));
}

TEST_CASE("pickled module: weights alone are no graph; a module in a checkpoint is") {
  for (const std::string& weights : {dict({{"a.weight", tensor({2})}}), tensor({3}), std::string("N")}) {
    const Graphs graphs = read(weights);
    CHECK(graphs.format == Format::StateDict);
    CHECK(graphs.texts.empty());
  }
  CHECK(made_by(dict({{"epoch", number(3)}, {"model", module(linear, {})}}))
            .contains("return {\"epoch\": 3, \"model\": m0}\n"));
}

TEST_CASE("pickled module: what refers to itself, to everything, or too deep") {
  // A list that holds itself, twice; lists of lists of lists, each of them several times.
  CHECK(made_by(module(linear, {{"l", put("]", 0) + get(0) + "a" + get(0) + "a"}})).contains("m0.l = v0\n"));
  std::string lists = put(list({number(1), number(2)}), 0);
  for (int level = 1; level <= 60; ++level) lists = put("(" + lists + get(level - 1) + get(level - 1) + "l", level);
  CHECK(made_by(module(linear, {{"l", lists}})).size() < 10'000);
  std::string deep = "N";
  deep.append(100'000, '\x85');
  CHECK(made_by(module(linear, {{"l", deep}})).contains("..."));
  std::string chain = none;
  for (int level = 0; level < 5000; ++level)
    chain = object(global("m", "Node"), "(" + text("next") + std::move(chain) + "d");
  CHECK(made_by(module(linear, {{"l", chain}})).contains("..."));
}

// Each of these is small and describes more than any memory holds.
TEST_CASE("pickled module: what is shared by many is counted each time") {
  const auto refused = [](const std::string& pickle) {
    const std::string bytes = samples::make_zip({{"m/data.pkl", pickle + "."}});
    const auto archive = Archive::in_memory(bytes, "m.pt");
    const auto graphs = read_saved(*archive);
    return !graphs && graphs.error().kind == ErrorKind::TooLarge;
  };
  // A thousand objects with one state of a thousand long names.
  Items attributes;
  for (int number = 0; number < 1000; ++number)
    attributes.emplace_back(std::string(900, 'a') + std::to_string(number), none);
  std::string objects = "(" + module(linear, {}) + put(dict(attributes), 0) + put(global("m", "C"), 1);
  for (int number = 0; number < 1000; ++number) objects += object(get(1), get(0));
  CHECK(refused(objects + "l"));
  // The same, with keys that nothing can spell.
  std::string numbers = "(";
  for (int number = 0; number < 40'000; ++number) numbers += "K\x01N";
  objects = "(" + module(linear, {}) + put(numbers + "d", 0) + put(global("m", "C"), 1);
  for (int number = 0; number < 4000; ++number) objects += object(get(1), get(0));
  CHECK(refused(objects + "l"));
  // One code for a thousand graphs.
  const std::string body =
      dict({{"_parameters", dict({})}, {"_modules", dict({})}, {"_code", text(std::string(1 << 20, 'x'))}});
  std::string graphs = "(" + put(body, 0) + put(global("torch.fx.graph_module", "reduce_graph_module"), 1);
  for (int number = 0; number < 1000; ++number) graphs += call(get(1), {get(0), text("")});
  CHECK(refused(graphs + "l"));
  // Tensors on a device with a long name.
  std::string tensors = "(" + module(linear, {}) + put(text(std::string(1 << 20, 'd')), 0);
  const std::string id = tuple({text("storage"), global("torch", "FloatStorage"), text("0"), get(0), number(1)}) + "Q";
  for (int number = 0; number < 1000; ++number)
    tensors += call(global("torch._utils", "_rebuild_tensor_v2"), {id, "I0\n", ")", ")", no, none});
  CHECK(refused(tensors + "l"));
}

TEST_CASE("pickled module: the file of old is a row of pickles") {
  const std::string magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15);
  const std::string file = magic + number(1001) + "." + dict({{"little_endian", yes}}) + "." + module(linear, {}) +
                           "." + list({}) + ".weights";
  CHECK(is_legacy_save(file));
  CHECK(!is_legacy_save("PK"));
  const auto graphs = read_legacy_save(file, "m.pt");
  REQUIRE(graphs);
  CHECK(graphs->format == Format::PickledModule);
  CHECK(graphs->texts[0].member.empty());
  // A class was kept outside of the pickle, with its source.
  const std::string own = tuple({text("module"), global("m", "Own"), text("m.py"), text("class Own")}) + "Q";
  const auto old = read_legacy_save(magic + "N.N." + module(own, {}) + ".", "m.pt");
  REQUIRE(old);
  CHECK(old->texts[0].text.contains("m0 = object.__new__(m.Own)\n"));
  const auto cut = read_legacy_save(file.substr(0, 40), "m.pt");
  REQUIRE(!cut);
  CHECK(cut.error().where->file == "m.pt");
}
