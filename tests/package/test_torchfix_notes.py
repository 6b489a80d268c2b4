"""What docs/torchfix.md says of TorchFix's rules, one by one: both programs look at what each of them finds."""
from __future__ import annotations

import re
import subprocess

import pytest
from conftest import CACHE, ROOT

TORCHFIX = CACHE / "torchfix-0.7.0" / "bin" / "torchfix"  # `./dev bench` puts it there
MODULE = """import torch
from torch import nn
{imports}

class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        {line}
        return x
"""
# Rule: an import, and a line of `forward`.
FOUND = {
    "TOR001": ("", "x = torch.solve(x, x)"),
    "TOR002": ("", "x.require_grad = True"),
    "TOR003": ("from torch.utils.checkpoint import checkpoint", "x = checkpoint(self.layer, x)"),
    "TOR004": ("from torch import symeig", "pass"),
    "TOR101": ("", "x = torch.qr(x)[0]"),
    "TOR102": ("", "x = x + torch.load('x.pt')"),
    "TOR103": ("from torch import qr", "pass"),
    "TOR104": ("import torch.utils.data._utils.collate", "x = torch.utils.data._utils.collate.default_collate([x, x])"),
    "TOR105": ("from torch.utils.data._utils.collate import default_collate", "pass"),
    "TOR106": ("", "x = torch.log(1 + x)"),
    "TOR107": ("", "x = torch.exp(x) - 1"),
    "TOR201": ("from torchvision import models", "x = models.resnet18(pretrained=True)(x)"),
    "TOR202": ("from torchvision.transforms import v2", "x = v2.ToTensor()(x)"),
    "TOR203": ("import torchvision.models as models", "pass"),
    "TOR401": ("from torch.utils.data import DataLoader", "x = [y for y in DataLoader([1, 2])]"),
    "TOR901": ("", "torch.library.Library('a', 'DEF')"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("torchfix")
    for rule, (imports, line) in FOUND.items():
        (folder / f"{rule}.py").write_text(MODULE.format(imports=imports, line=line))
    return folder


def said_in_the_document() -> dict[str, set[str]]:
    """Of the table: TorchFix's rule, and the first of fullgraph's, which is the one on that line."""
    rows = re.findall(r"^\| (TOR\d+) \|.*\| (.*) \|$", (ROOT / "docs" / "torchfix.md").read_text(), re.M)
    return {rule: set(re.findall(r"^FG\d+", said)) for rule, said in rows}


def test_each_row_is_what_fullgraph_says(folder, fullgraph):
    said = fullgraph("check", "--isolated", "--output-format", "json", cwd=folder).ok().findings()
    found: dict[str, set[str]] = {rule: set() for rule in FOUND}
    for finding in said:
        found[re.search(r"TOR\d+", str(finding))[0]].add(finding["code"])
    assert found == said_in_the_document()


needs_torchfix = pytest.mark.skipif(not TORCHFIX.exists(), reason="TorchFix is not installed: ./dev bench does that")


@needs_torchfix
def test_each_row_is_what_torchfix_finds(folder):
    told = subprocess.run([str(TORCHFIX), "--help"], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"TOR\d{3}", told)) == set(FOUND)
    done = subprocess.run([str(TORCHFIX), "--select", "ALL", "."], cwd=folder, capture_output=True, text=True, timeout=120)
    found = set(re.findall(r"(TOR\d+)\.py:\d+:\d+: (TOR\d+)", done.stdout))
    assert found == {(rule, rule) for rule in FOUND}, done.stdout + done.stderr


def codes(fullgraph, *arguments, cwd) -> list[tuple[str, int]]:
    findings = fullgraph("check", "--isolated", "--output-format", "json", *arguments, cwd=cwd).ok().findings()
    return [(finding["code"], finding["line"]) for finding in findings]


def test_more_of_checkpoints_and_the_repair_that_breaks(tmp_path, fullgraph):
    (tmp_path / "helpers.py").write_text("from torch.utils.checkpoint import checkpoint as run_again\n")
    lines = ["import torch", "from torch import nn", "from torch.utils.checkpoint import checkpoint, checkpoint_sequential",
             "from helpers import run_again", "", "", "class Probe(nn.Module):", "    def forward(self, x):",
             "        x = checkpoint(torch.relu, x)  # noqa: TOR003",
             "        x = checkpoint(torch.relu, x)  # noqa: TOR003, FG302",
             "        x = checkpoint(torch.relu, x)  # noqa",
             "        x = run_again(torch.relu, x)",
             "        x = checkpoint(torch.relu, x, use_reentrant=True)",
             "        x = checkpoint_sequential([torch.relu], 1, x)",
             "        x.requires_grad = True",
             "        return x", ""]
    (tmp_path / "probe.py").write_text("\n".join(lines))
    found = codes(fullgraph, "--select", "FG101,FG3", cwd=tmp_path)
    assert found == [("FG302", 9), ("FG302", 12), ("FG301", 13), ("FG302", 14), ("FG101", 15)]
    diff = fullgraph("check", "--isolated", "--select", "FG302", "--diff", cwd=tmp_path).stdout
    assert "use_reentrant" not in diff
    diff = fullgraph("check", "--isolated", "--select", "FG302", "--diff", "--unsafe-fixes", cwd=tmp_path).stdout
    assert "+        x = run_again(torch.relu, x, use_reentrant=False)" in diff
