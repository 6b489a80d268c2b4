"""What calls return, from the stubs that torch ships and the schemas of its operators, and the operators' tags."""
from __future__ import annotations

import ast
import collections
import functools
import inspect
import typing
from pathlib import Path

import torch

STUBS = {  # namespace of the names: the stub, and the class in it when it is not the module itself
    "torch": (("_C/_VariableFunctions.pyi", None), ("_C/__init__.pyi", None)),
    "torch.nn.functional": (("_C/_nn.pyi", None), ("nn/functional.pyi", None)),
    "torch.linalg": (("_C/_linalg.pyi", None),),
    "torch.special": (("_C/_special.pyi", None),),
    "torch.fft": (("_C/_fft.pyi", None),),
    "torch.Tensor": (("_C/__init__.pyi", "TensorBase"),),
}
PLAIN = {
    "Tensor": "tensor", "Self": "tensor", "_bool": "bool", "bool": "bool", "_int": "int", "int": "int",
    "_float": "float", "float": "float", "str": "string", "Size": "size", "_dtype": "dtype", "dtype": "dtype",
    "_device": "device", "device": "device", "None": "none", "_symint": "int", "SymInt": "int",
    "Sequence[Tensor]": "tensor_list", "list[Tensor]": "tensor_list", "tuple[Tensor, ...]": "tensor_list",
}
SCHEMA = {"Tensor": "tensor", "bool": "bool", "int": "int", "SymInt": "int", "float": "float", "str": "string",
          "List[Tensor]": "tensor_list", "Device": "device"}
# What the stubs leave out or call an `Any`.
PROPERTIES = {"torch.Tensor.shape": "size", "torch.Tensor.grad": "unknown", "torch.Tensor.H": "tensor"}
SEPARATE = ("torch.special.", "torch.linalg.", "torch.fft.")


def kind(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    if annotation is None or annotation is type(None):
        return "none"
    if not isinstance(annotation, str) and typing.get_origin(annotation):
        text = str(annotation)
    text = text.replace("torch.types.", "").replace("torch._C.", "")
    if "return_types." in text:
        return "tensors"
    text = text.replace("torch.", "").replace("typing.", "")
    if text in PLAIN:
        return PLAIN[text]
    if text.lower().startswith("tuple[") and set(text[6:-1].replace(" ", "").split(",")) == {"Tensor"}:
        return "tensors"
    return "unknown"


def agreed(kinds: typing.Iterable[str]) -> str:
    found = set(kinds)
    return found.pop() if len(found) == 1 else "unknown"


@functools.cache
def stubs() -> dict[str, str]:
    """Name → kind of what it returns, for the names whose overloads agree."""
    kinds: dict[str, set[str]] = collections.defaultdict(set)
    for namespace, files in STUBS.items():
        for file, cls in files:
            path = Path(torch.__file__).parent / file
            if not path.exists():
                continue
            body = ast.parse(path.read_text()).body
            if cls:
                body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == cls)
            for node in body:
                if isinstance(node, ast.FunctionDef) and node.returns:
                    kinds[f"{namespace}.{node.name}"].add(kind(ast.unparse(node.returns)))
                elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and cls:
                    kinds[f"{namespace}.{node.target.id}"].add(kind(ast.unparse(node.annotation)))
    return {name: agreed(found) for name, found in kinds.items()}


def operator(name: str) -> str | None:
    """The aten operator behind a public name."""
    plain = name.rpartition(".")[2]
    for prefix in SEPARATE:
        if name.startswith(prefix):
            plain = f"{prefix.split('.')[1]}_{plain}"
    is_method = name.startswith("torch.Tensor.")
    if not is_method and name.count(".") > 1 and not name.startswith(("torch.nn.functional.", *SEPARATE)):
        return None
    if is_method and plain.startswith("__") and plain.endswith("__"):
        return None
    return plain if isinstance(getattr(torch.ops.aten, plain, None), torch._ops.OpOverloadPacket) else None


def overloads(name: str) -> list[torch._ops.OpOverload]:
    """Those that a call of the public name can reach with tensors."""
    plain = operator(name)
    if plain is None:
        return []
    packet = getattr(torch.ops.aten, plain)
    found = [getattr(packet, overload) for overload in packet.overloads()]
    named = ("names", "dimname", "out")
    return [op for op in found if not any(word in op._overloadname for word in named) and "Tensor" in str(op._schema)]


def returns(name: str, obj: object) -> str:
    if name in PROPERTIES:
        return PROPERTIES[name]
    if isinstance(obj, torch.dtype):
        return "dtype"
    if isinstance(obj, type):
        return "unknown"
    by_stub = stubs().get(name, "unknown")
    if by_stub != "unknown":
        return by_stub
    if inspect.isfunction(obj) and (annotation := annotated(obj)) != "unknown":
        return annotation
    if name in stubs():  # overloads differ, and Python decides between them as the operator does
        return "unknown"
    kinds = []
    for op in overloads(name):
        types = [str(value.type) for value in op._schema.returns]
        if len(types) > 1:
            kinds.append("tensors" if set(types) == {"Tensor"} else "unknown")
        else:
            kinds.append(SCHEMA.get(types[0], "unknown") if types else "none")
    return agreed(kinds)


def annotated(function: object) -> str:
    if "return" not in getattr(function, "__annotations__", {}):
        return "unknown"
    return kind(function.__annotations__["return"])


TAGS = (("d", "data_dependent_output"), ("s", "dynamic_output_shape"), ("r", "nondeterministic_seeded"))


def flags(name: str) -> str:
    """One letter for each tag that an overload carries."""
    tags = {tag.name for op in overloads(name) for tag in op.tags}
    return "".join(letter for letter, tag in TAGS if tag in tags)


def foreign_returns(name: str) -> str:
    """Of a name outside torch: not known from any signature; the models of the tracer know the usual ones."""
    return "unknown"
