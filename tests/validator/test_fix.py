"""`fullgraph fix --validate`: what running the model confirms is repaired, and nothing else."""
from __future__ import annotations

import sys

import pytest
from conftest import run_fullgraph

MODEL = """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)

    def forward(self, x):
        hidden = x * 2
        if self.training:
            hidden.requires_grad = True
        hidden = checkpoint(self.body, hidden, use_reentrant={reentrant})
        print("done")
        if hidden.shape[0] > 100:
            print("many")
        return hidden


def example():
    torch.manual_seed(0)
    return Model(), (torch.randn(2, 4),), {{}}
"""
CASE = ("--entry", "model.py:example", "--modes", "train", "--python", sys.executable)


@pytest.fixture
def model(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    return tmp_path / "model.py"


def test_what_no_run_reaches_is_not_repaired(model):
    model.write_text(MODEL.format(reentrant=False))
    done = run_fullgraph("fix", "--validate", *CASE, cwd=model.parent)
    assert done.code == 0, done.stderr
    text = model.read_text()
    guard = "if not torch.compiler.is_compiling()"
    assert f'{guard}:\n            print("done")' in text
    assert f'{guard} and self.training:\n            hidden.requires_grad' in text
    assert '        if hidden.shape[0] > 100:\n            print("many")' in text  # two rows are no hundred


def test_a_fix_that_loses_gradients_is_not_kept(model):
    # Without the marking, nothing that goes into the reentrant checkpoint requires a gradient: its weights get none.
    model.write_text(MODEL.format(reentrant=True))
    done = run_fullgraph("fix", "--validate", "--unsafe-fixes", "--ignore", "FG3", *CASE, cwd=model.parent)
    assert done.code == 0, done.stderr
    assert done.stderr.count("running before") == 1  # all attempts share it
    text = model.read_text()
    assert "hidden.requires_grad = True" in text
    assert "FG101" in done.stderr and "body.weight is lost" in done.stderr
    assert 'is_compiling():\n            print("done")' in text


def test_nothing_is_written_when_the_model_fails(model):
    text = MODEL.format(reentrant=False).replace("hidden = x * 2", "raise ValueError('no')")
    model.write_text(text)
    done = run_fullgraph("fix", "--validate", *CASE, cwd=model.parent)
    assert done.code == 2
    assert model.read_text() == text


def test_without_validate_it_is_check_fix_only(model):
    model.write_text(MODEL.format(reentrant=False))
    done = run_fullgraph("fix", "model.py", cwd=model.parent)
    assert done.code == 0, done.stderr
    assert 'is_compiling() and hidden.shape[0] > 100:' in model.read_text()


def test_help_is_its_own():
    for arguments in (["fix"], ["fix", "--validate"]):
        done = run_fullgraph(*arguments, "--help")
        assert done.code == 0 and done.stdout.startswith("Repair") and "Usage: fix" in done.stdout, done.stdout[:200]
        assert ("--entry FILE:FUNCTION" in done.stdout and "--patch" in done.stdout) == ("--validate" in arguments)
