"""Real model code. What must be found is read from the sources themselves, so that nothing here is a copied output."""
from __future__ import annotations

import pathlib
import re
import shutil

import pytest
from conftest import run_fullgraph, transformers_sources

# Speech encoders that mark their hidden states, and decoders that mark their position bias, in every training forward.
SPEECH = ("wav2vec2", "wav2vec2_conformer", "hubert", "wavlm", "sew", "sew_d", "unispeech", "unispeech_sat", "speecht5",
          "data2vec")
BIASED = ("t5", "mt5", "longt5", "switch_transformers", "udop", "pix2struct", "pop2piano")

MARKED = re.compile(r"^\s*(?!self\b)\w+\.requires_grad = True\b")


def lines_matching(path: pathlib.Path, pattern: str | re.Pattern) -> list[int]:
    return [n for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if re.search(pattern, line)]


def marked_lines(families):
    models = transformers_sources("5.24.0") / "models"
    for family in families:
        found = [(path, line) for path in sorted((models / family).glob("modeling_*.py")) for line in lines_matching(path, MARKED)]
        assert found, f"{family} has no such line any more: the test has lost its subject"
        yield from found


@pytest.fixture(scope="module")
def release():
    """All findings in 5.24.0. The timeout is for a program that hangs; how fast it is, the benchmark says."""
    return run_fullgraph("check", "--no-cache", "--output-format", "json", transformers_sources("5.24.0"), timeout=1200).ok().json()


def at(report, path, line, code):
    return [f for f in report["findings"] if f["code"] == code and f["line"] == line
            and pathlib.Path(f["file"]).resolve() == path.resolve()]


def test_speech_encoders_mark_hidden_states(release):
    for path, line in marked_lines(SPEECH):
        found = at(release, path, line, "FG101")
        assert found, f"{path}:{line}"
        # `if self._requires_grad and self.training:` stands above each of them
        assert "training" in found[0]["condition"] and "_requires_grad" in found[0]["condition"], found[0]["condition"]


def test_decoders_mark_their_position_bias(release):
    for path, line in marked_lines(BIASED):
        found = at(release, path, line, "FG101")
        assert found, f"{path}:{line}"
        # `if self.gradient_checkpointing and self.training:`
        assert "training" in found[0]["condition"] and "gradient_checkpointing" in found[0]["condition"], found[0]["condition"]


def test_flags_and_freezing_are_no_findings(release):
    """`self._requires_grad = …` is a plain flag; freezing happens outside compiled code."""
    texts: dict[str, list[str]] = {}
    for finding in release["findings"]:
        if not finding["code"].startswith("FG1"):
            continue
        lines = texts.setdefault(finding["file"], pathlib.Path(finding["file"]).read_text(encoding="utf-8").splitlines())
        assert "self._requires_grad =" not in lines[finding["line"] - 1], finding
        assert "freeze" not in finding["function"].rpartition(".")[2], finding


def test_every_file_is_read(release):
    """All of the release: no syntax error is seen in valid code, and nothing else goes wrong."""
    assert not release["errors"]
    assert not [f for f in release["findings"] if f["code"] == "FG902"]


def test_tensor_parallel_hook_of_5_20():
    """Replicated parameters: a module backward hook all-reduces `param.grad`, which may not be there yet."""
    path = transformers_sources("5.20.0") / "distributed" / "tensor_parallel.py"
    report = run_fullgraph("check", "--no-cache", "--output-format", "json", path).ok().json()
    [registered] = lines_matching(path, r"module\.register_full_backward_hook\(_all_reduce_grads\)")
    [hook] = [n for n in lines_matching(path, r"def _all_reduce_grads\b") if n < registered]
    assert at(report, path, registered, "FG201")
    assert any(at(report, path, line, "FG204") for line in range(hook, registered + 1))


def test_tensor_parallel_hook_of_5_24_is_repaired():
    """Hooks on the parameters that are really loaded, attached in the first forward."""
    path = transformers_sources("5.24.0") / "distributed" / "tensor_parallel.py"
    assert lines_matching(path, r"register_post_accumulate_grad_hook")
    report = run_fullgraph("check", "--no-cache", "--output-format", "json", path).ok().json()
    assert not [f for f in report["findings"] if f["code"] in ("FG201", "FG204")]


def copied(version: str, folder: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(shutil.copytree(transformers_sources(version).resolve(), folder / "transformers"))


def test_the_workaround_of_speech_encoders_and_decoders_is_removed(tmp_path):
    """With its flag and its comment, and nothing else: the result is the source without these lines."""
    source = copied("5.24.0", tmp_path)
    families = [source / "models" / family for family in (*SPEECH, *BIASED)]
    before = {path: path.read_text() for family in families for path in family.glob("modeling_*.py")}
    done = run_fullgraph("check", *families, "--select", "FG101,FG105", "--fix-only", "--unsafe-fixes", cwd=tmp_path)
    assert done.code == 0 and "rolled back" not in done.stderr, done.stderr
    for path, text in before.items():
        after = path.read_text()
        compile(after, str(path), "exec")
        assert not re.search(r"\b_requires_grad\b|^\s+(hidden_states|position_bias)\.requires_grad = True", after, re.M)
        gone = set(text.splitlines()) - set(after.splitlines())
        assert set(after.splitlines()) <= set(text.splitlines())
        assert all(re.search("requires_grad|require grad|self.training", line) for line in gone), gone
    left = run_fullgraph("check", *families, "--select", "FG101,FG105", "--output-format", "json", cwd=tmp_path)
    assert left.ok().findings() == []


def test_safe_fixes_only_add_a_condition(tmp_path):
    source = copied("5.24.0", tmp_path)
    families = [source / "models" / family for family in (*SPEECH, *BIASED)]
    before = {path: path.read_text() for family in families for path in family.glob("modeling_*.py")}
    done = run_fullgraph("check", *families, "--select", "FG101", "--fix-only", cwd=tmp_path)
    assert done.code == 0 and "rolled back" not in done.stderr, done.stderr
    for path, text in before.items():
        after = path.read_text()
        assert after.count("not torch.compiler.is_compiling() and ") == len(lines_matching(path, MARKED))
        assert after.replace("not torch.compiler.is_compiling() and ", "") == text


def test_the_tensor_parallel_hook_moves_to_the_parameters(tmp_path):
    source = copied("5.20.0", tmp_path)
    file = source / "distributed" / "tensor_parallel.py"
    done = run_fullgraph("check", file, "--select", "FG201,FG204", "--fix-only", "--unsafe-fixes", cwd=tmp_path)
    assert done.code == 0 and "rolled back" not in done.stderr, done.stderr
    text = file.read_text()
    compile(text, str(file), "exec")
    assert "register_full_backward_hook" not in text and "param.register_post_accumulate_grad_hook(" in text
    left = run_fullgraph("check", file, "--select", "FG2", "--output-format", "json", cwd=tmp_path)
    assert left.ok().findings() == []
