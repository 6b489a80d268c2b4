#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

#include "analyzer/graphs/export_values.h"
#include "analyzer/graphs/exported_program.h"

using namespace fullgraph;
using namespace fullgraph::graphs;
using Json = nlohmann::json;

namespace {

Json tensor(const std::string& name) {
  return {{"as_tensor", {{"name", name}}}};
}

Json list(std::initializer_list<Json> items) {
  Json out = Json::array();
  for (const Json& item : items) out.push_back(item);
  return out;
}

Json node(const std::string& target, const Json& arguments, const Json& outputs, const std::string& trace = "") {
  Json inputs = Json::array();
  for (const Json& argument : arguments) inputs.push_back({{"name", ""}, {"arg", argument}, {"kind", 1}});
  return {{"target", target}, {"inputs", inputs}, {"outputs", outputs}, {"metadata", {{"stack_trace", trace}}}};
}

Json graph(const Json& inputs, const Json& nodes, const Json& outputs) {
  return {{"inputs", inputs}, {"nodes", nodes}, {"outputs", outputs}, {"tensor_values", Json::object()}};
}

Json document(const Json& graph, const Json& signature = Json::object()) {
  return {{"schema_version", {{"major", 8}, {"minor", 20}}},
          {"graph_module", {{"graph", graph}, {"signature", signature}}}};
}

Json relu() {
  return graph(list({tensor("x")}),
               list({node("torch.ops.aten.relu.default", list({tensor("x")}), list({tensor("y")}))}),
               list({tensor("y")}));
}

Text read(const Json& json) {
  auto text = read_exported_program(json.dump(), "m.pt2", "models/m.json");
  if (!text) FAIL(text.error().message);
  return std::move(*text);
}

std::string error_of(const std::string& document) {
  const auto text = read_exported_program(document, "m.pt2", "models/m.json");
  REQUIRE(!text);
  CHECK(text.error().message.starts_with("models/m.json: "));
  return text.error().message.substr(15);
}

std::string error_of(const Json& json) {
  return error_of(json.dump());
}

std::string place_of(const Text& text, std::string_view written) {
  const std::size_t at = text.text.find(written);
  REQUIRE(at != std::string::npos);
  const ir::Origin* origin = text.map.at(static_cast<std::uint32_t>(at));
  return origin == nullptr ? "unknown" : fmt::format("{}:{} {}", origin->file, origin->line, origin->function);
}

}  // namespace

TEST_CASE("an exported program is spelled as a module") {
  const Text text = read(document(relu()));
  CHECK(text.text ==
        "class GraphModule(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        y = torch.ops.aten.relu.default(x)\n"
        "        return (y,)\n");
}

TEST_CASE("parameters and buffers are attributes, whatever they are called, and mutations are copies") {
  const Json signature = {{"input_specs",
                           {{{"parameter", {{"arg", {{"name", "p"}}}, {"parameter_name", "layers.0.weight"}}}},
                            {{"buffer", {{"arg", {{"name", "b"}}}, {"buffer_name", "a b\nimport os"}}}},
                            {{"user_input", {{"arg", tensor("x")}}}}}},
                          {"output_specs",
                           {{{"buffer_mutation", {{"arg", {{"name", "y"}}}, {"buffer_name", "a b\nimport os"}}}},
                            {{"user_input_mutation", {{"arg", {{"name", "y"}}}, {"user_input_name", "x"}}}}}}};
  const Json inputs = list({tensor("p"), tensor("b"), tensor("x")});
  const Json nodes = list({node("torch.ops.aten.add.Tensor", list({tensor("p"), tensor("x")}), list({tensor("y")}))});
  const std::string text = read(document(graph(inputs, nodes, list({tensor("y")})), signature)).text;
  CHECK(text ==
        "class GraphModule(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        b = getattr(self, \"a b\\nimport os\")\n"
        "        p = getattr(self.layers, \"0\").weight\n"
        "        y = torch.ops.aten.add.Tensor(p, x)\n"
        "        b.copy_(y)\n"
        "        x.copy_(y)\n"
        "        return (y,)\n");
}

TEST_CASE("a node's place is the last frame outside of torch, on one line whatever its names hold") {
  const std::string trace =
      "  File \"/home/a b/m.py\", line 7, in forward\n    y = f(x)\n"
      "  File \"/v/site-packages/torch/nn/modules/module.py\", line 1, in _call_impl\n    return g()\n";
  const Text text = read(document(graph(
      list({tensor("x")}), list({node("torch.ops.aten.relu.default", list({tensor("x")}), list({tensor("y")}), trace)}),
      list({tensor("y")}))));
  CHECK(place_of(text, "y = torch.ops") == "/home/a b/m.py:7 forward");
  CHECK(place_of(text, "return (y,)") == "unknown");
  // A name with a line end in it is no frame: a traceback has one line for each.
  const std::string broken = "  File \"m\nimport os\n.py\", line 7, in forward\n";
  const Text other =
      read(document(graph(list({tensor("x")}),
                          list({node("torch.ops.aten.relu.default", list({tensor("x")}), list({tensor("y")}), broken)}),
                          list({tensor("y")}))));
  CHECK(other.text == read(document(relu())).text);
}

TEST_CASE("text of the document never becomes a statement of its own") {
  // Where a name is needed there is an error; where a value is, `...`; where it is a text, a literal.
  CHECK(error_of(document(graph(list({tensor("x\nimport os")}), Json::array(), Json::array()))) ==
        "an input of the graph has a name that Python does not take");
  const auto with_target = [](const std::string& target) {
    return document(graph(list({tensor("x")}), list({node(target, list({tensor("x")}), list({tensor("y")}))}),
                          list({tensor("y")})));
  };
  CHECK(error_of(with_target("os.system('x')")) == "a node calls `os.system('x')`, which is no name");
  CHECK(error_of(with_target("a\nimport os")).find('\n') == std::string::npos);
  CHECK(error_of(with_target(std::string(1'000'000, '('))).size() < 1000);
  CHECK(error_of(with_target("")) == "a node calls ``, which is no name");
  CHECK(python_of_argument({{"as_tensor", {{"name", "x; import os"}}}}) == "...");
  CHECK(python_of_argument({{"as_string", "x\"\n; import os"}}) == R"("x\"\n; import os")");
  CHECK(python_of_argument({{"as_device", {{"type", "cpu\")"}, {"index", nullptr}}}}) == R"=(torch.device("cpu\")"))=");
  // Names of results may be bad: nobody can refer to them.
  const std::string text =
      read(document(graph(list({tensor("x")}),
                          list({node("torch.ops.aten.relu.default", list({tensor("x")}), list({tensor("y z")}))}),
                          list({tensor("y z")}))))
          .text;
  CHECK(text.find("        _ = torch.ops.aten.relu.default(x)\n        return (...,)\n") != std::string::npos);
}

TEST_CASE("values are spelled by their kinds") {
  CHECK(python_of_argument({{"as_float", 1.0}}) == "1.0");  // not the int 1
  CHECK(python_of_argument({{"as_float", 1e30}}) == "1e+30");
  CHECK(python_of_argument({{"as_float", "Infinity"}}) == "\"Infinity\"");
  CHECK(python_of_argument({{"as_int", 18446744073709551615U}}) == "18446744073709551615");
  CHECK(python_of_argument({{"as_ints", {1, 2}}}) == "[1, 2]");
  CHECK(python_of_argument({{"as_ints", 5}}) == "...");
  CHECK(python_of_argument({{"as_scalar_type", 7}}) == "torch.float32");
  CHECK(python_of_argument({{"as_scalar_type", (std::int64_t{1} << 32) + 7}}) == "...");
  CHECK(python_of_argument({{"as_memory_format", (std::int64_t{1} << 32) + 1}}) == "...");
  CHECK(python_of_argument({{"as_sym_int", {{"as_name", "s0"}}}}) == "s0");
  CHECK(python_of_argument({{"as_optional_tensors", list({tensor("x"), Json{{"as_none", true}}})}}) == "[x, None]");
  CHECK(python_of_argument({{"as_made_up", 1}}) == "...");
  CHECK(python_of_argument({{"as_int", 1}, {"as_tensor", 2}}) == "...");
  CHECK(python_of_argument(7) == "...");
}

TEST_CASE("dynamic sizes stand in the annotation, as a text") {
  const Json meta = {{"dtype", 7}, {"sizes", {{{"as_expr", {{"expr_str", "2*s0"}}}}, {{"as_int", 4}}}}};
  CHECK(tensor_annotation(meta) == "\"f32[2*s0, 4]\"");
  const Json evil = {{"dtype", 7}, {"sizes", {{{"as_expr", {{"expr_str", "\"]\n\"import os"}}}}}}};
  CHECK(tensor_annotation(evil) == "\"f32[]import os]\"");
  CHECK(tensor_annotation({{"dtype", "x"}, {"sizes", 5}}).empty());
}

TEST_CASE("schemas that are not known are refused") {
  Json json = document(relu());
  for (const Json& major :
       {Json(9), Json(0), Json(-1), Json((std::int64_t{1} << 32) + 8), Json(18446744073709551615U)}) {
    json["schema_version"]["major"] = major;
    CHECK(error_of(json) == fmt::format("has schema version {}, and 1 to 8 are known", major.dump()));
  }
  for (const Json& major : {Json("8"), Json(8.0), Json(nullptr), Json::array({8})}) {
    json["schema_version"]["major"] = major;
    CHECK(error_of(json) == "has no schema version: not an exported program");
  }
  json["schema_version"]["major"] = 1;
  CHECK(read(json).text == read(document(relu())).text);
}

TEST_CASE("documents that are no graph are refused") {
  CHECK(error_of(std::string()) == "is not valid JSON");
  CHECK(error_of(std::string("{\"a\": 1")) == "is not valid JSON");
  CHECK(error_of(std::string("{\"a\": \"\xff\"}")) == "is not valid JSON");
  CHECK(error_of(std::string("[]")) == "is not valid JSON");
  CHECK(error_of(Json{{"schema_version", {{"major", 8}}}}) == "holds no graph");
  CHECK(error_of(std::string(100'000, '[')) == "JSON nested deeper than 2000");
  CHECK(error_of("{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}") ==
        "JSON nested deeper than 2000");
}

TEST_CASE("any part may be of any type") {
  // Each value of a whole document, replaced by each of these: an error or a text, as the case may be.
  Json whole =
      document(relu(), {{"input_specs", {{{"user_input", {{"arg", tensor("x")}}}}}}, {"output_specs", Json::array()}});
  const Json flat = whole.flatten();
  for (const auto& [path, value] : flat.items()) {
    for (Json::json_pointer at(path); !at.empty(); at = at.parent_pointer()) {
      for (const Json& other : {Json(), Json(true), Json(-1), Json(1e300), Json("a b"), Json::array(),
                                Json::array({1, {}}), Json::object(), Json{{"name", 5}}}) {
        Json changed = whole;
        changed[at] = other;
        const auto text = read_exported_program(changed.dump(), "m.pt2", "models/m.json");
        if (!text) CHECK_FALSE(text.error().message.empty());
      }
    }
  }
}

TEST_CASE("graphs in graphs") {
  const auto nested = [](int depth) {
    Json inner = relu();
    for (int level = 0; level < depth; ++level) {
      const Json body = {{"as_graph", {{"name", "body"}, {"graph", inner}}}};
      inner = graph(list({tensor("x")}),
                    list({node("torch.ops.higher_order.cond", list({tensor("x"), body, body}), list({tensor("y")}))}),
                    list({tensor("y")}));
      if (level > 3) inner["nodes"][0]["inputs"].erase(2);  // twice as many at each level would not end
    }
    return document(inner);
  };
  const std::string text = read(nested(1)).text;
  CHECK(text.find("        body = self.body\n        body = self.body\n        results = "
                  "torch.ops.higher_order.cond(x, body, body)\n"
                  "        y = results[0]\n") != std::string::npos);
  CHECK(text.find("\n    class body(torch.nn.Module):\n        def forward(self, x):\n") != std::string::npos);
  CHECK(read(nested(40)).text.size() > text.size());
  CHECK(error_of(nested(41)) == "graphs are nested deeper than 40");
  const auto deep = read_exported_program(nested(300).dump(), "m.pt2", "models/m.json");
  CHECK(!deep);
}

TEST_CASE("a region that a pass has made stands where its first node was written") {
  const Json inner = graph(list({tensor("x")}),
                           list({node("torch.ops.aten.relu.default", list({tensor("x")}), list({tensor("y")}),
                                      "  File \"/m.py\", line 3, in forward\n    y = f(x)\n")}),
                           list({tensor("y")}));
  const Json body = {{"as_graph", {{"name", "submod_1"}, {"graph", inner}}}};
  const Json region = node("torch.ops.higher_order.wrap_with_set_grad_enabled",
                           list({Json{{"as_bool", false}}, body, tensor("x")}), list({tensor("z")}));
  const Text text = read(document(graph(list({tensor("x")}), list({region}), list({tensor("z")}))));
  CHECK(place_of(text, "results = torch.ops.higher_order") == "/m.py:3 forward");
}
