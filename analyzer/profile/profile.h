// What one version of PyTorch traces, breaks on and returns: data, generated from an installed torch by
// tools/profile/generate.py and compiled into the program as sorted tables (no work at start-up).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/ir/error.h"

namespace fullgraph::profile {

// What Dynamo does with a call, by default (`torch._dynamo.trace_rules`, operator tags, registry).
enum class Treatment : std::uint8_t {
  Unknown,   // not in the profile
  InGraph,   // recorded as an operator
  Inlined,   // its Python source is traced
  Constant,  // evaluated while tracing (torch.is_grad_enabled, torch.get_default_dtype, …)
  Skipped,   // not traced: a graph break at the call (GB0007)
};

// What a call returns in eager mode, as far as signatures tell.
enum class Returns : std::uint8_t {
  Unknown,
  Tensor,
  Tensors,
  TensorList,
  Bool,
  Int,
  Float,
  String,
  Size,
  Dtype,
  Device,
  None
};

struct Callable {
  std::string_view name;  // canonical qualified name: "torch.relu", "torch.nn.functional.relu", "torch.Tensor.item"
  Treatment treatment = Treatment::Unknown;
  Returns returns = Returns::Unknown;
  bool data_dependent_output : 1 = false;  // tag of the aten operator behind it: reads values on the host
  bool dynamic_output_shape : 1 = false;   // its result's shape depends on values
  bool nondeterministic_seeded : 1 = false;
  bool inplace_view : 1 = false;  // a tensor's method that changes its own shape or storage
  std::string_view gb_id;         // "GB0007": what Dynamo reports on a plain call; empty when it does not break
                                  // or when that depends on the arguments
};

// An entry of torch/_dynamo/graph_break_registry.json.
struct GraphBreak {
  std::string_view id;    // "GB0206"
  std::string_view type;  // "setattr() on Tensor.requires_grad"
  std::string_view explanation;
};

// What a look at the source can tell of a graph break (profiles/graph_breaks.tsv).
enum class Visibility : std::uint8_t {
  Unknown,  // not in the list
  Source,   // seen by names and syntax
  Types,    // seen where it is known what a value is
  Runtime,  // not seen
  Config,   // only under options that are off by default
  Invalid,  // eager Python refuses the same
  Retired,  // no source of this torch raises it
};

struct Data;  // the tables of one version

class Profile {
 public:
  // The profile of exactly this version or, for a version without one of its own, the tables of the nearest older one,
  // else of the oldest: version() and behaves() are those of the version asked for. The pointer stays valid for good.
  // Errors: text that is not a version.
  static Result<const Profile*> find(std::string_view version);
  // Those that have tables of their own, the oldest first.
  static std::span<const std::string_view> versions();

  // The version asked for, with three numbers: "2.11" is "2.11.0", "2.13.0+cpu" is "2.13.0".
  [[nodiscard]] std::string_view version() const { return version_; }
  // Looks a name up after resolving aliases; null when the profile does not know it.
  [[nodiscard]] const Callable* callable(std::string_view qualified_name) const;
  // "torch.nn.modules.linear.Linear" → "torch.nn.Linear"; the name itself when it is canonical or not known.
  [[nodiscard]] std::string_view canonical(std::string_view qualified_name) const;
  // Is this the canonical name of a subclass of torch.nn.Module?
  [[nodiscard]] bool is_module_class(std::string_view qualified_name) const;
  // The class of the object that a call of this canonical name makes, where the profile has that class's methods as
  // callables ("io.BytesIO" → "io.BytesIO", "torch.optim.SGD" → "torch.optim.Optimizer"); empty for all others.
  [[nodiscard]] std::string_view instance_class(std::string_view qualified_name) const;
  // Does the profile describe anything of this top-level package, as it does of the standard library's and NumPy's?
  [[nodiscard]] bool knows_package(std::string_view name) const;
  [[nodiscard]] const GraphBreak* graph_break(std::string_view id) const;
  [[nodiscard]] std::span<const GraphBreak> graph_breaks() const;
  static Visibility visibility(std::string_view id);
  // torch._dynamo.config default of a boolean option; false when not known.
  [[nodiscard]] bool config(std::string_view option) const;
  // Does this version of torch show a behaviour that came or went with a version? False for a feature that is not in
  // profiles/version_facts.tsv. Tables of another version (see find) are not corrected by these, so ask before a rule
  // reports one of them:
  //   intermediate_requires_grad_call_breaks  requires_grad_() on an intermediate is GB0125 (traced since 2.12)
  //   leaked_requires_grad_breaks             it is GB8985 when the leaf reaches an output (since 2.12)
  //   input_requires_grad_call_breaks, requires_grad_assignment_breaks, factory_requires_grad_breaks   (since 2.2)
  //   intermediate_register_hook_breaks       Tensor.register_hook on an intermediate is GB0029 (traced since 2.11)
  //   retain_grad_breaks                      Tensor.retain_grad() is GB0108 (silently ignored before 2.7)
  //   module_backward_hook_breaks             a hooked module's call is GB0083 (since 2.4)
  //   module_backward_hook_dropped            such hooks are silently lost (before 2.3)
  //   tensor_assert_breaks                    `assert tensor` breaks (traced since 2.13)
  //   tensor_equals_none_breaks               `tensor == None` breaks (before 2.6)
  //   tolist_breaks                           Tensor.tolist() breaks as item() does (since 2.10)
  //   fullgraph_captures_scalars, fullgraph_captures_dynamic_shapes   item(), nonzero(), … pass under fullgraph=True
  //                                           (since 2.10)
  //   compile_ignored_under_selective_checkpoint   compiled code runs eagerly there (before 2.10)
  //   wrap_inductor_compiled_regions          the option that lets a checkpoint policy see regions (since 2.10)
  //   checkpoint_side_effect_config, class_statement_config, trace_autograd_ops_config   options that lift a break
  //   fullgraph_disabled_compiler_raises, graph_break_registry, inspect_traced, torchscript_deprecated
  [[nodiscard]] bool behaves(std::string_view feature) const;

 private:
  Profile(const Data& data, std::string version) : data_(&data), version_(std::move(version)) {}

  const Data* data_;
  std::string version_;
};

// Dynamo's page about a registry id ("GB0206" → "https://…/gb/gb0206.html").
std::string graph_break_url(std::string_view id);

}  // namespace fullgraph::profile
