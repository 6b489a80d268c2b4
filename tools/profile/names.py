"""Which names a profile is about, and which of an object's names is its canonical one.

One function of torch is reachable under many names (torch.nn.modules.linear.Linear, torch.nn.modules.Linear,
torch.nn.Linear). The shortest public one is canonical; the others become aliases, so that the analyser may look at any
spelling that it meets in source.
"""
from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
import types
import warnings

# Namespaces whose public members are described. A trailing ".*" takes the submodules with public names as well.
NAMESPACES = """
torch torch.nn.* torch.autograd.* torch.amp.* torch.backends.* torch.compiler torch.cpu.* torch.cuda.* torch.distributed
torch.distributed.nn.* torch.distributed.tensor.* torch.distributed.fsdp torch.distributed._functional_collectives
torch.distributed.algorithms._checkpoint.checkpoint_wrapper
torch.distributed.device_mesh torch.distributed.distributed_c10d torch.distributions.* torch.export torch.fft torch.func torch.functional
torch.futures torch.fx torch.hub torch.jit torch.library torch.linalg torch.masked.* torch.mps.* torch.mtia.* torch.multiprocessing
torch.nested torch.onnx torch.optim.* torch.overrides torch.package torch.profiler torch.random torch.return_types
torch.serialization torch.signal.* torch.sparse torch.special torch.storage torch.testing torch.types torch.utils.checkpoint
torch.utils.cpp_extension torch.utils.data torch.utils.dlpack torch.utils.hooks torch.utils.benchmark torch.utils._pytree
torch.utils.weak torch.utils.mobile_optimizer torch.utils torch.xpu.* torch._dynamo torch._VF torch._C torch._C._nn torch._C._fft
torch._C._linalg torch._C._special torch._C._sparse torch._C._nested torch._tensor torch._higher_order_ops torch._jit_internal
torch._lowrank torch._utils torch.accelerator
""".split()

# Members that are described as well: methods of the classes whose instances model code holds.
CLASSES = """
torch.nn.Module torch.nn.Parameter torch.nn.ModuleList torch.nn.ModuleDict torch.nn.Sequential torch.nn.ParameterList
torch.nn.ParameterDict torch.Generator torch.Size torch.device torch.dtype torch.finfo torch.iinfo torch.Stream torch.Event
torch.cuda.Stream torch.cuda.Event torch.cuda.CUDAGraph torch.autograd.Function torch.autograd.function.FunctionCtx
torch.optim.Optimizer torch.UntypedStorage torch.distributed.ProcessGroup torch.distributed.Work
torch.distributed.device_mesh.DeviceMesh torch.nn.utils.rnn.PackedSequence torch.utils.hooks.RemovableHandle
""".split()

DERIVED = ("torch.nn.Parameter", "torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.Sequential", "torch.nn.ParameterList",
           "torch.nn.ParameterDict", "torch.Size", "torch.nn.utils.rnn.PackedSequence", "torch.autograd.Function")

# Parts of a namespace that need what a plain installation lacks, or that are about tests.
LEFT_OUT = ("torch.distributed.elastic", "torch.distributed.rpc", "torch.testing._internal", "torch.nn.quantized",
            "torch.nn.intrinsic", "torch.nn.qat", "torch.nn.quantizable", "torch.backends._coreml", "torch.nn.cpp",
            "torch.distributed.tensor.examples", "torch.utils.tensorboard", "torch.distributed.tensor.debug",
            "torch.distributed.tensor.experimental", "torch.backends.xeon", "torch.autograd.profiler_legacy")


def is_public(name: str) -> bool:
    return not any(part.startswith("_") for part in name.split("."))


def namespaces() -> list[str]:
    """The importable ones of NAMESPACES, in order."""
    found: dict[str, None] = {}
    for entry in NAMESPACES:
        base = entry.removesuffix(".*")
        module = load(base)
        if module is None:
            continue
        found[base] = None
        if entry.endswith(".*") and hasattr(module, "__path__"):
            for info in pkgutil.walk_packages(module.__path__, base + ".", onerror=lambda name: None):
                if info.name.startswith(LEFT_OUT) or any(p.startswith("_") for p in info.name[len(base):].split(".") if p):
                    continue
                if load(info.name) is not None:
                    found[info.name] = None
    return list(found)


def load(name: str) -> types.ModuleType | None:
    if name.startswith(LEFT_OUT):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except Exception:
            return None


def belongs_to_torch(value: object) -> bool:
    """Is this torch's own, not something that a module of torch imported for itself?"""
    module = getattr(value, "__module__", None)
    if isinstance(value, (types.BuiltinFunctionType, types.BuiltinMethodType)) and not module:
        owner = getattr(value, "__self__", None)
        return isinstance(owner, type) and owner.__module__.startswith("torch") or owner is None
    return isinstance(module, str) and (module == "torch" or module.startswith("torch."))


USED_ALL_THE_SAME = {"_pytree", "_functional_collectives", "_checkpoint"}
# Not exported by their home, but by nothing else either.
PREFERRED = {"torch.overrides.has_torch_function_unary", "torch.overrides.has_torch_function_variadic"}


def unlisted(name: str) -> bool:
    """Does the module say what it exports, and not name this one?"""
    namespace, _, attribute = name.rpartition(".")
    exported = getattr(sys.modules.get(namespace), "__all__", None)
    return namespace != "torch" and exported is not None and attribute not in exported


def rank(name: str) -> tuple:
    """Lower is more canonical: public, exported, short."""
    parts = name.split(".")
    private = sum(part.startswith("_") and part not in USED_ALL_THE_SAME for part in parts)
    hidden = private + 0.9 * (unlisted(name) and name not in PREFERRED)
    # They only repeat what is public elsewhere.
    secondary = name.startswith(("torch.types.", "torch.return_types.", "torch.storage."))
    return (hidden, secondary, len(parts), len(name), name)


def resolve(name: str) -> object | None:
    """The object behind a dotted name, importing nothing."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        module = sys.modules.get(".".join(parts[:length]))
        if module is None:
            continue
        value: object = module
        for part in parts[length:]:
            try:
                value = inspect.getattr_static(value, part) if isinstance(value, type) else getattr(value, part)
            except Exception:
                return None
        return value
    return None


class Names:
    """The objects of torch under their canonical names, and the other names of each."""

    def __init__(self) -> None:
        self.objects: dict[str, object] = {}
        self.aliases: dict[str, str] = {}
        known: dict[int, tuple[object, set[str]]] = {}
        for module_name in namespaces():
            module = sys.modules[module_name]
            for attribute in sorted(vars(module)):
                if attribute.startswith("__"):
                    continue
                value = vars(module)[attribute]
                if not callable(value) or isinstance(value, types.ModuleType) or not belongs_to_torch(value):
                    continue
                known.setdefault(id(value), (value, set()))[1].add(f"{module_name}.{attribute}")
        for value, names in known.values():
            home = f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', None)}"
            if home.startswith("torch.") and resolve(home) is value:
                names.add(home)
            canonical = min(names, key=rank)
            # What has no public name at all is of no use in a profile, but for the few that model code does import.
            if not is_public(canonical) and not canonical.startswith(
                    ("torch._dynamo.", "torch.utils._pytree.", "torch._C._nn.", "torch.distributed._functional_collectives.",
                     "torch.distributed.algorithms._checkpoint.", "torch._assert", "torch._check", "torch._foreach", "torch._higher_order_ops.",
                     "torch._softmax", "torch._weight_norm", "torch._C._nested", "torch._VF.")):
                continue
            if canonical.rsplit(".", 1)[1].startswith("_") and canonical.count(".") > 1:
                continue
            self.objects[canonical] = value
            for name in names - {canonical}:
                self.aliases[name] = canonical
        for class_name in CLASSES:
            self.add_members(class_name)
        self.add_members("torch.Tensor", dunders=True)
        for name in list(self.aliases):
            if name in self.objects:
                del self.aliases[name]

    def add_members(self, class_name: str, dunders: bool = False) -> None:
        cls = resolve(class_name)
        if not isinstance(cls, type):
            return
        for attribute in sorted(dir(cls)):
            if class_name in DERIVED and attribute not in vars(cls):
                continue  # as in the class that it derives from
            if attribute.startswith("_") and not (dunders and attribute.startswith("__") and not hasattr(object, attribute)):
                continue
            value = inspect.getattr_static(cls, attribute)
            if isinstance(value, (staticmethod, classmethod)):
                value = getattr(cls, attribute)
            if callable(value) or is_property(value):
                self.objects[f"{class_name}.{attribute}"] = value


def is_property(value: object) -> bool:
    return isinstance(value, (property, types.GetSetDescriptorType, types.MemberDescriptorType))


def module_classes(names: Names) -> list[str]:
    import torch

    return sorted(name for name, value in names.objects.items()
                  if name.startswith("torch.nn.") and isinstance(value, type) and issubclass(value, torch.nn.Module))


def dtypes() -> dict[str, str]:
    """Every name of a dtype → its canonical one ("torch.float" → "torch.float32")."""
    import torch

    return {f"torch.{name}": str(value) for name, value in sorted(vars(torch).items()) if isinstance(value, torch.dtype)}
