"""Repairs of C++ sources: by the same fixer, and never inside of a macro."""
from __future__ import annotations

import subprocess

from clang_worker import ENVIRONMENT
from conftest import run_fullgraph

MODEL = """#include <torch/torch.h>
%s
struct StopImpl : torch::nn::Module {
  StopImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  torch::Tensor forward(torch::Tensor x) {
    auto h = fc(x);  // caf\u00e9
    %s
    return fc(h);
  }
  torch::nn::Linear fc{nullptr};
};
"""


def fix(folder, text, *arguments):
    source = folder / "net.cpp"
    source.write_bytes(text.encode())
    return source, run_fullgraph("check", "--isolated", "--unsafe-fixes", *arguments, "net.cpp", cwd=folder, env=ENVIRONMENT)


def test_statement_is_replaced(tmp_path):
    text = MODEL.replace("\n", "\r\n") % ("", "h.set_requires_grad(false);")
    source, result = fix(tmp_path, text, "--fix")
    assert result.code == 0
    assert source.read_bytes() == text.replace("h.set_requires_grad(false);", "h = h.detach();").encode()


def test_patch(tmp_path):
    text = MODEL % ("", "h.requires_grad_(false);")
    source, result = fix(tmp_path, text, "--diff")
    assert source.read_text() == text
    subprocess.run(["git", "apply", "-"], input=result.stdout, text=True, check=True, cwd=tmp_path)
    assert source.read_text() == text.replace("h.requires_grad_(false);", "h = h.detach();")


def test_macro_is_left_alone(tmp_path):
    """The finding stands where the macro is used, and nothing is edited: neither there nor in the macro."""
    for macro, use in (("#define STOP(t) t.set_requires_grad(false)", "STOP(h);"),
                       ("#define FLAG false", "h.set_requires_grad(FLAG);")):
        text = MODEL % (macro, use)
        source, result = fix(tmp_path, text, "--fix", "--output-format", "json")
        assert [(one["line"], one["code"]) for one in result.findings()] == [(7, "FG613")]
        assert source.read_text() == text


def test_part_of_an_expression_is_left_alone(tmp_path):
    text = MODEL % ("", "auto same = h.requires_grad_(false);")
    source, result = fix(tmp_path, text, "--fix", "--output-format", "json")
    assert [one["code"] for one in result.findings()] == ["FG613"] and source.read_text() == text


def test_header_that_was_not_given(tmp_path):
    """What includes it may be somebody else's as well."""
    (tmp_path / "net.h").write_text("#pragma once\n" + MODEL % ("", "h.set_requires_grad(false);"))
    source, result = fix(tmp_path, '#include "net.h"\n', "--fix", "--output-format", "json")
    assert [(one["file"], one["code"]) for one in result.findings()] == [("net.h", "FG613")]
    assert "set_requires_grad" in (tmp_path / "net.h").read_text()
