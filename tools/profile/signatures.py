"""What calls return and which tags the operators behind them carry, from torch's own type stubs and schemas."""
from __future__ import annotations

import ast
import collections
import os

import torch

TAGS = ("data_dependent_output", "dynamic_output_shape", "nondeterministic_seeded")


def kind(annotation: str | None) -> str:
    """A return annotation → the word of a profile for it ("" when it does not tell)."""
    if annotation is None:
        return ""
    text = annotation.replace(" ", "").replace("typing.", "").replace("builtins.", "")
    simple = {"Tensor": "tensor", "torch.Tensor": "tensor", "Self": "tensor", "_bool": "bool", "bool": "bool", "_int": "int",
              "int": "int", "_float": "float", "float": "float", "str": "string", "_str": "string", "Size": "size",
              "torch.Size": "size", "_size": "size", "_dtype": "dtype", "torch.dtype": "dtype", "dtype": "dtype",
              "_device": "device", "torch.device": "device", "device": "device", "None": "none"}
    if text in simple:
        return simple[text]
    if text in ("tuple[Tensor,...]", "list[Tensor]", "List[Tensor]", "Tuple[Tensor,...]", "tuple[torch.Tensor,...]"):
        return "tensor_list"
    if text.startswith(("tuple[Tensor", "Tuple[Tensor", "torch.return_types.", "return_types.")):
        return "tensors"
    return ""


def agreed(kinds: set[str]) -> str:
    """One kind, or "?" when the overloads do not agree (which no observation may then overrule)."""
    kinds = set(kinds)
    if not kinds:
        return ""
    return kinds.pop() if len(kinds) == 1 else "?"


class Stubs:
    """The return annotations of torch/_C's stub files by qualified name."""

    def __init__(self) -> None:
        self.returns: dict[str, str] = {}
        folder = os.path.join(os.path.dirname(torch.__file__), "_C")
        self.read(os.path.join(folder, "_VariableFunctions.pyi"), {"": "torch"})
        self.read(os.path.join(folder, "__init__.pyi"), {"": "torch._C", "TensorBase": "torch.Tensor"})
        self.read(os.path.join(folder, "_nn.pyi"), {"": "torch._C._nn"})

    def read(self, path: str, scopes: dict[str, str]) -> None:
        if not os.path.exists(path):
            return
        with open(path) as file:
            tree = ast.parse(file.read())
        found: dict[str, set[str]] = collections.defaultdict(set)
        bodies = [(scopes[""], tree.body)]
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                bodies.append((scopes.get(node.name, f"{scopes['']}.{node.name}"), node.body))
        for scope, body in bodies:
            for node in body:
                if isinstance(node, ast.FunctionDef):
                    annotation = ast.unparse(node.returns) if node.returns else None
                    found[f"{scope}.{node.name}"].add(kind(annotation))
                elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    found[f"{scope}.{node.target.id}"].add(kind(ast.unparse(node.annotation)))
        for name, kinds in found.items():
            self.returns[name] = agreed(kinds)


def annotated(value: object) -> str:
    """The return annotation of a Python function. A class returns itself, which no kind stands for."""
    if isinstance(value, type):
        return "?"
    annotations = getattr(value, "__annotations__", None)
    if not isinstance(annotations, dict) or "return" not in annotations:
        return ""
    result = annotations["return"]
    if result is None or result is type(None):
        return "none"
    text = result if isinstance(result, str) else getattr(result, "__name__", str(result))
    if not isinstance(result, (str, type)):
        text = str(result)
    return kind(text)


def observed(value: object) -> str:
    """What a plain call was seen to return."""
    if value is None:
        return "none"
    if isinstance(value, torch.Tensor):
        return "tensor"
    for type_, name in ((bool, "bool"), (int, "int"), (float, "float"), (str, "string"), (torch.Size, "size"),
                        (torch.dtype, "dtype"), (torch.device, "device")):
        if type(value) is type_:
            return name
    if isinstance(value, (tuple, list)) and value and all(isinstance(item, torch.Tensor) for item in value):
        return "tensors" if hasattr(value, "_fields") or type(value).__module__ == "torch.return_types" else "tensor_list"
    return ""


def operator_tags() -> dict[str, set[str]]:
    """Name of an aten operator → tags of the overloads that Python's argument parser chooses from."""
    tags: dict[str, set[str]] = collections.defaultdict(set)
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace != "aten" or "out" in schema.overload_name.split("_"):
            continue
        packet = getattr(torch.ops.aten, name, None)
        overload = getattr(packet, schema.overload_name or "default", None)
        for tag in getattr(overload, "tags", ()):
            text = str(tag).rpartition(".")[2]
            if text in TAGS:
                tags[name].add(text)
    return tags


def inplace_views() -> set[str]:
    """Tensor methods that Dynamo takes for changes of the tensor's own shape or storage: it asks the first overload."""
    found = set()
    for name in dir(torch.Tensor):
        packet = getattr(torch.ops.aten, name, None)
        if packet is not None and hasattr(packet, "overloads"):
            if torch.Tag.inplace_view in getattr(packet, packet.overloads()[0]).tags:
                found.add(f"torch.Tensor.{name}")
    return found


def operator_of(name: str) -> str:
    """The aten operator of the same name: torch.linalg.norm → linalg_norm, torch.Tensor.add_ → add_."""
    owner, _, plain = name.rpartition(".")
    prefix = {"torch.linalg": "linalg_", "torch.fft": "fft_", "torch.special": "special_"}.get(owner, "")
    return prefix + plain


def operator_returns() -> dict[str, str]:
    """Name of an aten operator → what its overloads agree to return."""
    kinds: dict[str, set[str]] = collections.defaultdict(set)
    words = {"Tensor": "tensor", "bool": "bool", "int": "int", "SymInt": "int", "float": "float", "str": "string",
             "List[Tensor]": "tensor_list", "Device": "device"}
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        types = [str(value.type) for value in schema.returns]
        if namespace != "aten" or "out" in schema.overload_name.split("_") or not any("Tensor" in str(value.type) for value in schema.arguments):
            continue
        if len(types) > 1:
            kinds[name].add("tensors" if set(types) == {"Tensor"} else "?")
        else:
            kinds[name].add(words.get(types[0], "?") if types else "none")
    return {name: agreed(found) for name, found in kinds.items()}
