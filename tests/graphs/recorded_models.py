"""Models whose archives are read in the tests. A module of its own, since archives name the module of a class."""
from __future__ import annotations

import functools

import torch
from torch import Tensor, nn


class Marked(nn.Module):
    """Requires a gradient of an intermediate, as audio encoders do; a text beyond ASCII in front: »ä€𝄞«."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 3)
        self.norm = nn.LayerNorm(4)
        self.register_buffer("steps", torch.zeros(3, dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        name = "»ä€𝄞«"; h = self.conv(x[:, None])
        if self.training and len(name) > 0:
            h.requires_grad_(True)
        h = h.transpose(1, 2)
        return self.norm(h).sum() + self.steps.sum()


def on_backward(module, grad_input, grad_output):
    return None


def on_forward(module, inputs, output):
    return None


def with_keywords(module, args, kwargs):
    return None


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.lin.register_full_backward_hook(on_backward)

    def forward(self, x: Tensor) -> Tensor:
        return self.lin(x)


def scripted_hook(self, inputs: tuple[Tensor], output: Tensor) -> Tensor:
    return output * 2


class ForwardHooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.lin.register_forward_hook(scripted_hook)

    def forward(self, x: Tensor) -> Tensor:
        return self.lin(x)


class Containers(nn.Module):
    """Tied weights, containers, names that are none of Python's, a frozen parameter."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4, bias=False)
        self.b.weight = self.a.weight
        self.seq = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.BatchNorm1d(4))
        self.items = nn.ModuleList([nn.Linear(4, 4), nn.Dropout(0.1)])
        self.named = nn.ModuleDict({"x-y": nn.Identity()})
        self.seq[0].weight.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        x = self.b(self.seq(self.a(x)))
        for item in self.items:
            x = item(x)
        return x


class Everything(nn.Module):
    """What a module may hold besides modules; not scriptable."""

    def __init__(self):
        super().__init__()
        self.child = nn.Linear(2, 2)
        self.parents = [self]
        self.settings = {"a": 1, 2: (1, 2.5, None), "dtype": torch.float16, "device": torch.device("cuda", 1)}
        self.again = self.settings
        self.act = functools.partial(nn.functional.gelu, approximate="tanh")
        self.limits = (float("inf"), -float("inf"), 1e-5, -5, 2**62)
        self.text = "a\"b'\\\n\x01ä"
        self.cls = nn.Linear
        self.method = self.child.reset_parameters
        self.some = {1}
        self.legacy = nn.Linear(1, 1)
        self.child.register_full_backward_hook(self.on_child)
        self.child.register_full_backward_pre_hook(on_backward)
        self.child.register_forward_hook(on_forward)
        self.child.register_forward_pre_hook(with_keywords, with_kwargs=True)
        self.legacy.register_backward_hook(on_backward)

    def on_child(self, module, grad_input, grad_output):
        return None

    def forward(self, x: Tensor) -> Tensor:
        return self.child(x)
