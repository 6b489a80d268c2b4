// What C++ that is spelled as Python does beside what its Python does: libtorch is not compiled by anything that could
// give a call up and go on, so what waits for the device or throws is told as such.
#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/trace/interpreter.h"
#include "analyzer/trace/names.h"

namespace fullgraph::trace {

namespace {

constexpr std::string_view cuda_runtime = "torch.cuda.runtime.", project_functions = "torch.ops.cxx.",
                           operators = "torch.ops.", saved_data = "torch.ops.libtorch.saved_data",
                           kernel = "torch.ops.libtorch.kernel", capture = "torch.ops.libtorch.capture",
                           below_autograd = "torch.ops.libtorch.below_autograd";

// Of CUDA's runtime: what waits until the device has done what was asked for so far.
constexpr std::array<std::string_view, 6> waiting = {
    "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy", "cudaMalloc", "cudaFree"};

// Kernels by whom the dispatcher gives them to: those that autograd asks; those that a trace or a CUDA graph runs.
// What runs on CPUs alone may look at its tensors.
bool is_for_autograd(std::string_view key) {
  return key == "Autograd";  // of all devices
}
bool is_device(std::string_view key) {
  return key == "CPU" || key == "CUDA";
}
bool is_captured(std::string_view key) {
  return key.empty() || key == "CUDA" || key == "Meta" || key.starts_with("Composite");
}

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

// Python:  @torch.ops.libtorch.kernel("mine::twice", "CUDA")
//          def twice_cuda(x): …
Value Interpreter::mark_kernel(const Arguments& arguments) {
  if (arguments.positional.size() < 3) {
    auto* decorator = heap_.make<PartialObject>(external(std::string(kernel)));
    decorator->arguments = arguments.positional;
    return decorator;
  }
  const Value name = arguments.positional[0], key = arguments.positional[1], function = arguments.positional[2];
  if (function->kind != Kind::Function || name->kind != Kind::Str || key->kind != Kind::Str) return function;
  auto* marked = heap_.make<CompiledObject>(function);
  marked->kernel_of = as<StrObject>(name)->value;
  marked->kernel_key = as<StrObject>(key)->value;
  return marked;
}

Value Interpreter::call_kernel(CompiledObject* marked, Arguments& arguments) {
  const bool for_autograd = is_for_autograd(marked->kernel_key);
  std::string& running = for_autograd ? autograd_kernel_ : device_kernel_;
  const std::string outer = running;
  if (for_autograd || is_device(marked->kernel_key)) running = marked->kernel_of;
  const Region region = std::exchange(region_, Region::Kernel);
  Value result = is_captured(marked->kernel_key) ? call_region(marked, arguments) : call(marked->target, arguments);
  region_ = region;
  running = outer;
  return result;
}

// The autograd function that a kernel applies.
void Interpreter::note_cxx_function(const ClassObject* cls, const Arguments& arguments) {
  if (device_kernel_.empty()) return;
  Event found = event(EventKind::HiddenAutograd, arguments.span);
  found.callee = device_kernel_;
  found.subject = cls->name;
  emit(std::move(found));
}

// Python:  with torch.ops.libtorch.capture(): …
// What is in it is a root of its own, in the middle of a function that is none.
Flows Interpreter::run_captured(const ir::Stmt& with, std::size_t item) {
  if (frame_->region) return run_with(with, item + 1);
  const bool boundary = std::exchange(frame_->boundary, true);
  frame_->region = true;
  frame_->traced = heap_.flag(true);
  const Region region = std::exchange(region_, Region::Capture);
  const std::string root = std::exchange(root_, frame_->module->name + "." + std::string(frame_->name));
  const Flows flows = run_with(with, item + 1);
  frame_->region = false;
  frame_->boundary = boundary;
  frame_->traced = nullptr;
  region_ = region;
  root_ = root;
  return flows;
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
  if (name == kernel) return mark_kernel(arguments);
  if (name == capture) return heap_.make<ContextObject>("capture");
  if (name == below_autograd) return heap_.make<ContextObject>("below_autograd");
  if (name.starts_with(operators)) {
    std::string called = name.substr(operators.size());
    if (const std::size_t dot = called.find('.'); dot != std::string::npos) called.replace(dot, 1, "::");
    if (called == autograd_kernel_) {
      Event found = event(EventKind::OperatorCallsItself, arguments.span);
      found.callee = called;
      if (found.condition.empty()) emit(std::move(found));  // else it may come to an end
    }
    return heap_.tensor(Origin::Intermediate);
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
  } else if (name == "retain_grad") {
    // Of a leaf it does nothing; where gradients are certainly on, or something was asked before, there may well be
    // one.
    const bool computed =
        tensor->origin == Origin::Intermediate && tensor->own_mark == UINT32_MAX && !truth(grad_mode_);
    Event found = event(EventKind::RetainedGradient, arguments.span);
    found.subject = receiver(arguments.span, name);
    if (computed && traced() && region_ == Region::Model && found.condition.empty()) emit(std::move(found));
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
