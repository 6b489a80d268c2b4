#include "analyzer/graphs/pickled_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/graphs/lines.h"
#include "analyzer/graphs/object_text.h"
#include "analyzer/graphs/printable.h"
#include "analyzer/graphs/tensor_text.h"

namespace fullgraph::graphs {
namespace {

using Kind = Value::Kind;

constexpr std::uint64_t largest_pickle = std::uint64_t{64} << 20;
constexpr std::size_t longest_name = 4096;  // of a file, and of a source line

// What nn.Module keeps of itself, in torch/nn/modules/module.py: spelled by the calls that bring it about, or of no
// interest.
constexpr std::array<std::string_view, 17> bookkeeping{"_parameters",
                                                       "_buffers",
                                                       "_modules",
                                                       "_non_persistent_buffers_set",
                                                       "_backward_pre_hooks",
                                                       "_backward_hooks",
                                                       "_is_full_backward_hook",
                                                       "_forward_hooks",
                                                       "_forward_pre_hooks",
                                                       "_state_dict_hooks",
                                                       "_forward_hooks_with_kwargs",
                                                       "_forward_hooks_always_called",
                                                       "_state_dict_pre_hooks",
                                                       "_load_state_dict_pre_hooks",
                                                       "_load_state_dict_post_hooks",
                                                       "_forward_pre_hooks_with_kwargs",
                                                       "_compiled_call_impl"};

// The functions that make a GraphModule again, in torch/fx/graph_module.py, and where their arguments have its
// attributes and the imports of its code.
struct GraphModuleMaker {
  std::string_view function;
  std::size_t body;
  std::optional<std::size_t> imports;
};
constexpr std::array<GraphModuleMaker, 3> graph_module_makers{{
    {"torch.fx.graph_module.reduce_graph_module", 0, 1},
    {"torch.fx.graph_module.reduce_deploy_graph_module", 1, 2},
    {"torch.fx.graph_module.reduce_package_graph_module", 1, std::nullopt},
}};

const GraphModuleMaker* graph_module_maker(const Value& value) {
  const auto found =
      std::ranges::find_if(graph_module_makers, [&](const auto& one) { return value.is_made_by(one.function); });
  return found == graph_module_makers.end() ? nullptr : &*found;
}

// Tells modules from other objects. What was found of a dict is kept: a million objects may share one.
class ModuleFinder {
 public:
  // The attributes of a module, null for what is none.
  const Value* attributes_of(const Value& value) {
    if (!value.is(Kind::Object)) return nullptr;
    const GraphModuleMaker* const maker = graph_module_maker(value);
    const Value* const attributes = maker != nullptr ? value.argument(maker->body) : value.state;
    if (attributes == nullptr || !attributes->is(Kind::Dict)) return nullptr;
    const auto [known, is_new] = known_.try_emplace(attributes, false);
    if (is_new) known->second = attributes->find("_modules") != nullptr && attributes->find("_parameters") != nullptr;
    return known->second ? attributes : nullptr;
  }

  bool holds_module(const Value& root) {
    std::unordered_set<const Value*> seen{&root};
    std::vector<const Value*> open{&root};
    const auto visit = [&](const Value* value) {
      const bool holds_values =
          value != nullptr && (value->arguments != nullptr || value->state != nullptr || !value->items.empty());
      if (holds_values && seen.insert(value).second) open.push_back(value);
    };
    while (!open.empty()) {
      const Value* const value = open.back();
      open.pop_back();
      if (attributes_of(*value) != nullptr) return true;
      visit(value->arguments);
      visit(value->state);
      for (const Value* item : value->items) visit(item);
    }
    return false;
  }

 private:
  std::unordered_map<const Value*, bool> known_;
};

std::string_view string_at(const Value& dict, std::string_view key) {
  const Value* const value = dict.find(key);
  return value != nullptr && value->is(Kind::String) ? value->text : std::string_view{};
}

std::uint32_t number_at(const Value& dict, std::string_view key) {
  const Value* const value = dict.find(key);
  return value != nullptr && value->is(Kind::Int) && value->integer > 0 && value->integer < (1 << 30)
             ? static_cast<std::uint32_t>(value->integer)
             : 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Graph breaks that Dynamo noted in the graphs it made
// ---------------------------------------------------------------------------------------------------------------------

// traceback.FrameSummary, whose state is (None, slots).
std::optional<ir::Origin> origin_of_frame(const Value& frame) {
  const Value* slots = frame.state;
  if (slots != nullptr && slots->is(Kind::Tuple)) slots = slots->at(1);
  constexpr std::size_t most_slots = 64;
  if (slots == nullptr || slots->items.size() > most_slots) return std::nullopt;
  for (const Value* value : slots->items)
    if (value->is(Kind::String) && value->text.size() > longest_name) return std::nullopt;
  if (string_at(*slots, "filename").empty()) return std::nullopt;
  const Value* const column = slots->find("colno");
  const bool has_column = column != nullptr && column->is(Kind::Int);
  return ir::Origin{std::string(string_at(*slots, "filename")), number_at(*slots, "lineno"),
                    has_column ? number_at(*slots, "colno") + 1 : 0, std::string(string_at(*slots, "name")),
                    std::string(string_at(*slots, "_line"))};
}

// "GB0124" in the text of a reason; empty: there is none.
std::string registry_id(std::string_view reason) {
  const auto is_digit = [](char byte) { return byte >= '0' && byte <= '9'; };
  for (std::size_t at = reason.find("GB"); at != std::string_view::npos; at = reason.find("GB", at + 1))
    if (at + 6 <= reason.size() && std::ranges::all_of(reason.substr(at + 2, 4), is_digit))
      return std::string(reason.substr(at, 6));
  return {};
}

std::optional<RecordedBreak> recorded_break(const Value& body) {
  const Value* reason = body.find("compile_subgraph_reason");
  if (const Value* meta = body.find("meta"); reason == nullptr && meta != nullptr)
    reason = meta->find("compile_subgraph_reason");
  if (reason == nullptr || reason->state == nullptr) return std::nullopt;
  const Value* const is_break = reason->state->find("graph_break");
  const Value* const stack = reason->state->find("user_stack");
  if (is_break == nullptr || !is_break->is_true() || stack == nullptr) return std::nullopt;
  RecordedBreak found;
  const std::string_view text = string_at(*reason->state, "reason");
  found.gb_id = registry_id(text);
  found.reason = text.substr(0, text.find('\n'));
  constexpr std::size_t deepest = 256;
  for (const Value* frame : std::span(stack->items).last(std::min(stack->items.size(), deepest)))
    if (auto origin = origin_of_frame(*frame)) found.stack.push_back(std::move(*origin));
  if (found.stack.empty()) return std::nullopt;
  found.where = std::move(found.stack.back());
  found.stack.pop_back();
  return found;
}

// ---------------------------------------------------------------------------------------------------------------------
// The code of GraphModules
// ---------------------------------------------------------------------------------------------------------------------
std::string class_text(std::string_view name, std::string_view code, std::string_view imports) {
  std::string out = "import torch\n";
  out += imports;
  out += fmt::format("\n\n\nclass {}(torch.nn.Module):\n", name);
  bool is_empty = true;
  while (!code.empty()) {
    const std::string_view line = next_line(code);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    is_empty = false;
    out += "    ";
    out += line;
    out += '\n';
  }
  if (is_empty) out += "    pass\n";
  return out;
}

// What the code gets from its module: the names after "self.".
std::set<std::string_view> names_of_self(std::string_view code) {
  constexpr std::string_view self = "self.";
  constexpr std::size_t most_names = 100'000;
  std::set<std::string_view> names;
  for (std::size_t at = code.find(self); at != std::string_view::npos && names.size() < most_names;
       at = code.find(self, at)) {
    at += self.size();
    const std::size_t end = std::min(code.find_first_of(" .,()[];:=\n", at), code.size());
    names.insert(code.substr(at, end - at));
  }
  return names;
}

// ---------------------------------------------------------------------------------------------------------------------
// Objects
// ---------------------------------------------------------------------------------------------------------------------
class ModuleObjects : public ObjectText {
 public:
  ModuleObjects(Graphs& graphs, ModuleFinder& modules) : graphs_(graphs), modules_(modules) {}

 protected:
  std::optional<std::string> expression(const Value& object) override {
    if (modules_.attributes_of(object) != nullptr) return std::nullopt;
    return ObjectText::expression(object);
  }

  std::string creation(const Value& object) override {
    const Value* const attributes = modules_.attributes_of(object);
    if (attributes == nullptr) return ObjectText::creation(object);
    if (const GraphModuleMaker* maker = graph_module_maker(object))
      return fmt::format("object.__new__({})", graph_module_class(object, *maker, *attributes));
    if (auto children = container(object, *attributes)) return *children;
    return ObjectText::creation(object);
  }

  void fill(const Value& object, const std::string& name, Lines& lines) override {
    const Value* const attributes = modules_.attributes_of(object);
    if (attributes == nullptr) return ObjectText::fill(object, name, lines);
    const bool is_graph = graph_module_maker(object) != nullptr;
    const auto used = is_graph ? names_of_self(string_at(*attributes, "_code")) : std::set<std::string_view>{};
    for (const auto& [key, value] : pairs(attributes)) {
      if (!key->is(Kind::String) || std::ranges::find(bookkeeping, key->text) != bookkeeping.end()) continue;
      // A GraphModule keeps besides how it was made. What its code refers to is part of the graph.
      if (is_graph && key->text != "training" && !used.contains(key->text)) continue;
      add(lines, set_attribute(name, key->text, spell(*value)));
    }
    for (const auto& [key, value] : pairs(attributes->find("_parameters")))
      if (key->is(Kind::String)) add(lines, parameter(name, key->text, *value));
    for (const auto& [key, value] : pairs(attributes->find("_buffers")))
      if (key->is(Kind::String))
        add(lines, fmt::format("{}.register_buffer({}, {})", name, python_string(key->text), spell(*value)));
    if (!is_container(object, *attributes))
      for (const auto& [key, value] : pairs(attributes->find("_modules")))
        if (key->is(Kind::String)) add(lines, child(name, key->text, *value));
    hooks(*attributes, name, lines);
  }

 private:
  std::string parameter(const std::string& object, std::string_view name, const Value& value) {
    if (value.is(Kind::None)) return fmt::format("{}.register_parameter({}, None)", object, python_string(name));
    return set_attribute(object, name, spell(value));
  }

  std::string child(const std::string& object, std::string_view name, const Value& value) {
    const std::string expression = spell(value);
    if (is_identifier(name)) return set_attribute(object, name, expression);
    return fmt::format("{}.add_module({}, {})", object, python_string(name), expression);
  }

  // torch's own containers whose children have the names that their constructors give.
  bool is_container(const Value& object, const Value& attributes) {
    if (object.callable == nullptr || !object.callable->is(Kind::Global)) return false;
    const std::string_view name = object.callable->text;
    if (name == "torch.nn.modules.container.ModuleDict") return true;
    if (name != "torch.nn.modules.container.Sequential" && name != "torch.nn.modules.container.ModuleList")
      return false;
    std::size_t index = 0;
    for (const auto& [key, value] : pairs(attributes.find("_modules")))
      if (!key->is(Kind::String) || key->text != fmt::format("{}", index++)) return false;
    return true;
  }

  // A container is what its constructor makes of its children.
  std::optional<std::string> container(const Value& object, const Value& attributes) {
    if (!is_container(object, attributes)) return std::nullopt;
    const bool is_dict = object.callable->text.ends_with("ModuleDict");
    std::string children;
    for (const auto& [key, value] : pairs(attributes.find("_modules"))) {
      if (!children.empty()) children += ", ";
      if (is_dict) children += spell(*key) + ": ";
      children += spell(*value);
    }
    if (is_dict) return fmt::format("torch.nn.ModuleDict({{{}}})", children);
    return object.callable->text.ends_with("ModuleList") ? fmt::format("torch.nn.ModuleList([{}])", children)
                                                         : fmt::format("torch.nn.Sequential({})", children);
  }

  std::string graph_module_class(const Value& object, const GraphModuleMaker& maker, const Value& body) {
    const Value* const imports = maker.imports ? object.argument(*maker.imports) : nullptr;
    const std::string_view code = string_at(body, "_code");
    std::string text =
        class_text(class_name(body), code, imports != nullptr && imports->is(Kind::String) ? imports->text : "");
    charge(text.size());
    if (is_full()) return "...";
    const std::size_t number = graph_modules_++;
    const std::string module = number == 0 ? "__graph_module__" : fmt::format("__graph_module_{}__", number);
    graphs_.texts.push_back({module, "", std::move(text), {}});
    imports_.insert(module);
    add_break(body);
    return fmt::format("{}.{}", module, class_name(body));
  }

  static std::string_view class_name(const Value& body) {
    const std::string_view name = string_at(body, "_graphmodule_cls_name");
    return name.size() < longest_name && is_identifier(name) ? name : "GraphModule";
  }

  void add_break(const Value& body) {
    auto found = recorded_break(body);
    if (!found) return;
    const auto charge_frame = [&](const ir::Origin& frame) {
      charge(frame.file.size() + frame.function.size() + frame.code.size());
    };
    charge(found->reason.size());
    charge_frame(found->where);
    std::ranges::for_each(found->stack, charge_frame);
    graphs_.breaks.push_back(std::move(*found));
  }

  void hooks(const Value& attributes, const std::string& name, Lines& lines) {
    const Value* const is_full = attributes.find("_is_full_backward_hook");
    const bool is_legacy = is_full != nullptr && is_full->is(Kind::Bool) && !is_full->is_true();
    register_hooks(attributes, name, "_backward_pre_hooks", "register_full_backward_pre_hook", lines);
    register_hooks(attributes, name, "_backward_hooks",
                   is_legacy ? "register_backward_hook" : "register_full_backward_hook", lines);
    register_hooks(attributes, name, "_forward_pre_hooks", "register_forward_pre_hook", lines);
    register_hooks(attributes, name, "_forward_hooks", "register_forward_hook", lines);
  }

  // A table from the hook's number to the function; a second one says which of them want keyword arguments.
  void register_hooks(const Value& attributes, const std::string& name, const std::string& table,
                      std::string_view function, Lines& lines) {
    std::set<std::int64_t> with_keywords;
    for (const auto& [number, wants] : pairs(attributes.find(table + "_with_kwargs")))
      if (number->is(Kind::Int) && wants->is_true()) with_keywords.insert(number->integer);
    for (const auto& [number, hook] : pairs(attributes.find(table))) {
      const bool keywords = number->is(Kind::Int) && with_keywords.contains(number->integer);
      add(lines, fmt::format("{}.{}({}{})", name, function, spell(*hook), keywords ? ", with_kwargs=True" : ""));
    }
  }

  Graphs& graphs_;
  ModuleFinder& modules_;
  std::size_t graph_modules_ = 0;
};

// `member`: of the archive; empty for a file that is none.
Result<Graphs> read_objects(const Value& root, std::string_view member) {
  Graphs graphs;
  graphs.format = Format::StateDict;
  ModuleFinder modules;
  if (!modules.holds_module(root)) return graphs;
  graphs.format = Format::PickledModule;
  auto text = ModuleObjects(graphs, modules).load_function(root);
  if (!text) return std::unexpected(text.error());
  for (Text& one : graphs.texts) one.member = member;
  graphs.texts.push_back({"__archive__", std::string(member), std::move(*text), {}});
  graphs.entry = "__archive__:load";
  return graphs;
}

// torch/serialization.py: the file of old begins with this number, as a pickle of its own.
constexpr std::string_view legacy_magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15);

}  // namespace

Result<Graphs> read_saved(const Archive& archive) {
  constexpr std::string_view member = "data.pkl";
  auto bytes = archive.read(member, largest_pickle);
  if (!bytes) return std::unexpected(bytes.error());
  const auto pickle = Pickle::read(std::move(*bytes));
  const auto in_member = [&](const Error& error) {
    return std::unexpected(archive.error(member, error.kind, error.message));
  };
  if (!pickle) return in_member(pickle.error());
  auto graphs = read_objects(pickle->root(), member);
  if (!graphs) return in_member(graphs.error());
  return graphs;
}

bool is_legacy_save(std::string_view bytes) {
  return bytes.starts_with(legacy_magic);
}

// The magic number, the protocol's number, facts about the machine, the objects; then the keys of the storages and
// their bytes.
Result<Graphs> read_legacy_save(std::string bytes, const std::string& shown) {
  const auto fail = [&](const Error& error) {
    return std::unexpected(Error{error.kind, error.message, ErrorLocation{shown, 0, 0}});
  };
  for (int pickles_before = 3; pickles_before > 0; --pickles_before) {
    const auto skipped = Pickle::read(bytes);
    if (!skipped) return fail(skipped.error());
    bytes.erase(0, skipped->size());
  }
  const auto pickle = Pickle::read(std::move(bytes));
  if (!pickle) return fail(pickle.error());
  auto graphs = read_objects(pickle->root(), "");
  if (!graphs) return fail(graphs.error());
  return graphs;
}

}  // namespace fullgraph::graphs
