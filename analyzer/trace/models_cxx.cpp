// What C++ that is spelled as Python does beside what its Python does: libtorch is not compiled by anything that could
// give a call up and go on, so what waits for the device or throws is told as such.
#include <algorithm>
#include <array>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"

namespace fullgraph::trace {

namespace {

constexpr std::string_view cuda_runtime = "torch.cuda.runtime.", project_functions = "torch.ops.cxx.",
                           saved_data = "torch.ops.libtorch.saved_data";

// Of CUDA's runtime: what waits until the device has done what was asked for so far.
constexpr std::array<std::string_view, 6> waiting = {
    "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy", "cudaMalloc", "cudaFree"};

bool is_host(Value device) {
  return device && device->kind == Kind::Str && device->known && as<StrObject>(device)->value == "cpu";
}

// Does it outlive the forward pass that looks at it?
bool is_lasting(const TensorObject* tensor) {
  return tensor->parameter || tensor->origin == Origin::Parameter || tensor->origin == Origin::Buffer;
}

}  // namespace

bool Interpreter::in_backward_pass() const {
  if (hooked_) return true;
  for (const Frame* frame = frame_; frame; frame = frame->caller) {
    if (frame->function && frame->function->owner && frame->function->name == names::backward) return true;
  }
  return false;
}

// Was it given to the function that runs?
bool Interpreter::is_parameter_of_frame(Value value) const {
  if (!frame_->function || !frame_->env) return false;
  const ir::Range params = frame_->function->params;
  for (std::uint32_t at = params.first; at < params.first + params.count; ++at) {
    const std::uint16_t slot = frame_->module->params[at].slot;
    if (slot < frame_->env->slots.size() && frame_->env->slots[slot] == value) return true;
  }
  return false;
}

// Null: as in Python.
Value Interpreter::call_cxx(const std::string& name, Arguments& arguments) {
  if (name.starts_with(project_functions)) return heap_.tensor(Origin::Intermediate);
  if (name == saved_data) {
    const Value kept = arguments.get(0, {});
    if (kept && kept->kind == Kind::Tensor && is_parameter_of_frame(kept)) {
      Event found = event(EventKind::SavedInput, arguments.span);
      found.subject = text(arguments.positional_spans.front());
      if (traced()) emit(std::move(found));
    }
    return heap_.none;
  }
  if (name.starts_with(cuda_runtime)) {
    const std::string_view function = std::string_view(name).substr(cuda_runtime.size());
    if (std::ranges::find(waiting, function) != waiting.end())
      report_recorded(EventKind::HostCopy, function, arguments, "waits");
    return heap_.unknown;
  }
  if (name == "torch.cuda.synchronize") {
    report_recorded(EventKind::HostCopy, name, arguments, "waits");
    return heap_.none;
  }
  if (name == "torch.autograd.grad" || name == "torch.autograd.backward") {
    if (!in_backward_pass()) return nullptr;
    report_recorded(EventKind::NestedBackward, name, arguments);
    return heap_.unknown;
  }
  return nullptr;
}

// One finding for a hook: the worst that is wrong with it.
void Interpreter::note_cxx_hook(TensorObject* tensor, const Arguments& arguments) {
  if (!traced()) return;
  const Value copies = arguments.keyword("copies");
  const bool holds_itself =
      copies && copies->kind == Kind::List &&
      std::ranges::find(as<SequenceObject>(copies)->items, tensor) != as<SequenceObject>(copies)->items.end();
  EventKind kind = EventKind::PersistentHook;
  if (arguments.keyword("refers")) {
    kind = EventKind::DanglingHook;
  } else if (holds_itself) {
    kind = EventKind::CyclicHook;
  } else if (!is_lasting(tensor)) {
    return;
  }
  Event hook = event(kind, arguments.span);
  hook.callee = "register_hook";
  hook.subject = receiver(arguments.span, "register_hook");
  emit(std::move(hook));
}

void Interpreter::note_cxx_method(TensorObject* tensor, std::string_view name, const Arguments& arguments) {
  if (name == "cpu" || (name == "to" && is_host(arguments.get(0, "device")))) {
    report_recorded(EventKind::HostCopy, name, arguments);
  } else if (name == "backward" && in_backward_pass()) {
    report_recorded(EventKind::NestedBackward, name, arguments);
  } else if (name == "register_hook") {
    note_cxx_hook(tensor, arguments);
  } else if (name == "requires_grad_" && tensor->origin == Origin::Intermediate &&
             tensor->requires_grad == Truth::Yes) {
    const Value given = arguments.get(0, "requires_grad");
    if (!traced() || !given || truth(given) != std::optional(false)) return;
    Event flag = event(EventKind::NonLeafFlag, arguments.span);
    flag.subject = receiver(arguments.span, name);
    emit(std::move(flag));
  }
}

}  // namespace fullgraph::trace
