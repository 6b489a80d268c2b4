#include "analyzer/graphs/exported_program.h"

#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analyzer/graphs/export_values.h"
#include "analyzer/graphs/frames.h"
#include "analyzer/graphs/printable.h"

namespace fullgraph::graphs {
namespace {

using Json = nlohmann::json;

constexpr int deepest_graph = 40;
constexpr std::string_view checkpoint_source = "torch/utils/checkpoint.py";

const Json& part(const Json& object, const char* name) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

// What cannot be read ends everything; the readers below throw it and `read_exported_program` catches it.
struct Unreadable {
  std::string message;
};

// Where the user wrote a node, as far as its metadata says.
//
// Non-strict export keeps frames of functions called `forward` only, those of torch included; strict export keeps all
// but torch's, below one of its own.
class Places {
 public:
  [[nodiscard]] ir::Origin of(const Json& node) const {
    const std::vector<ir::Origin> frames = frames_of_node(node, 0);
    ir::Origin out;
    for (const ir::Origin& frame : frames) {
      if (is_torch_source(frame.file)) {
        if (out.line != 0 && frame.file.ends_with(checkpoint_source)) {
          out.through = checkpoint_source;
          if (is_region(node)) break;  // the region as a whole is where checkpoint was called
        }
      } else if (!frame.file.starts_with('<')) {
        out = {frame.file, frame.line, 0, frame.function, frame.code, std::move(out.through), {}};
      }
    }
    const Json& metadata = part(node, "metadata");
    if (const std::string called = text_of(part(metadata, "torch_fn")); out.through.empty() && !called.empty())
      out.through = called.substr(called.find(';') + 1);
    out.module = module_of(text_of(part(metadata, "nn_module_stack")));
    return out;
  }

 private:
  static bool is_region(const Json& node) {
    return text_of(part(node, "target")) == "torch.ops.higher_order.wrap_with_set_grad_enabled";
  }

  // Passes of export leave nodes without a trace; the first node inside says where the region is.
  [[nodiscard]] std::vector<ir::Origin> frames_of_node(const Json& node, int depth) const {
    std::vector<ir::Origin> frames = frames_of(text_of(part(part(node, "metadata"), "stack_trace")));
    if (!frames.empty() || depth > deepest_graph) return frames;
    for (const Json& input : part(node, "inputs")) {
      for (const Json& inner : part(part(part(part(input, "arg"), "as_graph"), "graph"), "nodes")) {
        frames = frames_of_node(inner, depth + 1);
        if (!frames.empty()) return frames;
      }
    }
    return frames;
  }

  // "L__self__,,m.Model;L__self___block_a,block.a,torch.nn.modules.linear.Linear" → "block.a"
  static std::string module_of(const std::string& stack) {
    const std::string_view last = std::string_view(stack).substr(stack.rfind(';') + 1);
    const std::size_t first_comma = last.find(','), second_comma = last.find(',', first_comma + 1);
    if (first_comma == std::string_view::npos || second_comma == std::string_view::npos) return {};
    std::string path(last.substr(first_comma + 1, second_comma - first_comma - 1));
    return path.substr(0, path.find('@'));
  }
};

class Writer {
 public:
  Text run(const Json& document) {
    const Json& module = part(document, "graph_module");
    if (!part(part(module, "graph"), "nodes").is_array()) throw Unreadable{"holds no graph"};
    write_conditions(document);
    write_graph("GraphModule", part(module, "graph"), &part(module, "signature"), 0);
    return std::move(text_);
  }

 private:
  // For which inputs the recording holds: `# Range: 5 <= s0 <= 64`, `# Guard: L['x'].size()[1] == 2`. For people, who
  // ask for the text.
  void write_conditions(const Json& document) {
    for (const auto& [symbol, range] : part(document, "range_constraints").items()) {
      const Json &least = part(range, "min_val"), &most = part(range, "max_val");
      line(one_line(fmt::format("# Range: {}{}{}", least.is_number() ? least.dump() + " <= " : "", symbol,
                                most.is_number() ? " <= " + most.dump() : "")));
    }
    for (const Json& guard : part(document, "guards_code")) line("# Guard: " + one_line(text_of(guard)));
  }

  // `class name(torch.nn.Module):` with its forward, and behind it the graphs that it calls.
  void write_graph(const std::string& name, const Json& graph, const Json* signature, int depth) {
    if (depth > deepest_graph) throw Unreadable{fmt::format("graphs are nested deeper than {}", deepest_graph)};
    const std::string indent(static_cast<std::size_t>(depth) * 4, ' ');
    unmapped();
    line(indent + "class " + name + "(torch.nn.Module):");
    const std::string body = indent + std::string(8, ' ');
    const Attributes attributes = signature == nullptr ? Attributes() : attributes_of(*signature);
    line(indent + "    def forward(self" + parameters(graph, attributes) + "):");
    for (const auto& [input, attribute] : attributes) line(body + input + " = " + attribute);
    for (const Json& node : part(graph, "nodes")) write_node(node, graph, body);
    unmapped();
    if (signature != nullptr) write_mutations(*signature, body);
    line(body + "return " + returned(graph));
    for (const Json& node : part(graph, "nodes")) {
      for (const auto& [inner_name, inner] : graphs_in(node)) {
        line("");
        write_graph(inner_name, *inner, nullptr, depth + 1);
      }
    }
  }

  // Inputs of the graph that the caller does not give: parameters, buffers and constants, by the attribute of the
  // module that they are, as `program.module()` has them.
  using Attributes = std::map<std::string, std::string>;
  static Attributes attributes_of(const Json& signature) {
    Attributes out;
    for (const Json& spec : part(signature, "input_specs")) {
      for (const auto& [kind, key] : {std::pair("parameter", "parameter_name"), std::pair("buffer", "buffer_name"),
                                      std::pair("tensor_constant", "tensor_constant_name")}) {
        const Json& input = part(spec, kind);
        const std::string name = text_of(part(part(input, "arg"), "name"));
        if (is_identifier(name)) out[name] = python_of_attribute(text_of(part(input, key)));
      }
    }
    return out;
  }

  // "layers.0.weight" → `getattr(self.layers, "0").weight`
  static std::string python_of_attribute(std::string_view path) {
    std::string out = "self";
    while (!path.empty()) {
      const std::string name(path.substr(0, path.find('.')));
      out = is_identifier(name) ? out + "." + name : "getattr(" + out + ", " + python_string(name) + ")";
      path.remove_prefix(std::min(name.size() + 1, path.size()));
    }
    return out;
  }

  static std::string parameters(const Json& graph, const Attributes& attributes) {
    std::string out;
    for (const Json& input : part(graph, "inputs")) {
      for (const std::string& name : names_of_output(input)) {
        if (attributes.contains(name)) continue;
        if (name.empty()) throw Unreadable{"an input of the graph has a name that Python does not take"};
        const bool is_number = input.contains("as_sym_int");
        const std::string annotation =
            is_number ? "\"Sym(" + name + ")\"" : tensor_annotation(part(part(graph, "tensor_values"), name.c_str()));
        out += ", " + name + (annotation.empty() ? "" : ": " + annotation);
      }
    }
    return out;
  }

  static std::string returned(const Json& graph) {
    const Json& outputs = part(graph, "outputs");
    const bool single = part(graph, "is_single_tensor_return") == true;
    std::string out;
    for (const Json& output : outputs) out += (out.empty() ? "" : ", ") + python_of_argument(output);
    if (single && outputs.size() == 1) return out;
    return "(" + out + (outputs.size() == 1 ? ",)" : ")");
  }

  void write_node(const Json& node, const Json& graph, const std::string& indent) {
    const std::string written = text_of(part(node, "target"));
    const std::string target = python_of_target(written);
    if (target.empty()) throw Unreadable{"a node calls `" + printable(written) + "`, which is no name"};
    note_place(node, indent);
    std::string arguments;
    for (const auto& [name, inner] : graphs_in(node)) line(indent + name + " = self." + name);
    for (const Json& input : part(node, "inputs")) {
      constexpr int keyword = 2;  // schema.py, ArgumentKind.KEYWORD
      const std::string name = text_of(part(input, "name"));
      const bool by_name = part(input, "kind") == keyword && is_identifier(name);
      arguments +=
          (arguments.empty() ? "" : ", ") + (by_name ? name + " = " : "") + python_of_argument(part(input, "arg"));
    }
    write_results(node, graph, indent, target + "(" + arguments + ")");
  }

  void write_results(const Json& node, const Json& graph, const std::string& indent, const std::string& call) {
    const Json& outputs = part(node, "outputs");
    std::vector<std::string> names;
    bool list = false;
    for (const Json& output : outputs) {
      list = list || is_list_output(output);
      for (std::string& name : names_of_output(output)) names.push_back(std::move(name));
    }
    const bool higher_order = text_of(part(node, "target")).starts_with("torch.ops.higher_order.");
    const bool tuple = list || names.size() > 1 || (higher_order && part(node, "is_hop_single_tensor_return") != true);
    if (names.empty() || !tuple) {
      const std::string name = names.empty() ? own_name(node, "_") : names.front();
      line(indent + annotated(name.empty() ? "_" : name, graph) + " = " + call);
      return;
    }
    const std::string whole = own_name(node, "results");
    line(indent + whole + " = " + call);
    for (std::size_t at = 0; at < names.size(); ++at) {
      if (!names[at].empty()) line(indent + annotated(names[at], graph) + fmt::format(" = {}[{}]", whole, at));
    }
  }

  static std::string own_name(const Json& node, const std::string& otherwise) {
    std::string name = text_of(part(node, "name"));
    return is_identifier(name) ? name : otherwise;
  }

  static std::string annotated(const std::string& name, const Json& graph) {
    const std::string annotation = tensor_annotation(part(part(graph, "tensor_values"), name.c_str()));
    return annotation.empty() ? name : name + ": " + annotation;
  }

  // Of an argument that is a graph, that graph by the name of its class.
  static std::vector<std::pair<std::string, const Json*>> graphs_in(const Json& node) {
    std::vector<std::pair<std::string, const Json*>> out;
    for (const Json& input : part(node, "inputs")) {
      const Json& graph = part(part(input, "arg"), "as_graph");
      const std::string name = text_of(part(graph, "name"));
      if (is_identifier(name)) out.emplace_back(name, &part(graph, "graph"));
    }
    return out;
  }

  void write_mutations(const Json& signature, const std::string& indent) {
    std::map<std::string, std::string> inputs;  // by what they stand for in the module
    for (const Json& spec : part(signature, "input_specs")) {
      for (const auto& [kind, key] : {std::pair("buffer", "buffer_name"), std::pair("parameter", "parameter_name")}) {
        const Json& input = part(spec, kind);
        inputs[kind + text_of(part(input, key))] = text_of(part(part(input, "arg"), "name"));
      }
    }
    for (const Json& spec : part(signature, "output_specs")) {
      std::string changed = text_of(part(part(spec, "user_input_mutation"), "user_input_name"));
      const Json* result = &part(spec, "user_input_mutation");
      for (const auto& [kind, key, of] : {std::tuple("buffer", "buffer_name", "buffer_mutation"),
                                          std::tuple("parameter", "parameter_name", "parameter_mutation")}) {
        const Json& mutation = part(spec, of);
        if (!mutation.is_object()) continue;
        changed = inputs[kind + text_of(part(mutation, key))];
        result = &mutation;
      }
      const std::string name = text_of(part(part(*result, "arg"), "name"));
      if (is_identifier(changed) && is_identifier(name)) line(indent + changed + ".copy_(" + name + ")");
    }
  }

  void note_place(const Json& node, const std::string& indent) {
    ir::Origin origin = places_.of(node);
    if (origin.line == 0) {
      unmapped();
      last_ = {};
      return;
    }
    if (std::pair(origin.file, origin.line) != last_) {
      line(indent + fmt::format("# File: {}:{} in {}, code: {}", one_line(origin.file), origin.line,
                                one_line(origin.function), one_line(origin.code)));
      last_ = {origin.file, origin.line};
    }
    text_.map.add(static_cast<std::uint32_t>(text_.text.size()), std::move(origin));
  }

  static std::string one_line(std::string text) {
    for (char& c : text) {
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    return text;
  }

  void unmapped() { text_.map.add_unknown(static_cast<std::uint32_t>(text_.text.size())); }

  void line(const std::string& written) {
    text_.text += written;
    text_.text += '\n';
  }

  Places places_;
  Text text_;
  std::pair<std::string, std::uint32_t> last_;  // the place that the last comment told
};

// Parts of the document that say nothing here and are most of it.
bool is_wanted(const Json& key) {
  return key != "from_node" && key != "source_fn_stack" && key != "module_call_graph" && key != "strides";
}

}  // namespace

Result<Text> read_exported_program(std::string_view document, const std::string& shown, const std::string& member) {
  const auto failure = [&](std::string message) {
    return std::unexpected(Error{ErrorKind::Syntax, member + ": " + std::move(message), ErrorLocation{.file = shown}});
  };
  constexpr int deepest_json = 2000;
  constexpr std::size_t most_values = 10'000'000;  // some 700 MB; a model of 70,000 operators has half of them
  std::size_t values = 0;
  const auto filter = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > deepest_json) throw Unreadable{fmt::format("JSON nested deeper than {}", deepest_json)};
    if (++values > most_values) throw Unreadable{fmt::format("holds more than {} values", most_values)};
    return event != Json::parse_event_t::key || is_wanted(parsed);
  };
  try {
    const Json json = Json::parse(document, filter, false);
    if (json.is_discarded() || !json.is_object()) return failure("is not valid JSON");
    constexpr int major = 8;
    const Json& version = part(part(json, "schema_version"), "major");
    if (!version.is_number_integer()) return failure("has no schema version: not an exported program");
    if (version < 1 || version > major)
      return failure(fmt::format("has schema version {}, and 1 to {} are known", version.dump(), major));
    Text out = Writer().run(json);
    out.module = "graph";
    out.member = member;
    return out;
  } catch (const Unreadable& error) {
    return failure(error.message);
  }
}

}  // namespace fullgraph::graphs
