"""Outputs and gradients by name, and how two sets of them differ.

Tolerances are those of `torch.testing.assert_close`: by dtype, relative to the expected value.
"""
from __future__ import annotations

import dataclasses
from typing import Any

_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
               "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}
Tensors = dict[str, Any]


def named_tensors(value, name: str = "output", seen: set[int] | None = None) -> Tensors:
    """The tensors of an output, through containers and dataclasses: {"output.logits": …, "output[0]": …}"""
    import torch

    seen = set() if seen is None else seen
    if id(value) in seen:
        return {}
    seen.add(id(value))
    if isinstance(value, torch.Tensor):
        return {name: whole(value.detach()).clone()}
    if isinstance(value, dict):
        items = [(f"{name}.{key}", item) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        items = [(f"{name}[{number}]", item) for number, item in enumerate(value)]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        items = [(f"{name}.{field.name}", getattr(value, field.name, None)) for field in dataclasses.fields(value)]
    else:
        return {}
    out: Tensors = {}
    for key, item in items:
        out |= named_tensors(item, key, seen)
    return out


def whole(tensor):
    """What a distributed tensor stands for; any other is what it is."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def tolerances(dtype) -> tuple[float, float]:
    """(relative, absolute)"""
    return _TOLERANCES.get(str(dtype).removeprefix("torch."), (0.0, 0.0))


def _difference(expected, actual) -> dict[str, Any]:
    """`equality`, and where it is about values the largest difference with what was allowed there."""
    import torch

    if expected.shape != actual.shape or expected.dtype != actual.dtype or expected.layout != actual.layout:
        return {"equality": "shape"}
    if expected.layout != torch.strided or expected.is_quantized:
        expected, actual = (t.dequantize() if t.is_quantized else t.to_dense() for t in (expected, actual))
    if not expected.numel():
        return {"equality": "equal"}
    relative, absolute = tolerances(expected.dtype)
    wide = torch.complex128 if expected.is_complex() else torch.float64
    a, b = expected.detach().to("cpu", wide).flatten(), actual.detach().to("cpu", wide).flatten()
    same = (a == b) | (torch.isnan(a) & torch.isnan(b))
    difference = torch.where(same, torch.zeros(()), (a - b).abs()).double()
    difference = torch.nan_to_num(difference, nan=float("inf"))
    allowed = torch.nan_to_num(absolute + relative * a.abs().double(), nan=0.0, posinf=0.0)
    worst = int((difference - allowed).argmax())
    equal = bool(((difference <= allowed) | same).all())
    largest = float(difference[worst])
    found = {"equality": "equal" if equal else "differs", "allowed": float(allowed[worst])}
    if largest != float("inf"):  # JSON has no infinity
        found["largest"] = largest
    return found


def compared(expected: Tensors, actual: Tensors, gradient: bool) -> list[dict[str, Any]]:
    """In the order of the first; what only the second has comes last."""
    out = []
    for name in [*expected, *(name for name in actual if name not in expected)]:
        a, b = expected.get(name), actual.get(name)
        if a is None and b is None:
            continue
        if a is None or b is None:
            what = {"equality": "appeared" if a is None else "lost"}
        else:
            what = _difference(a, b)
        out.append({"name": f"grad {name}" if gradient else name, "gradient": gradient, **what})
    return out


@dataclasses.dataclass
class Outcome:
    """What one call with its backward pass gave."""

    outputs: Tensors
    gradients: dict[str, Any]  # by parameter; None where it got none
    backward: str = ""  # "ok", "" (none was run) or why there was none

    def compare(self, other: Outcome) -> dict[str, Any]:
        """This one is what is expected."""
        tensors = compared(self.outputs, other.outputs, False) + compared(self.gradients, other.gradients, True)
        note = other.backward if other.backward not in ("ok", "") else ""
        return {"tensors": tensors, "note": note}

    def norms(self) -> list[dict[str, Any]]:
        return [{"name": name, "norm": None if grad is None else _norm(grad)} for name, grad in self.gradients.items()]

    def save(self, path: str) -> None:
        import torch

        on_cpu = [{name: None if t is None else t.detach().cpu() for name, t in part.items()}
                  for part in (self.outputs, self.gradients)]
        torch.save({"outputs": on_cpu[0], "gradients": on_cpu[1], "backward": self.backward}, path)

    @classmethod
    def load(cls, path: str) -> Outcome:
        import torch

        return cls(**torch.load(path, weights_only=True))


def _norm(grad) -> float | None:
    value = float(grad.detach().float().norm()) if not grad.is_complex() else float(grad.detach().abs().norm())
    return value if value == value and abs(value) != float("inf") else None


def gradients_of(owner, inputs) -> dict[str, Any]:
    """Of all parameters that require one, and of inputs that do."""
    import torch

    from .subject import tensors_in

    found: dict[str, Any] = {}
    if isinstance(owner, torch.nn.Module):
        for name, parameter in owner.named_parameters():
            if parameter.requires_grad:
                # A module that is compiled on its own is the same one under another name.
                found[name.replace("_orig_mod.", "")] = None if parameter.grad is None else whole(parameter.grad).detach().clone()
    for number, tensor in enumerate(tensors_in(inputs)):
        if tensor.requires_grad and tensor.is_leaf and not isinstance(tensor, torch.nn.Parameter):
            found[f"input {number}"] = None if tensor.grad is None else tensor.grad.detach().clone()
    return found
