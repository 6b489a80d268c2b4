#include "validator/libtorch/hooks.h"

#include <c10/util/Type.h>
#include <torch/csrc/autograd/cpp_hook.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <typeinfo>
#include <unordered_set>

namespace fullgraph::libtorch {
namespace {

using torch::autograd::FunctionPreHook;
using GradientNode = torch::autograd::Node;

// Stands in a node's list and runs when that node's hooks run.
struct CountingHook final : FunctionPreHook {
  CountingHook(std::shared_ptr<std::atomic<std::int64_t>> ran, std::int64_t hooks)
      : ran_(std::move(ran)), hooks_(hooks) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& gradients) override {
    *ran_ += hooks_;
    return gradients;
  }
  std::shared_ptr<std::atomic<std::int64_t>> ran_;
  std::int64_t hooks_;
};

// libtorch does not export what a dynamic_cast to this class would need.
const torch::autograd::CppFunctionTensorPreHook* as_tensor_hooks(const FunctionPreHook& hook) {
  if (c10::demangle(typeid(hook).name()) != "torch::autograd::CppFunctionTensorPreHook") return nullptr;
  return static_cast<const torch::autograd::CppFunctionTensorPreHook*>(&hook);
}

// One object holds all hooks of a tensor.
std::int64_t hooks_in(const std::vector<std::unique_ptr<FunctionPreHook>>& hooks) {
  std::int64_t out = 0;
  for (const auto& hook : hooks) {
    if (dynamic_cast<const CountingHook*>(hook.get()) != nullptr) continue;
    const auto* list = as_tensor_hooks(*hook);
    out += list == nullptr ? 1 : static_cast<std::int64_t>(list->hooks_->size());
  }
  return out;
}

std::int64_t hooks_at(GradientNode& node) {
  std::int64_t out = hooks_in(node.pre_hooks()) + hooks_in(node.tensor_pre_hooks());
  out += static_cast<std::int64_t>(node.post_hooks().size());
  if (node.name() == "torch::autograd::AccumulateGrad" && node.tensor_post_acc_grad_hooks() != nullptr) ++out;
  return out;
}

}  // namespace

HookCounter::HookCounter(const std::vector<at::Tensor>& outputs) {
  std::vector<GradientNode*> open;
  std::unordered_set<GradientNode*> seen;
  const auto visit = [&](GradientNode* node) {
    if (node != nullptr && seen.insert(node).second) open.push_back(node);
  };
  for (const at::Tensor& output : outputs) visit(output.grad_fn().get());
  while (!open.empty()) {
    GradientNode* node = open.back();
    open.pop_back();
    if (const std::int64_t hooks = hooks_at(*node); hooks != 0) {
      registered_ += hooks;
      node->add_pre_hook(std::make_unique<CountingHook>(ran_, hooks));
    }
    for (const torch::autograd::Edge& edge : node->next_edges()) visit(edge.function.get());
  }
}

}  // namespace fullgraph::libtorch
