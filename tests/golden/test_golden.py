"""What a person or a machine gets to read, letter for letter. `./dev test golden --update` accepts what is seen; the
difference then shows in the commit."""
from __future__ import annotations

import pathlib
import re

import pytest
from conftest import ROOT, run_fullgraph

OUTPUTS = pathlib.Path(__file__).parent / "outputs"
QUICKSTART = "fixtures/quickstart"

COMMANDS = {
    **{f"quickstart.{name}": ("check", "--no-cache", "--output-format", name, QUICKSTART)
       for name in ("full", "concise", "github", "gitlab", "junit")},
    "quickstart.eval.concise": ("check", "--no-cache", "--mode", "eval", "--output-format", "concise", QUICKSTART),
    "quickstart.entry.concise": ("check", "--no-cache", "--output-format", "concise", "--entry",
                                 f"{QUICKSTART}/speech/model.py:example", QUICKSTART),
    "rule.FG101": ("rule", "FG101"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_output(name, request):
    seen = run_fullgraph(*COMMANDS[name]).ok().stdout
    path = OUTPUTS / f"{name}.txt"
    if request.config.getoption("--update"):
        OUTPUTS.mkdir(exist_ok=True)
        path.write_text(seen, encoding="utf-8")
    assert path.exists(), "no golden output yet: ./dev test golden --update"
    assert seen == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_output_is_the_same_again(name):
    assert run_fullgraph(*COMMANDS[name]).stdout == run_fullgraph(*COMMANDS[name]).stdout


def excerpt_of(output: str) -> str:
    """Two findings and the closing line, with the gaps marked."""
    blocks = output.rstrip("\n").split("\n\n")
    chosen = [next(block for block in blocks if f"[{code}]" in block.splitlines()[0]) for code in ("FG101", "FG201")]
    return "\n\n…\n\n".join([*chosen, blocks[-1]]) + "\n"


def test_readme_shows_real_output(request):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    excerpt = excerpt_of((OUTPUTS / "quickstart.full.txt").read_text(encoding="utf-8"))
    if request.config.getoption("--update"):
        readme = re.sub(r"```text\n.*?```", lambda _: f"```text\n{excerpt}```", readme, flags=re.S)
        (ROOT / "README.md").write_text(readme, encoding="utf-8")
    assert re.findall(r"```text\n(.*?)```", readme, re.S) == [excerpt], "./dev test golden --update writes it"
