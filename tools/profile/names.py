"""The public names of torch: which there are, which are the same thing, and what Dynamo's rules say about them."""
from __future__ import annotations

import importlib
import inspect
import sys
import types
from dataclasses import dataclass, field

import torch
import torch._dynamo.trace_rules as trace_rules
from torch._dynamo import variables
from torch._dynamo.variables import torch as torch_variables

# Names are collected from these and from the packages' own submodules that importing them loads.
NAMESPACES = """
torch torch.nn torch.nn.functional torch.nn.init torch.nn.parameter torch.nn.parallel torch.nn.utils torch.nn.attention
torch.nn.attention.flex_attention torch.nn.utils.rnn torch.nn.utils.parametrize torch.nn.utils.parametrizations
torch.nn.utils.stateless torch.nn.modules.module torch.linalg torch.fft torch.special torch.signal.windows torch.cuda
torch.cuda.amp torch.cuda.nvtx torch.cuda.random torch.cpu torch.cpu.amp torch.xpu torch.mps torch.mtia
torch.accelerator torch.distributed torch.distributed.nn.functional torch.distributed._functional_collectives
torch.distributed.tensor torch.distributed.fsdp torch.distributed.tensor.parallel
torch.distributed.algorithms._checkpoint.checkpoint_wrapper torch.autograd torch.autograd.function torch.autograd.graph
torch.autograd.profiler torch.autograd.functional torch.autograd.forward_ad torch.autograd.grad_mode
torch.autograd.anomaly_mode torch.utils torch.utils.checkpoint torch.utils.data torch.utils.hooks torch.utils._pytree
torch.utils.dlpack torch.utils.model_zoo torch.utils.tensorboard torch.compiler torch.jit torch._dynamo torch.amp
torch.random torch.backends torch.backends.cuda torch.backends.cudnn torch.backends.mps torch.backends.mkldnn
torch.backends.openmp torch.backends.opt_einsum torch.func torch.profiler torch.overrides torch.testing torch.export
torch.sparse torch.nested torch.masked torch.optim torch.optim.lr_scheduler torch.optim.swa_utils torch.distributions
torch.serialization torch.storage torch.library torch.fx torch.fx.experimental.symbolic_shapes torch.hub
torch.multiprocessing torch.package torch.futures torch.monitor torch._C._nn torch.functional
""".split()

# Their names are no part of what a program writes, and doubling every public name would fill the file.
INTERNAL = (
    "torch._inductor torch._refs torch._decomp torch._prims torch._prims_common torch._functorch torch._higher_order_ops "
    "torch.testing._internal torch.ao torch.onnx torch._export torch._subclasses torch._library torch._logging "
    "torch._vendor torch._numpy torch._custom_op torch._custom_ops torch._lazy torch._dispatch torch._strobelight "
    "torch._meta_registrations torch.fx.passes torch.utils._sympy torch.masked.maskedtensor torch._guards torch._sources "
    "torch._utils_internal torch._awaits torch._classes torch._ops torch._dynamo.variables torch._dynamo.polyfills "
    "torch._jit_internal torch.utils.benchmark torch.utils.collect_env torch.utils.data.datapipes torch.quantization torch.nn.intrinsic "
    "torch.nn.quantized torch.nn.quantizable torch.nn.qat torch.package torch.utils.bundled_inputs torch.return_types torch.fx.experimental.unification "
    "torch.fx.experimental.proxy_tensor torch.fx.experimental.sym_node torch.fx.experimental.migrate_gradual_types torch.ops torch.classes torch._compile"
).split()

METHODS_OF = {"torch.nn.Module": torch.nn.Module, "torch.Generator": torch.Generator, "torch.Size": torch.Size}


@dataclass
class Names:
    callables: dict[str, object] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)


def internal(name: str) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in INTERNAL)


def is_callable(obj: object) -> bool:
    return isinstance(obj, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)) or (
        callable(obj) and type(obj).__name__ in ("OpOverloadPacket", "_lru_cache_wrapper")
    )


def from_torch(obj: object, namespace: str) -> bool:
    module = getattr(obj, "__module__", None)
    if module is None or not isinstance(module, str):
        return namespace.startswith("torch") and type(obj) is not type
    return module.split(".")[0] == "torch"


def rank(name: str) -> tuple[int, int, int, str]:
    """Lower is more canonical: public, then short."""
    parts = name.split(".")
    return sum(part.startswith("_") for part in parts), len(parts), len(name), name


def exported(name: str, obj: object) -> bool:
    """Is the name meant for users, and not an import for the module's own use?"""
    namespace, _, attribute = name.rpartition(".")
    home = getattr(obj, "__module__", None) or "torch._C"
    if home.startswith("torch._C"):  # written in C++: belongs to every module that offers it
        return True
    listed = attribute in getattr(sys.modules[namespace], "__all__", ())
    return listed or home == namespace or home.startswith(namespace + ".")


def collect() -> Names:
    for namespace in NAMESPACES:
        try:
            importlib.import_module(namespace)
        except ImportError:  # it needs a package or a build that is not there
            pass
    places: dict[int, list[str]] = {}
    objects: dict[int, object] = {}
    for namespace, module in sorted(sys.modules.items()):
        if namespace.split(".")[0] != "torch" or internal(namespace) or not isinstance(module, types.ModuleType):
            continue
        for attribute, obj in vars(module).items():
            if attribute.startswith("__") or not is_callable(obj) or not from_torch(obj, namespace):
                continue
            objects[id(obj)] = obj
            places.setdefault(id(obj), []).append(f"{namespace}.{attribute}")
    found = Names()
    for key, where in places.items():
        obj = objects[key]
        canonical, *others = sorted(where, key=lambda name: (not exported(name, obj), rank(name)))
        # A name that every path to it calls internal is kept where a program is known to write it.
        if rank(canonical)[0] and canonical.rpartition(".")[0] not in NAMESPACES:
            continue
        found.callables[canonical] = obj
        if isinstance(obj, type) and issubclass(obj, torch.nn.Module) and obj is not torch.nn.Module:
            found.modules.append(canonical)
        defined = f"{getattr(obj, '__module__', None)}.{getattr(obj, '__qualname__', None)}"
        for other in others:
            if other == defined or other.rpartition(".")[0] in NAMESPACES or exported(other, obj):
                found.aliases[other] = canonical
    for name, cls in METHODS_OF.items():
        for attribute in dir(cls):
            if not attribute.startswith("__"):
                found.callables[f"{name}.{attribute}"] = inspect.getattr_static(cls, attribute)
    for attribute in dir(torch.Tensor):
        found.callables[f"torch.Tensor.{attribute}"] = inspect.getattr_static(torch.Tensor, attribute)
    for attribute, value in vars(torch).items():
        if isinstance(value, torch.dtype):
            found.callables[f"torch.{attribute}"] = value
    return found


def constants() -> set[object]:
    """Functions that Dynamo evaluates while tracing."""
    found: set[object] = set()
    for table in ("constant_fold_functions", "constant_fold_functions_need_guards", "tracing_state_functions"):
        value = getattr(torch_variables, table, ())
        found.update(value() if callable(value) else value)
    return found


CONSTANTS = constants()


def treatment(name: str, obj: object) -> str:
    if name.startswith("torch.Tensor."):
        return "inlined" if isinstance(obj, types.FunctionType) else "in_graph"
    if isinstance(obj, torch.dtype):
        return "constant"
    return rule(obj)


def rule(obj: object) -> str:
    """What trace_rules says about an object."""
    try:
        if obj in CONSTANTS:
            return "constant"
        found = trace_rules.lookup(obj)
    except Exception:  # lookups of unusual objects fail in ways that differ between versions
        return "unknown"
    if found is None:
        return "unknown"
    if issubclass(found, variables.SkipFunctionVariable):
        return "skipped"
    if issubclass(found, variables.UserFunctionVariable):
        return "inlined"
    return "in_graph" if "torch" in found.__name__.lower() else "unknown"


def resolve(name: str) -> object:
    """The object of a dotted name; None when there is none."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            obj = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            obj = getattr(obj, part, None)
        return obj
    return None


def foreign_treatment(name: str) -> str:
    obj = resolve(name)
    return "unknown" if obj is None else rule(obj)
