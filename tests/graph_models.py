"""Small models for the tests of archives, with what Python itself says of them."""
from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.utils import checkpoint


class Encoder(nn.Module):
    """The shape of an audio encoder: a convolution first, a normalisation behind it."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 3)
        self.norm = nn.LayerNorm(4)
        self.drop = nn.Dropout(0.2)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.conv(x[:, None])
        return self.drop(self.norm(torch.relu(hidden.transpose(1, 2))))


class Detached(Encoder):
    """The same outputs, and no gradient for the convolution."""

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.conv(x[:, None]).detach()
        return self.drop(self.norm(torch.relu(hidden.transpose(1, 2))))


class Scaled(Encoder):
    """Outputs that differ by little more than the tolerance."""

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.conv(x[:, None])
        return self.drop(self.norm(torch.relu(hidden.transpose(1, 2)))) * 1.0001


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x).sum(-1) + 1


class Checkpointed(Plain):
    def forward(self, x):
        return checkpoint.checkpoint(self.block, x, use_reentrant=False) * 2


class Reentrant(Plain):
    """Exported, this loses the gradient of everything in the block."""

    def forward(self, x):
        return checkpoint.checkpoint(self.block, x, use_reentrant=True) + 1


class WithoutGradient(Plain):
    def forward(self, x):
        with torch.no_grad():
            scale = self.block(x).mean()
        return self.block.a(x) * scale


class Branching(Plain):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda t: self.block(t) + 1, lambda t: self.block(t) - 1, [x])


class Normalised(nn.Module):
    """Buffers that each step changes."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(self.norm(x)), self.norm.num_batches_tracked + 0


class Counting(Plain):
    """A number that is read from a tensor, and operators of shapes."""

    def forward(self, x):
        count = x.abs().sum().int().item()
        torch._check(count >= 0)
        torch._check(count < 100)
        return torch.cat([self.block(x), torch.ones(count, 4)]) / (x.shape[0] + 1)


def weighted_backward(outputs) -> None:
    """The loss that the worker takes: each output weighed with cos(0), cos(1), …"""
    ends = [one for one in outputs if one.requires_grad]
    if ends:
        torch.autograd.backward(ends, [torch.arange(one.numel(), dtype=torch.float64).cos().view(one.shape).to(one.dtype)
                                       for one in ends])


def gradient_norms(module, inputs, seed: int = 0) -> dict[str, float | None]:
    """What `validate` shall find: the norm of the gradient of every parameter that wants one."""
    module.zero_grad(set_to_none=True)
    torch.manual_seed(seed)
    outputs = module(*inputs)
    weighted_backward(outputs if isinstance(outputs, (tuple, list)) else [outputs])
    return {name: None if one.grad is None else one.grad.double().norm().item()
            for name, one in module.named_parameters() if one.requires_grad}


def assert_same_norms(found: dict, expected: dict) -> None:
    """Equal names in the same order, the same ones without a gradient, equal norms."""
    assert list(found) == list(expected)
    for name, norm in expected.items():
        assert found[name] == (None if norm is None else pytest.approx(norm, rel=1e-5)), name
