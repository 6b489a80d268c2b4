#include "validator/libtorch/input_inference.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "validator/libtorch/failure.h"
#include "validator/libtorch/tensor_spec.h"

namespace fullgraph::libtorch {
namespace {

using GraphNode = torch::jit::Node;
using torch::jit::Value;

constexpr std::int64_t batch = 2;
constexpr std::int64_t sequence = 8;
// Long enough for the strides of an audio encoder, small enough to be fast.
constexpr std::int64_t signal_length = 4000;
constexpr std::int64_t image_side = 64;
constexpr std::int64_t volume_side = 16;

struct Guess {
  at::ScalarType type = at::kFloat;
  std::vector<std::int64_t> shape;
  std::int64_t bound = 2;
};

class Inference {
 public:
  explicit Inference(const torch::jit::Module& module)
      : module_(module), graph_(module.get_method("forward").graph()->copy()) {
    torch::jit::Inline(*graph_);
  }

  std::vector<c10::IValue> inputs() {
    std::vector<c10::IValue> out;
    const auto& arguments = module_.get_method("forward").function().getSchema().arguments();
    for (std::size_t index = 1; index < arguments.size(); ++index)
      out.push_back(input(arguments[index], graph_->inputs().at(index)));
    return out;
  }

 private:
  c10::IValue input(const c10::Argument& argument, Value* value) {
    if (argument.default_value()) return *argument.default_value();
    const c10::TypePtr& type = argument.type();
    if (type->kind() == c10::TypeKind::OptionalType) return {};
    if (type->kind() == c10::TypeKind::IntType) return batch;
    if (type->kind() == c10::TypeKind::FloatType) return 0.5;
    if (type->kind() == c10::TypeKind::BoolType) return false;
    if (type->kind() == c10::TypeKind::TensorType) {
      if (const auto sizes = type->expectRef<c10::TensorType>().sizes().concrete_sizes())
        return random_tensor(type->expectRef<c10::TensorType>().scalarType().value_or(at::kFloat), *sizes);
      if (const auto guess = from_uses(value)) return random_tensor(guess->type, guess->shape, guess->bound);
    }
    throw Failure(
        fmt::format("the graph does not tell what its input `{}` ({}) looks like; give the inputs in order with "
                    "`--input`, like `--input \"f32[2,16000]\"`, or all of them as a file, `--input FILE`",
                    argument.name(), type->repr_str()));
  }

  // The first use that tells something.
  std::optional<Guess> from_uses(Value* value) {
    if (!seen_.insert(value).second) return std::nullopt;
    for (const torch::jit::Use& use : value->uses()) {
      if (auto guess = from_use(*use.user, use.offset)) return guess;
    }
    return std::nullopt;
  }

  std::optional<Guess> from_use(GraphNode& node, std::size_t offset) {
    const std::string name = node.kind().toQualString();
    if (name == "aten::embedding" && offset == 1) {
      const auto weight = constant_tensor(node.input(0));
      if (!weight || weight->dim() != 2) return std::nullopt;
      return Guess{at::kLong, {batch, sequence}, weight->size(0)};
    }
    if (offset != 0) return std::nullopt;
    if (name == "aten::linear") return features(node, [](const at::Tensor& weight) { return weight.size(-1); });
    if (name == "aten::matmul" || name == "aten::mm")
      return features(node,
                      [](const at::Tensor& weight) { return weight.dim() < 2 ? weight.size(0) : weight.size(-2); });
    if (name == "aten::layer_norm") return normalised(node);
    if (name == "aten::lstm" || name == "aten::gru") return recurrent(node);
    if (name.starts_with("aten::conv") || name == "aten::_convolution") return convolved(node);
    return seen_through(node, name);
  }

  template <class Size>
  std::optional<Guess> features(GraphNode& node, Size size) {
    const auto weight = constant_tensor(node.input(1));
    if (!weight || weight->dim() == 0) return std::nullopt;
    return Guess{weight->scalar_type(), {batch, size(*weight)}};
  }

  std::optional<Guess> normalised(GraphNode& node) {
    const auto shape = constant(node.input(1));
    if (!shape || !shape->isIntList()) return std::nullopt;
    Guess guess{at::kFloat, {batch}};
    for (const std::int64_t size : shape->toIntVector()) guess.shape.push_back(size);
    return guess;
  }

  // lstm(input, states, weights…): the first weight is [4 * hidden, features].
  std::optional<Guess> recurrent(GraphNode& node) {
    GraphNode* list = node.input(2)->node();
    if (list->kind() != torch::jit::prim::ListConstruct || list->inputs().empty()) return std::nullopt;
    const auto weight = constant_tensor(list->input(0));
    if (!weight || weight->dim() != 2) return std::nullopt;
    return Guess{weight->scalar_type(), {sequence, batch, weight->size(1)}};
  }

  std::optional<Guess> convolved(GraphNode& node) {
    const auto weight = constant_tensor(node.input(1));
    if (!weight || weight->dim() < 3 || weight->dim() > 5) return std::nullopt;
    std::int64_t channels = weight->size(1);
    // The groups stand last in conv1d to conv3d, and before four flags in _convolution, whose other form is transposed.
    if (const std::string name = node.kind().toQualString(); name == "aten::_convolution") {
      const auto transposed = constant(node.input(6));
      if (!transposed || transposed->toBool()) return std::nullopt;
      if (const auto groups = constant(node.input(8)); groups && groups->isInt()) channels *= groups->toInt();
    } else if (name.starts_with("aten::conv_transpose")) {
      return std::nullopt;
    } else if (const auto groups = constant(node.inputs().back()); groups && groups->isInt()) {
      channels *= groups->toInt();
    }
    const std::int64_t side = weight->dim() == 3 ? signal_length : weight->dim() == 4 ? image_side : volume_side;
    Guess guess{weight->scalar_type(), {batch, channels}};
    guess.shape.insert(guess.shape.end(), static_cast<std::size_t>(weight->dim() - 2), side);
    return guess;
  }

  // Operators whose result tells of their input.
  std::optional<Guess> seen_through(GraphNode& node, const std::string& name) {
    static const std::set<std::string> keep_shape = {
        "aten::dropout", "aten::relu",   "aten::gelu",       "aten::silu",          "aten::tanh", "aten::to",
        "aten::float",   "aten::detach", "aten::sigmoid",    "aten::clone",         "aten::mul",  "aten::add",
        "aten::sub",     "aten::div",    "aten::slice",      "aten::type_as",       "aten::neg",  "aten::abs",
        "aten::log",     "aten::exp",    "aten::contiguous", "prim::unchecked_cast"};
    if (node.outputs().size() != 1) return std::nullopt;
    if (keep_shape.contains(name)) return from_uses(node.output());
    if (name != "aten::unsqueeze" && name != "aten::transpose") return std::nullopt;
    const auto first = constant(node.input(1));
    auto guess = from_uses(node.output());
    if (!guess || !first || !first->isInt()) return std::nullopt;
    const auto place = position(first->toInt(), *guess);
    if (!place) return std::nullopt;
    if (name == "aten::unsqueeze") {
      guess->shape.erase(guess->shape.begin() + *place);
      return guess;
    }
    const auto second = constant(node.input(2));
    const auto other = second && second->isInt() ? position(second->toInt(), *guess) : std::nullopt;
    if (!other) return std::nullopt;
    std::swap(guess->shape[static_cast<std::size_t>(*place)], guess->shape[static_cast<std::size_t>(*other)]);
    return guess;
  }

  static std::optional<std::ptrdiff_t> position(std::int64_t dimension, const Guess& guess) {
    const auto count = static_cast<std::int64_t>(guess.shape.size());
    if (dimension < 0) dimension += count;
    if (dimension < 0 || dimension >= count) return std::nullopt;
    return dimension;
  }

  // A constant of the graph, or an attribute of the module or a submodule.
  std::optional<c10::IValue> constant(Value* value) {
    if (auto direct = torch::jit::toIValue(value)) return direct;
    GraphNode* node = value->node();
    if (node->kind() == torch::jit::prim::ListConstruct) {
      c10::List<std::int64_t> list;
      for (Value* item : node->inputs()) {
        const auto size = constant(item);
        if (!size || !size->isInt()) return std::nullopt;
        list.push_back(size->toInt());
      }
      return list;
    }
    if (node->kind() != torch::jit::prim::GetAttr) return std::nullopt;
    const auto owner = node->input() == graph_->inputs().at(0) ? std::optional<c10::IValue>(module_._ivalue())
                                                               : constant(node->input());
    const std::string& name = node->s(torch::jit::attr::name);
    if (!owner || !owner->isObject() || !owner->toObjectRef().type()->findAttributeSlot(name)) return std::nullopt;
    return owner->toObjectRef().getAttr(name);
  }

  std::optional<at::Tensor> constant_tensor(Value* value) {
    const auto found = constant(value);
    if (!found || !found->isTensor() || !found->toTensor().defined()) return std::nullopt;
    return found->toTensor();
  }

  const torch::jit::Module& module_;
  std::shared_ptr<torch::jit::Graph> graph_;
  std::set<Value*> seen_;
};

}  // namespace

std::vector<c10::IValue> infer_inputs(const torch::jit::Module& module) {
  return Inference(module).inputs();
}

}  // namespace fullgraph::libtorch
