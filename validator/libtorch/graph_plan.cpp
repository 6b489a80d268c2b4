#include "validator/libtorch/graph_plan.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "validator/libtorch/failure.h"

namespace fullgraph::libtorch {
namespace {

using nlohmann::json;

constexpr int deepest_nesting = 64;
constexpr std::string_view operator_prefix = "torch.ops.";
constexpr std::string_view higher_order_prefix = "torch.ops.higher_order.";

c10::Layout exported_layout(int number) {
  static const std::map<int, c10::Layout> layouts = {{1, c10::kSparse},    {2, c10::kSparseCsr}, {3, c10::kSparseCsc},
                                                     {4, c10::kSparseBsr}, {5, c10::kSparseBsc}, {7, c10::kStrided}};
  const auto found = layouts.find(number);
  if (found == layouts.end()) throw Failure(fmt::format("the graph uses a layout ({}) that is not supported", number));
  return found->second;
}

c10::MemoryFormat exported_memory_format(int number) {
  static const std::map<int, c10::MemoryFormat> formats = {{1, c10::MemoryFormat::Contiguous},
                                                           {2, c10::MemoryFormat::ChannelsLast},
                                                           {3, c10::MemoryFormat::ChannelsLast3d},
                                                           {4, c10::MemoryFormat::Preserve}};
  const auto found = formats.find(number);
  if (found == formats.end()) throw Failure(fmt::format("the graph uses an unknown memory format ({})", number));
  return found->second;
}

class Planner {
 public:
  Planner(at::Device device, int depth) : device_(device), depth_(depth) {
    if (depth > deepest_nesting) throw Failure("the graph is nested too deeply");
  }

  std::shared_ptr<const Plan> plan(const json& graph) {
    for (const json& input : graph.at("inputs")) plan_->inputs.push_back(input_slot(input));
    for (const json& node : graph.at("nodes")) plan_->steps.push_back(step(node));
    for (const json& output : graph.at("outputs")) {
      plan_->outputs.push_back(operand(output));
      plan_->output_names.push_back(name_of(output));
    }
    plan_->slot_count = slots_.size();
    find_last_uses();
    return plan_;
  }

 private:
  // An argument is an object with one key, which says what it is.
  static const std::string& kind_of(const json& argument) {
    if (!argument.is_object() || argument.size() != 1) throw Failure("the graph holds an argument that is none");
    return argument.begin().key();
  }

  static std::string name_of(const json& argument) {
    const json& value = argument.begin().value();
    if (!value.is_object()) return "";
    return value.value("name", value.value("as_name", ""));
  }

  Slot define(const std::string& name) {
    const auto slot = static_cast<Slot>(slots_.size());
    return slots_.emplace(name, slot).first->second;
  }

  Slot slot_of(const std::string& name) const {
    const auto found = slots_.find(name);
    if (found == slots_.end()) throw Failure(fmt::format("the graph uses `{}`, which nothing computes", name));
    return found->second;
  }

  Slot input_slot(const json& input) {
    kind_of(input);
    const std::string name = name_of(input);
    return name.empty() ? no_slot : define(name);
  }

  Operand computed(const std::string& name) const { return {Operand::Kind::Computed, {}, slot_of(name), {}}; }

  static Operand constant(c10::IValue value) { return {Operand::Kind::Constant, std::move(value), no_slot, {}}; }

  Operand list(const json& values, auto&& item) const {
    Operand out{Operand::Kind::List, {}, no_slot, {}};
    for (const json& value : values) out.items.push_back(item(value));
    return out;
  }

  // A number of a shape: known, or computed by an earlier step.
  Operand symbolic(const json& value) const {
    const std::string& kind = kind_of(value);
    if (kind == "as_name") return computed(value.at("as_name"));
    return plain(value.at(kind));
  }

  static Operand plain(const json& value) {
    if (value.is_boolean()) return constant(value.get<bool>());
    if (value.is_number_integer()) return constant(value.get<std::int64_t>());
    if (value.is_number()) return constant(value.get<double>());
    if (value.is_string()) return constant(special_float(value.get<std::string>()));
    return constant({});
  }

  // JSON has no infinities: they are written as words.
  static c10::IValue special_float(const std::string& text) {
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    return text;
  }

  Operand optional_tensor(const json& value) const {
    return kind_of(value) == "as_none" ? constant({}) : computed(value.at("as_tensor").at("name"));
  }

  Operand operand(const json& argument) const {
    const std::string& kind = kind_of(argument);
    const json& value = argument.at(kind);
    const auto each_plain = [](const json& item) { return plain(item); };
    const auto each_symbolic = [this](const json& item) { return symbolic(item); };
    const auto each_tensor = [this](const json& item) { return computed(item.at("name")); };
    if (kind == "as_tensor") return computed(value.at("name"));
    if (kind == "as_none") return constant({});
    if (kind == "as_int" || kind == "as_float" || kind == "as_bool") return plain(value);
    if (kind == "as_string") return constant(value.get<std::string>());
    if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") return symbolic(value);
    if (kind == "as_ints" || kind == "as_floats" || kind == "as_bools") return list(value, each_plain);
    if (kind == "as_sym_ints" || kind == "as_sym_floats" || kind == "as_sym_bools") return list(value, each_symbolic);
    if (kind == "as_tensors") return list(value, each_tensor);
    if (kind == "as_optional_tensor") return optional_tensor(value);
    if (kind == "as_optional_tensors") return list(value, [this](const json& item) { return optional_tensor(item); });
    if (kind == "as_strings") return list(value, [](const json& item) { return constant(item.get<std::string>()); });
    if (kind == "as_scalar_type") return constant(static_cast<std::int64_t>(exported_scalar_type(value.get<int>())));
    if (kind == "as_layout") return constant(static_cast<std::int64_t>(exported_layout(value.get<int>())));
    if (kind == "as_memory_format")
      return constant(static_cast<std::int64_t>(exported_memory_format(value.get<int>())));
    if (kind == "as_device") return constant(value.at("type") == "meta" ? at::Device(at::kMeta) : device_);
    if (kind == "as_complex")
      return constant(c10::complex<double>(value.at("real").get<double>(), value.at("imag").get<double>()));
    throw Failure(fmt::format("the graph uses arguments of a kind (`{}`) that is not supported", kind));
  }

  Step step(const json& node) {
    Step out;
    out.name = node.at("target").get<std::string>();
    if (out.name.starts_with(operator_prefix) && !out.name.starts_with(higher_order_prefix)) {
      plan_call(out, node);
    } else {
      for (const json& input : node.at("inputs")) {
        const json& argument = input.at("arg");
        if (kind_of(argument) == "as_graph") {
          out.graphs.push_back(Planner(device_, depth_ + 1).plan(argument.at("as_graph").at("graph")));
        } else if (out.name.starts_with("_operator.") || input.at("name").get<std::string>().empty() ||
                   !out.name.starts_with(higher_order_prefix)) {
          out.operands.push_back(operand(argument));
        }
      }
    }
    for (const json& output : node.at("outputs")) out.targets.push_back(target(output));
    return out;
  }

  // "torch.ops.aten.linear.default"
  void plan_call(Step& out, const json& node) const {
    const std::string path = out.name.substr(operator_prefix.size());
    const std::size_t first = path.find('.');
    const std::size_t last = path.rfind('.');
    if (first == std::string::npos || last == first) throw Failure(fmt::format("`{}` is no operator", out.name));
    const std::string name = path.substr(0, first) + "::" + path.substr(first + 1, last - first - 1);
    const std::string overload = path.substr(last + 1) == "default" ? "" : path.substr(last + 1);
    out.call = c10::Dispatcher::singleton().findSchema({name, overload});
    if (!out.call) throw Failure(fmt::format("the graph calls `{}`, which this libtorch does not know", out.name));
    std::map<std::string, const json*> given;
    for (const json& input : node.at("inputs")) given[input.at("name").get<std::string>()] = &input.at("arg");
    for (const c10::Argument& argument : out.call->schema().arguments()) {
      const auto found = given.find(argument.name());
      if (found != given.end()) {
        out.operands.push_back(operand(*found->second));
      } else {
        out.operands.push_back(constant(argument.default_value().value_or(c10::IValue())));
      }
    }
  }

  Target target(const json& output) {
    const std::string& kind = kind_of(output);
    Target out;
    if (kind == "as_tensors" || kind == "as_optional_tensors") {
      out.is_list = true;
      for (const json& item : output.at(kind)) {
        const json& tensor = item.contains("as_tensor") ? item.at("as_tensor") : item;
        out.slots.push_back(tensor.contains("name") ? define(tensor.at("name")) : no_slot);
      }
      return out;
    }
    const std::string name = kind == "as_none" ? "" : name_of(output);
    out.slots.push_back(name.empty() ? no_slot : define(name));
    return out;
  }

  static void collect_slots(const Operand& operand, std::set<Slot>& out) {
    if (operand.kind == Operand::Kind::Computed) out.insert(operand.slot);
    for (const Operand& item : operand.items) collect_slots(item, out);
  }

  // Tensors that nothing needs any more are let go, so that the peak of memory is the model's.
  void find_last_uses() {
    std::set<Slot> alive;
    for (const Operand& output : plan_->outputs) collect_slots(output, alive);
    for (auto step = plan_->steps.rbegin(); step != plan_->steps.rend(); ++step) {
      std::set<Slot> touched;
      for (const Operand& operand : step->operands) collect_slots(operand, touched);
      for (const Target& target : step->targets) touched.insert(target.slots.begin(), target.slots.end());
      touched.erase(no_slot);
      for (const Slot slot : touched) {
        if (alive.insert(slot).second) step->dead.push_back(slot);
      }
    }
  }

  at::Device device_;
  int depth_;
  std::shared_ptr<Plan> plan_ = std::make_shared<Plan>();
  std::unordered_map<std::string, Slot> slots_;
};

}  // namespace

at::ScalarType exported_scalar_type(int number) {
  static const std::map<int, at::ScalarType> types = {{1, at::kByte},
                                                      {2, at::kChar},
                                                      {3, at::kShort},
                                                      {4, at::kInt},
                                                      {5, at::kLong},
                                                      {6, at::kHalf},
                                                      {7, at::kFloat},
                                                      {8, at::kDouble},
                                                      {9, at::kComplexHalf},
                                                      {10, at::kComplexFloat},
                                                      {11, at::kComplexDouble},
                                                      {12, at::kBool},
                                                      {13, at::kBFloat16},
                                                      {28, at::kUInt16},
                                                      {29, at::kFloat8_e4m3fn},
                                                      {30, at::kFloat8_e5m2},
                                                      {31, at::kFloat8_e4m3fnuz},
                                                      {32, at::kFloat8_e5m2fnuz},
                                                      {33, at::kFloat8_e8m0fnu},
                                                      {34, at::kUInt32},
                                                      {35, at::kUInt64}};
  const auto found = types.find(number);
  if (found == types.end())
    throw Failure(fmt::format("the archive uses a type of numbers ({}) that is unknown", number));
  return found->second;
}

std::shared_ptr<const Plan> make_plan(const nlohmann::json& graph, at::Device device) {
  return Planner(device, 0).plan(graph);
}

}  // namespace fullgraph::libtorch
