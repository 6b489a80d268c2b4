"""Models with one hazard each, and how they are recorded. A line's mark (`# <item>`) is what the findings are expected at."""
from typing import Dict, Optional

import torch
import torch.utils.checkpoint
from torch import Tensor, nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.relu(self.a(x)))


class Clean(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x: Tensor) -> Tensor:
        return self.block(x).sum(-1)


class Marks(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x: Tensor) -> Tensor:
        h = self.block(x)
        if self.training:
            h.requires_grad_(True)  # <marks>
        return h * 2


class MarksFrozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x: Tensor) -> Tensor:
        h = self.block(x).detach()
        h.requires_grad_(True)  # <marks-frozen>
        return h * 2


class Reads(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        total = x.sum().item()  # <item>
        return x * total


class ReadsCount(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        count = int(x.sum().int().item())  # <count>
        return x + count


class Chooses(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.mean() > 0:  # <branch>
            return x + 1
        return x - 1


class Prints(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        print("shape", x.sum())  # <print>
        return x + 1


class Masks(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[x > 0].sum()  # <mask>


class FindsNonzero(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        rows = torch.nonzero(x)  # <nonzero>
        return rows.sum()


class Copies(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.cpu() + 1  # <copy>


class SameDevice(nn.Module):
    """Where the input is: no copy to the host, although the example was there."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x.to(y.device) + y


class ChangesInput(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x.mul_(2)  # <mutation>
        return x + 1


class ChangesOwn(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x + 1
        y.mul_(2)
        return y


class Counts(nn.Module):
    """A buffer of the module's own changes: what buffers are for."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.calls.add_(1)
        return x + self.calls


class Drops(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        return self.drop(x)  # <dropout>


class WithoutGradients(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            y = self.block(x)
        return y + x


class Checkpoints(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x: Tensor) -> Tensor:
        y = torch.utils.checkpoint.checkpoint(self.block, x, use_reentrant=True)  # <reentrant>
        return y + 1


class CheckpointsWithoutReentry(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x: Tensor) -> Tensor:
        return torch.utils.checkpoint.checkpoint(self.block, x, use_reentrant=False) + 1


class Selects(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, [x])


class AsksPython(nn.Module):
    """Questions that Python answers without looking at any tensor's values, as are all operators in TorchScript."""

    def __init__(self):
        super().__init__()
        self.scale: Optional[Tensor] = None
        self.register_buffer("ones", torch.ones(4))

    def added(self, x: Tensor, y: Optional[Tensor]) -> Tensor:
        return x if y is None else x + y

    def forward(self, x: Tensor, mask: Optional[Tensor] = None, named: Optional[Dict[str, Tensor]] = None) -> Tensor:
        if len(x) > 1 and x.stride(0) > 1 or x.is_contiguous():
            x = x * 2
        if x.dtype == torch.float32 and x.device == torch.device("cpu") and not x.is_cuda:
            x = x + 1
        if x.shape == self.ones.shape or x.size(-1) % 2 == 0 or x.ndim != 2:
            x = x + 2
        if x.numel() > 4 and not self.training:
            x = x + 3
        if mask is not None:
            x = x + mask
        if named is not None:
            if "a" in named:
                x = x + named["a"]
        if self.scale is not None:
            x = x * self.scale
        rows = [row * 2 for row in x.unbind(0)]
        if len(rows) > 2:
            x = torch.cat([x, rows[0][None]])
        count = x.shape[0] if x.shape[1] > 2 else 3
        while count > 1:
            count -= 1
        return self.added(x, mask) * float(count)


class FindsUnique(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.unique(x).sum()  # <unique>


class ReadsUnderAutocast(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.layer(x)
            count = y.sum().item()  # <autocast>
        return y.float() * count


class Loops(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        start = (torch.zeros((), dtype=torch.int64), x)
        return torch.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), start)[1]


class TrainsTheSame(nn.Module):
    """Training mode changes nothing in these."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4, track_running_stats=False)
        self.drop = nn.Dropout(0.0)
        self.lstm = nn.LSTM(4, 4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.lstm(self.drop(self.norm(x)))[0]


class Recurs(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 4, 2, dropout=0.1)

    def forward(self, x: Tensor) -> Tensor:
        return self.lstm(x)[0]  # <lstm>


def on_backward(module, grad_input, grad_output):
    return None


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.block.register_full_backward_hook(on_backward)

    def forward(self, x: Tensor) -> Tensor:
        return self.block(x)  # <hooked>


class HookedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.block.register_forward_hook(lambda module, inputs, output: output * 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.block(x)


class HooksTensor(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x: Tensor) -> Tensor:
        y = self.block(x)
        y.register_hook(lambda g: g * 0.5)
        return y


class Helper(nn.Module):
    def scale(self, x: Tensor) -> Tensor:
        rate = x.max().item()  # <helper>
        return x * rate

    def forward(self, x: Tensor) -> Tensor:
        return self.scale(x)  # <helper-call>
