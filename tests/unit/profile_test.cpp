// What the profile of torch 2.13.0 must know. The expected values were read off that torch itself: each group says how.
#include <doctest/doctest.h>

#include <algorithm>

#include "analyzer/profile/profile.h"

using namespace fullgraph;
using namespace fullgraph::profile;

namespace {

const Profile& torch(std::string_view version = "2.13.0") {
  const auto found = Profile::find(version);
  REQUIRE(found);
  return **found;
}

const Callable& callable(std::string_view name) {
  CAPTURE(name);
  const Callable* found = torch().callable(name);
  REQUIRE(found);
  return *found;
}

std::string_view breaks_with(std::string_view name) {
  return callable(name).gb_id;
}

}  // namespace

// `torch.nn.modules.linear.Linear is torch.nn.Linear`, and so on.
TEST_CASE("profile: an alias leads to the shortest public name") {
  CHECK(torch().canonical("torch.nn.modules.linear.Linear") == "torch.nn.Linear");
  CHECK(torch().canonical("torch.functional.einsum") == "torch.einsum");
  CHECK(torch().canonical("torch.nn.parameter.Parameter") == "torch.nn.Parameter");
  CHECK(torch().canonical("torch.autograd.grad_mode.no_grad") == "torch.no_grad");
  CHECK(torch().canonical("torch.amp.autocast_mode.autocast") == "torch.autocast");
  CHECK(torch().canonical("torch._C._nn.gelu") == "torch.nn.functional.gelu");
  CHECK(torch().canonical("torch._tensor.Tensor") == "torch.Tensor");
  CHECK(torch().canonical("torch.float") == "torch.float32");
  CHECK(torch().canonical("torch.nn.Linear") == "torch.nn.Linear");
  CHECK(torch().canonical("einops.rearrange") == "einops.rearrange");
  CHECK(torch().callable("torch.functional.einsum") == torch().callable("torch.einsum"));
}

// `issubclass(…, torch.nn.Module)`
TEST_CASE("profile: classes of modules") {
  CHECK(torch().is_module_class("torch.nn.Linear"));
  CHECK(torch().is_module_class("torch.nn.Module"));
  CHECK(torch().is_module_class("torch.nn.ModuleList"));
  CHECK(torch().is_module_class("torch.nn.TransformerEncoderLayer"));
  CHECK_FALSE(torch().is_module_class("torch.nn.Parameter"));
  CHECK_FALSE(torch().is_module_class("torch.nn.functional.linear"));
  // The type of `threading.Lock()` and of `tensor.untyped_storage()`; torch.optim.SGD's base; nothing for a function.
  CHECK(torch().instance_class("threading.Lock") == "_thread.LockType");
  CHECK(torch().instance_class("torch.Tensor.untyped_storage") == "torch.UntypedStorage");
  CHECK(torch().instance_class("torch.optim.SGD") == "torch.optim.Optimizer");
  CHECK(torch().instance_class("torch.relu").empty());
  // torch.Tag.inplace_view of aten::unsqueeze_, which aten::add_ has not
  CHECK(torch().callable("torch.Tensor.unsqueeze_")->inplace_view);
  CHECK_FALSE(torch().callable("torch.Tensor.add_")->inplace_view);
  CHECK(torch().knows_package("json"));
  CHECK_FALSE(torch().knows_package("jso"));
}

// A function that makes the call was compiled; the id is that of the first break reported.
TEST_CASE("profile: what a plain call breaks with") {
  CHECK(breaks_with("torch.Tensor.item") == "GB0124");
  CHECK(breaks_with("torch.Tensor.tolist") == "GB0109");  // of floats; GB0033 of integers
  CHECK(breaks_with("torch.Tensor.nonzero") == "GB0036");
  CHECK(breaks_with("torch.unique") == "GB0036");
  CHECK(breaks_with("torch.bincount") == "GB0036");
  CHECK(breaks_with("torch.equal") == "GB0033");
  CHECK(breaks_with("torch.allclose") == "GB0033");
  CHECK(breaks_with("torch.Tensor.retain_grad") == "GB0108");
  CHECK(breaks_with("torch.Tensor.backward") == "GB0123");
  CHECK(breaks_with("torch._dynamo.graph_break") == "GB0025");
  CHECK(breaks_with("time.time") == "GB0007");
  CHECK(breaks_with("warnings.warn") == "GB0007");
  CHECK(breaks_with("uuid.uuid4") == "GB0007");
  CHECK(breaks_with("logging.Logger.warning") == "GB0291");
  CHECK(breaks_with("builtins.print") == "GB0059");
  CHECK(breaks_with("builtins.open") == "GB0059");
}

TEST_CASE("profile: what a plain call does not break with") {
  for (const std::string_view name :
       {"torch.relu", "torch.nn.functional.softmax", "torch.Tensor.view", "torch.Tensor.shape", "torch.is_grad_enabled",
        "torch.Tensor.requires_grad_", "torch.nn.functional.dropout", "torch.Tensor.copy_", "math.sqrt", "os.getenv",
        "random.randint", "builtins.len", "torch.is_tensor", "torch.randn", "os.path.join", "torch.where",
        "torch.Tensor.masked_fill"}) {
    CAPTURE(name);
    CHECK(breaks_with(name).empty());
  }
}

// torch._dynamo.trace_rules.lookup, constant_fold_functions
TEST_CASE("profile: treatment") {
  CHECK(callable("torch.relu").treatment == Treatment::InGraph);
  CHECK(callable("torch.Tensor.add").treatment == Treatment::InGraph);
  CHECK(callable("torch.nn.functional.dropout").treatment == Treatment::InGraph);
  CHECK(callable("torch.is_grad_enabled").treatment == Treatment::Constant);
  CHECK(callable("torch.save").treatment == Treatment::Skipped);
  CHECK(callable("time.time").treatment == Treatment::Skipped);
  CHECK(callable("functools.reduce").treatment == Treatment::Inlined);
  CHECK(torch().callable("no.such.function") == nullptr);
}

// The stubs of torch/_C, or an eager call.
TEST_CASE("profile: what calls return") {
  CHECK(callable("torch.relu").returns == Returns::Tensor);
  CHECK(callable("torch.Tensor.dim").returns == Returns::Int);
  CHECK(callable("torch.Tensor.size").returns == Returns::Unknown);  // Size or int, by the arguments
  CHECK(callable("torch.Tensor.shape").returns == Returns::Size);
  CHECK(callable("torch.Tensor.dtype").returns == Returns::Dtype);
  CHECK(callable("torch.Tensor.device").returns == Returns::Device);
  CHECK(callable("torch.Tensor.is_floating_point").returns == Returns::Bool);
  CHECK(callable("torch.Tensor.topk").returns == Returns::Tensors);
  CHECK(callable("torch.Tensor.chunk").returns == Returns::TensorList);
  CHECK(callable("torch.max").returns == Returns::Unknown);  // a tensor, or values and indices
  CHECK(callable("torch.equal").returns == Returns::Bool);
  CHECK(callable("time.time").returns == Returns::Float);
  CHECK(callable("torch.float16").returns == Returns::Dtype);
}

// OpOverload.tags
TEST_CASE("profile: tags of the operators behind") {
  CHECK(callable("torch.Tensor.item").data_dependent_output);
  CHECK(callable("torch.equal").data_dependent_output);
  CHECK(callable("torch.nonzero").dynamic_output_shape);
  CHECK(callable("torch.unique").dynamic_output_shape);
  CHECK(callable("torch.masked_select").dynamic_output_shape);
  CHECK(callable("torch.nn.functional.dropout").nondeterministic_seeded);
  CHECK(callable("torch.rand").nondeterministic_seeded);
  CHECK_FALSE(callable("torch.relu").dynamic_output_shape);
  CHECK_FALSE(callable("torch.relu").data_dependent_output);
}

// torch/_dynamo/graph_break_registry.json has 517 entries; torch._dynamo.config
TEST_CASE("profile: registry and configuration") {
  CHECK(torch().graph_breaks().size() == 517);
  CHECK(std::ranges::is_sorted(torch().graph_breaks(), {}, &GraphBreak::id));
  const GraphBreak* entry = torch().graph_break("GB0206");
  REQUIRE(entry);
  CHECK(entry->type == "setattr() on Tensor.requires_grad");
  CHECK(torch().graph_break("GB9999") == nullptr);
  CHECK_FALSE(torch().config("capture_scalar_outputs"));
  CHECK_FALSE(torch().config("capture_dynamic_output_shape_ops"));
  CHECK(torch().config("trace_numpy"));
  CHECK(torch().config("skip_nnmodule_hook_guards"));
  CHECK_FALSE(torch().config("no_such_option"));
}

TEST_CASE("profile: versions without tables of their own") {
  CHECK(torch("2.11").version() == "2.11.0");
  CHECK(torch("2.13.0+cpu").version() == "2.13.0");
  CHECK(torch("2.14.0a0").version() == "2.14.0");
  CHECK(torch("2.14.0.dev20260101").version() == "2.14.0");
  CHECK(torch("2.11").callable("torch.relu") != nullptr);
  CHECK(&torch("2.11") == &torch("2.11.0"));
  CHECK_FALSE(Profile::find("latest"));
  CHECK_FALSE(Profile::find(""));
  CHECK_FALSE(Profile::find("2.x"));
  CHECK(std::ranges::find(Profile::versions(), "2.13.0") != Profile::versions().end());
}

TEST_CASE("profile: behaviour that came or went") {
  // broke to 2.11, traced since 2.12
  CHECK(torch("2.11.0").behaves("intermediate_requires_grad_call_breaks"));
  CHECK_FALSE(torch("2.12.0").behaves("intermediate_requires_grad_call_breaks"));
  // breaks from 2.7 on, ignored before
  CHECK_FALSE(torch("2.6.0").behaves("retain_grad_breaks"));
  CHECK(torch("2.13.0").behaves("retain_grad_breaks"));
  // 2.9 is older than 2.10
  CHECK_FALSE(torch("2.9.1").behaves("fullgraph_captures_scalars"));
  CHECK(torch("2.10").behaves("fullgraph_captures_scalars"));
  CHECK(torch("2.9.1").behaves("compile_ignored_under_selective_checkpoint"));
  CHECK_FALSE(torch("2.10").behaves("compile_ignored_under_selective_checkpoint"));
  CHECK(torch("2.10").behaves("intermediate_register_hook_breaks"));
  CHECK_FALSE(torch("2.11").behaves("intermediate_register_hook_breaks"));
  CHECK_FALSE(torch().behaves("no_such_feature"));
}

TEST_CASE("profile: address of a graph break's page") {
  CHECK(graph_break_url("GB0206") == "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0206.html");
}
