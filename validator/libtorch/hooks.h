// How many hooks on gradients a forward leaves behind, and how many of them the backward runs: a fix that loses a hook
// changes no output and often no gradient.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace fullgraph::libtorch {

struct HookCount {
  std::int64_t registered = 0;
  std::int64_t ran = 0;
};

// Looks at the graph behind `outputs`, before its backward. What runs is counted until the counter is read.
class HookCounter {
 public:
  explicit HookCounter(const std::vector<at::Tensor>& outputs);
  [[nodiscard]] HookCount count() const { return {registered_, ran_->load()}; }

 private:
  std::int64_t registered_ = 0;
  std::shared_ptr<std::atomic<std::int64_t>> ran_ = std::make_shared<std::atomic<std::int64_t>>(0);
};

}  // namespace fullgraph::libtorch
