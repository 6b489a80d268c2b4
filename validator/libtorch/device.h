// The device that a model runs on: which one, waiting for it, and how much memory was in use at most.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

namespace fullgraph::libtorch {

// "auto": CUDA if there is one, else the CPU. Skipped: CUDA was asked for and is not there. Failure: no such device.
at::Device choose_device(const std::string& wanted);

// Work on an accelerator goes on after the call that started it; what is timed must wait for its end.
void wait_for(at::Device device);

// The peak since the last reset: allocated bytes on CUDA, the resident set of this process elsewhere.
void reset_peak_memory(at::Device device);
std::int64_t peak_memory(at::Device device);

}  // namespace fullgraph::libtorch
