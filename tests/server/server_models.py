"""Small sources that the tests edit."""

HELPER = """\
import torch


def scale(x):
    return x * 2
"""

BREAKING_HELPER = """\
import torch


def scale(x):
    print(x)
    return x * 2
"""

MODEL = """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from helper import scale


class Model(nn.Module):
    def forward(self, x):
        print("grüße 😀", x)
        y = scale(x)
        return checkpoint(torch.relu, y, use_reentrant=True)
"""
