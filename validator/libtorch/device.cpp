#include "validator/libtorch/device.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <fmt/format.h>

#include <fstream>

#include "validator/libtorch/failure.h"

namespace fullgraph::libtorch {

at::Device choose_device(const std::string& wanted) {
  if (wanted == "auto") return {at::hasCUDA() ? at::kCUDA : at::kCPU};
  std::optional<at::Device> device;
  try {
    device.emplace(wanted);
  } catch (const c10::Error&) {
  }
  if (!device || (!device->is_cpu() && !device->is_cuda()))
    throw Failure(fmt::format("no device `{}`; there are `auto`, `cpu` and `cuda`, `cuda:1`, …", wanted));
  if (device->is_cuda() && !at::hasCUDA())
    throw Skipped(fmt::format("`{}` was asked for, and there is no CUDA device that this libtorch can use", wanted));
  if (device->is_cuda() && device->has_index() && device->index() >= at::accelerator::deviceCount())
    throw Skipped(fmt::format("`{}` was asked for, and there are {} CUDA devices", wanted,
                              static_cast<int>(at::accelerator::deviceCount())));
  return *device;
}

void wait_for(at::Device device) {
  if (device.is_cuda()) at::accelerator::synchronizeDevice(device.has_index() ? device.index() : c10::DeviceIndex{0});
}

void reset_peak_memory(at::Device device) {
  if (device.is_cuda()) {
    at::accelerator::resetPeakStats(device.has_index() ? device.index() : c10::DeviceIndex{0});
    return;
  }
  std::ofstream("/proc/self/clear_refs") << "5";  // the kernel starts VmHWM anew; without permission the peak is older
}

std::int64_t peak_memory(at::Device device) {
  if (device.is_cuda()) {
    const auto stats = at::accelerator::getDeviceStats(device.has_index() ? device.index() : c10::DeviceIndex{0});
    return stats.allocated_bytes[0].peak;
  }
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

}  // namespace fullgraph::libtorch
