#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "analyzer/graphs/frames.h"
#include "analyzer/graphs/fx_graph_lines.h"
#include "analyzer/graphs/fx_text.h"
#include "analyzer/graphs/log_lines.h"

using namespace fullgraph;
using namespace fullgraph::graphs;

namespace {

std::string text_of(std::string_view file) {
  const Graphs graphs = read_fx_text(file);
  REQUIRE(graphs.texts.size() == 1);
  return graphs.texts.front().text;
}

std::string place_of(std::string_view file, std::string_view written) {
  const Graphs graphs = read_fx_text(file);
  const Text& text = graphs.texts.front();
  const std::size_t at = text.text.find(written);
  REQUIRE(at != std::string::npos);
  const ir::Origin* origin = text.map.at(static_cast<std::uint32_t>(at));
  return origin == nullptr ? "unknown"
                           : fmt::format("{}:{} {} `{}`", origin->file, origin->line, origin->function, origin->code);
}

constexpr std::string_view graph =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, L_x_: \"f32[3]\"):\n"
    "        l_x_ = L_x_\n"
    "\n"
    "        # File: /m.py:5 in forward, code: y = x.sin()\n"
    "        y: \"f32[3]\" = l_x_.sin();  l_x_ = None\n"
    "        return (y,)\n";

// Each line behind `prefix`.
std::string behind(std::string_view prefix, std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n') + 1;
    out += std::string(prefix) + std::string(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace

TEST_CASE("prefixes of loggers and launchers") {
  const auto said = [](std::string_view line) {
    const LogLine read = log_line(line);
    return fmt::format("{}|{}|{}", read.writer, read.is_torch ? "torch" : "", read.text);
  };
  CHECK(said("V1130 03:11:47.702000 11720 torch/_dynamo/output_graph.py:2835] [0/0_1] [__graph_code]  x = 1") ==
        "11720|torch| x = 1");
  CHECK(said("W1130 03:11:47.702000 11720 torch/x.py:2] text") == "11720|torch|text");
  CHECK(said("V1130 03:11:47.702000 11720 torch/x.py:2] [!1/0/0] [__aot_graphs] ") == "11720|torch|");
  CHECK(said("V1130 03:11:47.702000 11720 torch/x.py:2]") == "11720|torch|");
  CHECK(said("[rank3]:V1130 03:11:47.702000 7 torch/x.py:2] [0/0] a") == "[rank3]:7|torch|a");
  CHECK(said("[default0]:[rank0]:V1130 03:11:47.702000 7 torch/x.py:2] a") == "[default0]:[rank0]:7|torch|a");
  CHECK(said("[2024-01-05 10:00:00,123] [0/0] torch._dynamo.symbolic_convert.__graph_breaks: [DEBUG] a") == "|torch|a");
  CHECK(said("[default1]:  plain") == "[default1]:||  plain");
  CHECK(said("[1, 2]: a") == "||[1, 2]: a");
  CHECK(said("V1130 no more") == "||V1130 no more");
  CHECK(said("") == "||");
}

TEST_CASE("a graph stays on its lines, and its comments say where it comes from") {
  CHECK(text_of(graph) == graph);
  CHECK(place_of(graph, "y: ") == "/m.py:5 forward `y = x.sin()`");
  CHECK(place_of(graph, "l_x_ = L_x_") == "unknown");
  CHECK(text_of("no graph\nat all\n") == "\n\n");
  CHECK(text_of("").empty());
}

TEST_CASE("graphs are cut out of what stands around them") {
  const std::string pasted = "Here it is:\n" + behind("      ", graph) + "that was it\n";
  CHECK(text_of(pasted) == "\n" + std::string(graph) + "\n");
  CHECK(place_of(pasted, "y: ") == "/m.py:5 forward `y = x.sin()`");
  const std::string logged =
      behind("V1130 03:11:47.702000 11720 torch/_dynamo/output_graph.py:2835] [0/0] [__graph_code] ", graph);
  CHECK(text_of(logged) == graph);
  const std::string old =
      behind("[2024-01-05 10:00:00,123] [0/0] torch._dynamo.output_graph.__graph_code: [DEBUG] ", graph);
  CHECK(text_of(old) == graph);
  const std::string ranked = behind("[rank0]:V1130 03:11:47.702000 1 torch/x.py:2] [0/0] [__graph_code]  ", graph);
  CHECK(text_of(ranked) == graph);
  std::string windows = behind("", graph);
  for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) windows.replace(at, 1, "\r\n");
  CHECK(text_of(windows) == graph);
  // torch writes the name of the file that the code pretends to be, and the class, in one line.
  CHECK(
      text_of(" ===== Forward graph 0 =====\n /v/torch/fx/_lazy_graph_module.py class GraphModule(torch.nn.Module):\n" +
              std::string(graph.substr(graph.find('\n') + 1)))
          .starts_with("\nclass GraphModule(torch.nn.Module):\n    def forward"));
}

TEST_CASE("several graphs in one file, and functions without a class") {
  CHECK(text_of(std::string(graph) + "between\n" + std::string(graph)) ==
        std::string(graph) + "\n" + std::string(graph));
  const std::string_view function = "def forward(self, x):\n    y = x.sin()\n    return y\n";
  CHECK(text_of("\n\n" + std::string(function)) == "\n\n" + std::string(function));
  CHECK(text_of(behind("        ", function)) == function);
  // The place of one graph does not leak into the next.
  CHECK(place_of(std::string(graph) + std::string(function), "y = x.sin()\n    return") == "unknown");
}

TEST_CASE("what marks of checkpoints stand in front of a place") {
  CHECK(
      place_of(
          "def forward(self, x):\n    # ac_graph_id: 1 - MUST_SAVE File: /m.py:5 in f, code: y = x\n    y = x.sin()\n",
          "y = x.sin") == "/m.py:5 f `y = x`");
  CHECK(place_of("def forward(self, x):\n    # File: /m.py:5 in f, code: y = x\n    y = x.sin()\n"
                 "    # No stacktrace found for following nodes\n    z = x.cos()\n",
                 "z = x.cos") == "unknown");
}

TEST_CASE("names of resumed functions tell of breaks") {
  const Graphs graphs = read_fx_text(
      "def forward(self, x):\n"
      "    # File: /m.py:9 in torch_dynamo_resume_in_forward_at_7, code: return x\n    y = x.sin()\n"
      "    # File: /m.py:10 in torch_dynamo_resume_in_forward_at_7, code: return x\n    z = x.sin()\n"
      "    # File: /m.py:11 in torch_dynamo_resume_in_forward_at_, code: return x\n    v = x.sin()\n"
      "    # File: /m.py:12 in torch_dynamo_resume_in_forward_at_99999999999, code: return x\n    w = x.sin()\n");
  REQUIRE(graphs.breaks.size() == 1);
  CHECK(graphs.breaks[0].where.file == "/m.py");
  CHECK(graphs.breaks[0].where.line == 7);
  CHECK(graphs.breaks[0].where.function == "forward");
}

TEST_CASE("what only looks like a graph is none") {
  for (const std::string_view text : {"class Model(nn.Module):\n    pass\n", "my class is (torch.nn.Module):\n",
                                      "a subclass X(torch.nn.Module):\n    pass\n", "def forward(x):\n    pass\n",
                                      "class GraphModule(torch.nn.Module): or so\n", "graph:\n", "\tgraph():\n"})
    CHECK_MESSAGE(!holds_fx_text(text), text);
  CHECK(holds_fx_text("text\n\nclass GraphModule(torch.nn.Module):\n    def forward(self):\n"));
  CHECK(text_of("class GraphModule(torch.nn.Module):\n") == "\n");  // and nothing in it
}

TEST_CASE("a printed graph becomes a function, line for line") {
  const std::vector<std::string_view> lines = {
      "graph():",
      "    %x : [num_users=2] = placeholder[target=x]",
      "    %w : [num_users=1] = get_attr[target=layer.weight]",
      "    %add : [num_users=1] = call_function[target=operator.add](args = (%x, 1), kwargs = {})",
      "    %relu : [num_users=1] = call_module[target=layers.act](args = (%add,), kwargs = {})",
      "    %item : [num_users=1] = call_method[target=item](args = (%relu,), kwargs = {})",
      "    %z : [num_users=1] = call_function[target=torch.zeros](args = ([2, (%x, None)],), kwargs = {device: cpu, "
      "dtype: torch.float32})",
      "    %odd : [num_users=1] = call_function[target=<lambda>](args = (%x,), kwargs = {})",
      "    what is this",
      "    return (item, z)"};
  const std::vector<std::string> expected = {
      "def forward(self, x):",
      "",
      "    w = self.layer.weight",
      "    add = operator.add(x, 1)",
      "    relu = self.layers.act(add)",
      "    item = relu.item()",
      "    z = torch.zeros([2, (x, None, ), ], device = \"cpu\", dtype = torch.float32)",
      "    odd = ...",
      "",
      "    return (item, z, )"};
  CHECK(python_of_graph_lines(lines) == expected);
}

TEST_CASE("printed graphs that are odd stay a function with as many lines") {
  const std::string deep = "    return " + std::string(10'000, '(') + std::string(10'000, ')');
  for (const std::string_view line :
       {std::string_view("    %"), std::string_view("    %a = "), std::string_view("    %a : = b[target="),
        std::string_view("    %a : = call_method[target=item](args = (), kwargs = {})"),
        std::string_view("    %a : = call_function[target=f](args = ()))((, kwargs = {{}})"),
        std::string_view("return "), std::string_view("%import : = placeholder[target=x]"), std::string_view(deep)}) {
    const std::vector<std::string_view> lines = {"graph():", line};
    const std::vector<std::string> read = python_of_graph_lines(lines);
    CHECK(read.size() == 2);
    CHECK(read[0] == "def forward(self):");
  }
}

TEST_CASE("tracebacks") {
  const auto frames = frames_of(
      "Traceback (most recent call last):\n"
      "  File \"/m, in x.py\", line 5, in <module>\n"
      "    f(\", line 6, in g\")\n"
      "      ~^^^\n"
      "  File \"/n.py\", line 6, in g\n"
      "  File \"C:\\\\o.py\", line 0, in h\n"
      "  File \"/p.py\", line 99999999999, in h\n"
      "  File \"/q.py\", line 7\n");
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].file == "/m, in x.py");
  CHECK(frames[0].line == 5);
  CHECK(frames[0].code == "f(\", line 6, in g\")");
  CHECK(frames[1].function == "g");
  CHECK(frames[1].code == "File \"C:\\\\o.py\", line 0, in h");  // no frame, so it reads as the source line
}

TEST_CASE("files of torch itself") {
  CHECK(is_torch_source("/v/lib/python3.11/site-packages/torch/_tensor.py"));
  CHECK(is_torch_source("/src/pytorch/torch/nn/modules/module.py"));
  CHECK(!is_torch_source("/v/site-packages/torchvision/models/resnet.py"));
  CHECK(!is_torch_source("/v/site-packages/torch_geometric/nn/conv.py"));
  CHECK(!is_torch_source("/home/me/model.py"));
}
