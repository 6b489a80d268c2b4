#include "validator/libtorch/cuda_graph.h"

#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "validator/libtorch/device.h"
#include "validator/libtorch/tensor_file.h"

namespace fullgraph::libtorch {
namespace {

constexpr int warm_up_runs = 3;

at::Tensor first_tensor(const c10::IValue& output) {
  for (const c10::IValue& value : flatten(output)) {
    if (value.isTensor()) return value.toTensor();
  }
  return {};
}

// Libraries set themselves up in their first calls, which must not be captured; capturing needs a stream of its own.
Capture capture(Model& model, const std::vector<c10::IValue>& inputs, at::Device device) {
  const c10::impl::VirtualGuardImpl backend(device.type());
  const c10::StreamGuard on_stream(backend.getStreamFromGlobalPool(device));
  const at::NoGradGuard no_gradients;
  at::Tensor expected;
  for (int run = 0; run < warm_up_runs; ++run) expected = first_tensor(model.forward(inputs));
  if (expected.defined()) expected = expected.clone();
  wait_for(device);

  at::accelerator::Graph graph;
  graph.capture_begin();
  at::Tensor replayed;
  try {
    replayed = first_tensor(model.forward(inputs));
  } catch (...) {
    try {
      graph.capture_end();
    } catch (const std::exception&) {  // what ended the capture is told already
    }
    throw;
  }
  graph.capture_end();
  graph.replay();
  wait_for(device);
  if (expected.defined() && !at::allclose(expected, replayed, 1e-3, 1e-3, /*equal_nan=*/true))
    return {"failed", "it was captured, and the replay computes something else: values are read on the host"};
  return {"captured", ""};
}

}  // namespace

Capture capture_forward(Model& model, const std::vector<c10::IValue>& inputs, at::Device device) {
  if (!device.is_cuda()) return {"skipped", "needs a CUDA device"};
  try {
    return capture(model, inputs, device);
  } catch (const c10::Error& error) {
    return {"failed", error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return {"failed", error.what()};
  }
}

}  // namespace fullgraph::libtorch
