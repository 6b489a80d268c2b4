"""Repairing: `--fix`, `--diff` and what surrounds them, on real files, with the real git."""
from __future__ import annotations

import ast
import os
import pathlib
import pwd
import random
import signal
import shutil
import subprocess
import tempfile
import textwrap
import time

import pytest

# One safe fix (FG901: a suppression that suppresses nothing) and one unsafe one (FG301).
SOURCE = """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Encoder(nn.Module):
    def forward(self, hidden_states):
        hidden_states = hidden_states + 1  # fullgraph: ignore[FG101] not needed any more
        return checkpoint(torch.relu, hidden_states, use_reentrant=True)
"""
SAFE = SOURCE.replace("  # fullgraph: ignore[FG101] not needed any more", "")
BOTH = SAFE.replace("use_reentrant=True", "use_reentrant=False")


@pytest.fixture
def check(fullgraph, tmp_path):
    def run(*args, **kwargs):
        kwargs.setdefault("cwd", tmp_path)
        return fullgraph("check", "--isolated", *args, **kwargs)

    return run


def git(folder, *args, **kwargs):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.autocrlf=false"]
    return subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True, **kwargs)


# --fix -----------------------------------------------------------------------------------------------------------------


def test_the_report_says_what_can_be_repaired(check, tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    result = check("--output-format", "concise")
    assert "m.py:8:44: FG901 [*] " in result.stdout
    assert ": FG301 [*]" not in result.stdout
    assert result.stdout.endswith("[*] 1 fixable with --fix (1 hidden fix can be enabled with --unsafe-fixes)\n")
    assert check("--unsafe-fixes").stdout.endswith("[*] 2 fixable with --fix\n")
    assert check("--no-unsafe-fixes").stdout.endswith("[*] 1 fixable with --fix\n")
    (tmp_path / "m.py").write_text(SAFE)
    assert check().stdout.endswith("No fixes available (1 hidden fix can be enabled with --unsafe-fixes)\n")
    assert "fix" not in check("--no-unsafe-fixes").stdout.splitlines()[-1]


def test_fix_makes_safe_fixes_and_reports_the_rest(check, tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    result = check("--fix")
    assert result.code == 1
    assert (tmp_path / "m.py").read_text() == SAFE
    assert "Found 2 findings (1 fixed, 1 remaining: 1 hazard) in 1 file\n" in result.stdout
    assert "FG301" in result.stdout and "FG901" not in result.stdout


def test_unsafe_fixes(check, tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    result = check("--fix", "--unsafe-fixes")
    assert result.code == 0
    assert result.stdout == "Found 2 findings (2 fixed, 0 remaining) in 1 file\n"
    assert (tmp_path / "m.py").read_text() == BOTH
    assert check("--fix", "--unsafe-fixes").stdout == "No findings in 1 file\n"
    assert (tmp_path / "m.py").read_text() == BOTH


def test_fix_only_and_show_fixes(check, tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "n.py").write_text(SOURCE)
    result = check("--fix-only", "--unsafe-fixes", "--show-fixes")
    assert result.code == 0
    assert result.stdout == (
        "Fixed 4 findings:\n"
        "- m.py:\n    1 × FG301 (reentrant-checkpoint)\n    1 × FG901 (unused-suppression)\n"
        "- sub/n.py:\n    1 × FG301 (reentrant-checkpoint)\n    1 × FG901 (unused-suppression)\n"
    )
    (tmp_path / "m.py").write_text(SOURCE)
    result = check("--fix-only")
    assert (result.code, result.stdout) == (0, "Fixed 1 finding\n")
    result = check("--fix-only")
    assert (result.code, result.stdout) == (0, "")


def test_exit_non_zero_on_fix(check, tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    assert check("--fix", "--unsafe-fixes", "--exit-non-zero-on-fix").code == 1
    assert check("--fix", "--unsafe-fixes", "--exit-non-zero-on-fix").code == 0
    (tmp_path / "m.py").write_text(SOURCE)
    assert check("--fix-only", "--exit-non-zero-on-fix").code == 1


def test_json_counts_what_was_fixed(check, tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    assert check("--output-format", "json").json()["summary"]["fixed"] == 0
    assert check("--fix", "--output-format", "json").json()["summary"]["fixed"] == 1


def test_every_format_reports_what_is_left(check, tmp_path):
    for name in ("json", "sarif", "github", "gitlab", "junit", "concise"):
        (tmp_path / "m.py").write_text(SOURCE)
        result = check("--fix", "--output-format", name).ok()
        assert "FG301" in result.stdout
        assert "this comment suppresses nothing" not in result.stdout  # FG901
        assert (tmp_path / "m.py").read_text() == SAFE


# Which fixes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args, expected",
    [
        (["--unfixable", "FG9"], BOTH.replace("+ 1", "+ 1  # fullgraph: ignore[FG101] not needed any more")),
        (["--fixable", "FG901"], SAFE),
        (["--fixable", "FG3", "--extend-fixable", "FG9"], BOTH),
        (["--unfixable", "FG9", "--fixable", "FG901"], SAFE),
        (["--unfixable", "ALL"], SOURCE),
        (["--config", "extend-unsafe-fixes = ['FG9']"], BOTH),
    ],
)
def test_fixable_and_unfixable(check, tmp_path, args, expected):
    (tmp_path / "m.py").write_text(SOURCE)
    check("--fix", "--unsafe-fixes", *args).ok()
    assert (tmp_path / "m.py").read_text() == expected


def test_safe_and_unsafe_can_be_moved(check, tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    assert check("--fix", "--config", "extend-unsafe-fixes = ['FG9']").code == 1
    assert (tmp_path / "m.py").read_text() == SOURCE
    assert check("--fix", "--config", "extend-safe-fixes = ['FG301']").code == 0
    assert (tmp_path / "m.py").read_text() == BOTH


def test_an_unfixable_rule_shows_its_fix_as_advice(check, tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    findings = check("--unfixable", "ALL", "--output-format", "json").ok().findings()
    assert [fix["applicability"] for finding in findings for fix in finding["fixes"]] == ["display", "display"]


def test_configuration(fullgraph, tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text(
        "[tool.fullgraph]\nfix = true\nunsafe-fixes = true\n[tool.fullgraph.lint]\nunfixable = ['FG9']\n"
    )
    fullgraph("check", cwd=tmp_path).ok()
    assert "ignore[FG101]" in (tmp_path / "m.py").read_text()
    assert "use_reentrant=False" in (tmp_path / "m.py").read_text()
    (tmp_path / "m.py").write_text(SOURCE)
    fullgraph("check", "--no-fix", cwd=tmp_path).ok()
    assert (tmp_path / "m.py").read_text() == SOURCE
    (tmp_path / "fullgraph.toml").write_text("fixabel = ['FG9']\n")
    result = fullgraph("check", cwd=tmp_path)
    assert result.code == 2 and "did you mean `fixable`?" in result.stderr


def test_what_is_suppressed_or_accepted_is_not_repaired(check, tmp_path):
    text = SAFE.replace("use_reentrant=True)", "use_reentrant=True)  # fullgraph: ignore[FG301]")
    (tmp_path / "m.py").write_text(text)
    assert check("--fix", "--unsafe-fixes").code == 0
    assert (tmp_path / "m.py").read_text() == text
    (tmp_path / "m.py").write_text(SAFE)
    check("--baseline", "b.json", "--update-baseline").ok()
    assert check("--fix", "--unsafe-fixes", "--baseline", "b.json").code == 0
    assert (tmp_path / "m.py").read_text() == SAFE


def test_a_suppression_that_a_fix_makes_useless_goes_in_the_next_round(check, tmp_path):
    # The comment is needed for FG301 only.
    text = SAFE.replace("use_reentrant=True)", "use_reentrant=True)  # noqa: FG402")
    (tmp_path / "m.py").write_text(text)
    assert check("--fix", "--unsafe-fixes").code == 0
    assert (tmp_path / "m.py").read_text() == BOTH


def test_only_given_files_are_changed(check, tmp_path):
    (tmp_path / "wrapper.py").write_text(
        "from torch.utils.checkpoint import checkpoint\n\n\ndef run(f, x):\n    return checkpoint(f, x, use_reentrant=True)\n"
    )
    (tmp_path / "m.py").write_text(
        "import torch\nfrom torch import nn\nfrom wrapper import run\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return run(torch.relu, x)\n"
    )
    before = (tmp_path / "wrapper.py").read_text()
    check("--fix", "--unsafe-fixes", "m.py").ok()
    assert (tmp_path / "wrapper.py").read_text() == before
    check("--fix", "--unsafe-fixes").ok()
    assert "use_reentrant=False" in (tmp_path / "wrapper.py").read_text()


# Bytes -----------------------------------------------------------------------------------------------------------------

LAYOUTS = {
    "crlf": SOURCE.replace("\n", "\r\n").encode(),
    "bom": b"\xef\xbb\xbf" + SOURCE.encode(),
    "no_end": SOURCE.rstrip("\n").encode(),
    "crlf_no_end": SOURCE.rstrip("\n").replace("\n", "\r\n").encode(),
    "latin": ("# -*- coding: latin-1 -*-\n# Größe\n" + SOURCE).encode("latin-1"),
    "tabs": SOURCE.replace("    ", "\t").encode(),
    "mixed": SOURCE.replace("nn\n", "nn\r\n").encode(),
    "utf8": ("# Größe \U0001f642\n" + SOURCE.replace("not needed", "nicht nötig")).encode(),
    "form_feed": SOURCE.replace("\n\n\n", "\n\f\n").encode(),
}


def repaired(data: bytes) -> bytes:
    begin = data.index(b"  # fullgraph")
    end = begin + len(data[begin:].split(b"\n")[0].rstrip(b"\r"))
    return (data[:begin] + data[end:]).replace(b"use_reentrant=True", b"use_reentrant=False")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bytes_outside_of_edits_stay(check, tmp_path, layout):
    data = LAYOUTS[layout]
    (tmp_path / "m.py").write_bytes(data)
    assert check("--fix", "--unsafe-fixes").code == 0
    assert (tmp_path / "m.py").read_bytes() == repaired(data)


@pytest.mark.parametrize("below", [".", "sub"])
def test_git_applies_the_patch(check, tmp_path, below):
    """All layouts in one patch, made and applied in the repository's root and in a folder of it."""
    for name, data in LAYOUTS.items():
        for folder in (".", "sub", "sub/deep"):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / f"my {name}.py").write_bytes(data)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    program = os.environ.get("FULLGRAPH_BIN")
    done = subprocess.run(
        [program or str(pathlib.Path(__file__).parents[2] / "build/bin/fullgraph"), "check", "--isolated", "--diff",
         "--unsafe-fixes"], cwd=tmp_path / below, capture_output=True)
    assert done.returncode == 1, done.stderr
    assert (tmp_path / "my crlf.py").read_bytes() == LAYOUTS["crlf"]  # nothing is written
    git(tmp_path / below, "apply", "--check", "-", input=done.stdout)
    git(tmp_path / below, "apply", "-", input=done.stdout)
    for name, data in LAYOUTS.items():
        assert (tmp_path / f"my {name}.py").read_bytes() == (repaired(data) if below == "." else data)
        assert (tmp_path / "sub" / f"my {name}.py").read_bytes() == repaired(data)
        assert (tmp_path / "sub" / "deep" / f"my {name}.py").read_bytes() == repaired(data)
    again = check("--diff", "--unsafe-fixes", cwd=tmp_path / below)
    assert (again.code, again.stdout) == (0, "")


def test_diff_exit_codes(check, tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    result = check("--diff")
    assert result.code == 1
    assert result.stdout.startswith("--- a/m.py\n+++ b/m.py\n@@ ")
    assert result.stderr == "Would fix 1 finding\n"
    (tmp_path / "m.py").write_text(SAFE)
    result = check("--diff")
    assert (result.code, result.stdout, result.stderr) == (0, "", "No fixes to make\n")
    assert check("--diff", "none.py").code == 2


def test_the_patch_can_go_to_a_file(check, tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    assert check("--diff", "-o", "fix.patch").stdout == ""
    git(tmp_path, "apply", "fix.patch")
    assert (tmp_path / "m.py").read_text() == SAFE


# stdin -----------------------------------------------------------------------------------------------------------------


def test_stdin(check, tmp_path):
    result = check("--fix", "-", stdin=SOURCE)
    assert result.code == 1
    assert result.stdout == SAFE
    assert "FG301" in result.stderr
    result = check("--fix", "--unsafe-fixes", "--stdin-filename", "sub/m.py", "-", stdin=SOURCE)
    assert (result.code, result.stdout) == (0, BOTH)
    assert check("--fix", "-", stdin=SAFE).stdout == SAFE  # also when there is nothing to repair
    assert list(tmp_path.iterdir()) == []
    result = check("--diff", "--stdin-filename", "sub/m.py", "-", stdin=SOURCE)
    assert result.code == 1
    assert result.stdout.startswith("--- a/sub/m.py\n+++ b/sub/m.py\n")


# The disk --------------------------------------------------------------------------------------------------------------


def test_permissions_are_kept(check, tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    (tmp_path / "m.py").chmod(0o754)
    check("--fix").ok()
    assert (tmp_path / "m.py").read_text() == SAFE
    assert (tmp_path / "m.py").stat().st_mode & 0o7777 == 0o754


def as_another(folder):
    """Keyword arguments for a process that may not write everywhere: root may."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


@pytest.mark.parametrize("what", ["file", "folder"])
def test_nothing_is_written_when_one_file_cannot_be(root, what):
    program = os.environ.get("FULLGRAPH_BIN") or str(root / "build" / "bin" / "fullgraph")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        shutil.copy2(program, folder / "bin" / "fullgraph")  # where anybody may run it
        project = folder / "project"
        (project / "sub").mkdir(parents=True)
        (project / "a.py").write_text(SOURCE)
        (project / "sub" / "m.py").write_text(SOURCE)
        (project / "z.py").write_text(SOURCE)
        folder.chmod(0o755)
        other = as_another(project)
        closed = project / "sub" / "m.py" if what == "file" else project / "sub"
        closed.chmod(0o444 if what == "file" else 0o555)
        done = subprocess.run([str(folder / "bin" / "fullgraph"), "check", "--isolated", "--fix"], cwd=project,
                              capture_output=True, text=True, env={"PATH": os.environ["PATH"]}, **other)
        closed.chmod(0o755)
        assert done.returncode == 2, done.stdout + done.stderr
        assert "sub/m.py" in done.stderr and "cannot write" in done.stderr
        for path in ("a.py", "sub/m.py", "z.py"):
            assert (project / path).read_text() == SOURCE
        assert sorted(p.name for p in project.rglob("*")) == ["a.py", "m.py", "sub", "z.py"]


def test_links(check, tmp_path):
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir(), outside.mkdir()
    (outside / "library.py").write_text(SOURCE)
    (project / "m.py").write_text(SOURCE)
    (project / "library.py").symlink_to("../outside/library.py")
    result = check("--fix", cwd=project)
    assert result.code == 1
    assert "library.py: not repaired: it is a link to" in result.stderr
    assert (outside / "library.py").read_text() == SOURCE
    assert (project / "m.py").read_text() == SAFE
    check("--fix", "library.py", cwd=project).ok()  # named: meant
    assert (outside / "library.py").read_text() == SAFE
    assert (project / "library.py").is_symlink()


def test_two_names_of_one_file(check, tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    (tmp_path / "n.py").symlink_to("m.py")
    assert check("--fix", "--unsafe-fixes").code == 0
    assert (tmp_path / "m.py").read_text() == BOTH
    assert (tmp_path / "n.py").is_symlink()


def test_what_a_killed_run_leaves_is_not_linted(check, tmp_path):
    (tmp_path / ".fullgraph-a1B2c3.tmp").write_text(SOURCE)
    (tmp_path / "m.py").write_text(SAFE)
    assert check("--show-files", "--config", "include = ['*']").stdout == "m.py\n"


def test_killed_at_any_time_every_file_is_the_old_or_the_new_one(root, tmp_path):
    program = os.environ.get("FULLGRAPH_BIN") or str(root / "build" / "bin" / "fullgraph")
    names = [f"m{i}.py" for i in range(40)]
    chance = random.Random(1)
    seen = set()
    for _ in range(12):
        for name in names:
            (tmp_path / name).write_text(SOURCE)
        run = subprocess.Popen([program, "check", "--isolated", "--fix", "-qq"], cwd=tmp_path)
        time.sleep(chance.uniform(0.0, 0.12))
        run.send_signal(signal.SIGKILL)
        run.wait()
        texts = {(tmp_path / name).read_text() for name in names}
        assert texts <= {SOURCE, SAFE}
        seen |= texts
        for left in tmp_path.glob(".fullgraph-*.tmp"):
            left.unlink()
        assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names)
    assert seen


# Properties ------------------------------------------------------------------------------------------------------------


def programs(fixtures) -> list[str]:
    """Sources that can stand one after the other in one file."""
    out = []
    for path in sorted(fixtures.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        if "__future__" not in text:
            out.append(text)
    return out


def test_no_fix_of_a_fixture_is_rolled_back(check, fixtures, tmp_path):
    for part in ("rules", "cases", "reports", "quickstart"):
        shutil.copytree(fixtures / part, tmp_path / part)
    result = check("--fix", "--unsafe-fixes", "--exit-zero")
    assert result.code == 0, result.stderr
    assert not [line for line in result.stderr.splitlines() if not line.startswith("note: ")], "nothing is rolled back"
    assert "fixed," in result.stdout
    changed = 0
    after = {}
    for path in tmp_path.rglob("*.py"):
        after[path] = path.read_bytes()
        original = (fixtures / path.relative_to(tmp_path)).read_bytes()
        changed += after[path] != original
        if after[path] != original:
            ast.parse(after[path])
    assert changed > 5
    check("--fix", "--unsafe-fixes").ok()
    assert {path: path.read_bytes() for path in after} == after


UNUSED = ["  # fullgraph: ignore[FG205]", "  # fullgraph: ignore[FG205, FG304] why", "  # noqa: FG205"]


def mutated(text: str, chance: random.Random) -> str:
    """The text with suppressions strewn in, of which most suppress nothing, and in one of the layouts."""
    lines = text.split("\n")
    for _ in range(3):
        at = chance.randrange(len(lines))
        if lines[at].strip() and "#" not in lines[at] and not lines[at].endswith("\\"):
            lines[at] += chance.choice(UNUSED)
    text = chance.choice(["\n", "\r\n"]).join(lines)
    return chance.choice(["", "\ufeff"]) + (text.rstrip() if chance.random() < 0.3 else text)


def untouched(text: str, edits: list[dict]) -> list[str]:
    """The lines, with their ends, that no edit on offer touches."""
    touched = {line for edit in edits for line in range(edit["line"], edit["end_line"] + 1)}
    return [line for number, line in enumerate(text.splitlines(keepends=True), 1) if number not in touched]


def is_subsequence(some: list[str], of: list[str]) -> bool:
    rest = iter(of)
    return all(line in rest for line in some)


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(check, fixtures, tmp_path, seed):
    """What is repaired parses, is repaired for good, and is the same as before outside of the edits."""
    chance = random.Random(seed)
    pool = programs(fixtures)
    before = {}
    for i in range(12):
        text = "\n\n".join(chance.sample(pool, chance.randrange(1, 4)))
        text = mutated(text, chance)
        try:
            ast.parse(text.lstrip("\ufeff"))
        except SyntaxError:
            continue
        path = tmp_path / f"m{i}.py"
        path.write_bytes(text.encode())
        before[path] = text
    offered = check("--unsafe-fixes", "--output-format", "json").ok().findings()
    edits = [edit for finding in offered for fix in finding["fixes"] for edit in fix["edits"]]
    patch = check("--diff", "--unsafe-fixes")
    first = check("--fix", "--unsafe-fixes", "--output-format", "json").ok()
    assert "rolled back" not in first.stderr
    after = {path: path.read_bytes().decode() for path in before}
    for path, text in after.items():
        ast.parse(text.lstrip("\ufeff"))
        mine = [edit for edit in edits if edit["file"] == path.name]
        assert is_subsequence(untouched(before[path], mine), text.splitlines(keepends=True))
        assert text.startswith("\ufeff") == before[path].startswith("\ufeff")
        assert ("\r\n" in text) == ("\r\n" in before[path])
        assert text.endswith("\n") == before[path].endswith("\n")
    assert patch.code == (1 if after != before else 0)
    second = check("--fix", "--unsafe-fixes", "--output-format", "json").ok()
    assert {path: path.read_bytes().decode() for path in before} == after
    assert second.findings() == first.findings()


# Repairs that would be wrong --------------------------------------------------------------------------------------------

HEAD = "import torch\nfrom torch import nn\nfrom torch.utils.checkpoint import checkpoint, checkpoint_sequential\n\n\n"

LEFT_ALONE = {
    "the exception decides how the function goes on": """
        class A(nn.Module):
            def forward(self, x):
                try:
                    if x.sum() > 0:
                        raise ValueError("positive")
                except ValueError:
                    return x + 1
                return x - 1
        """,
    "the exception ends a loop": """
        class A(nn.Module):
            def forward(self, x):
                while True:
                    x = x * 2
                    if x.sum() > 100:
                        raise RuntimeError("done")
        """,
    "an exception that is no error": """
        def step(x):
            if x.sum() > 0:
                raise StopIteration
            return x

        class A(nn.Module):
            def forward(self, x):
                try:
                    return step(x)
                except StopIteration:
                    return x + 1
        """,
    "the name is used later": """
        class A(nn.Module):
            def forward(self, x):
                if (n := x.max()) > 3:
                    raise ValueError("big")
                return x * n
        """,
    "what is printed changes something": """
        class A(nn.Module):
            def forward(self, x, seen):
                print(seen.pop())
                return x
        """,
    "the test changes something": """
        class A(nn.Module):
            def forward(self, x):
                if x.add_(1).sum() > 3:
                    raise ValueError("big")
                return x
        """,
    "a list called log": """
        class A(nn.Module):
            def forward(self, x):
                log = []
                log.append(x.sum().item())
                return x + log[0]
        """,
    "the gradient of the marked tensor is wanted": """
        class A(nn.Module):
            def forward(self, pos):
                pos.requires_grad = True
                return torch.autograd.grad((pos**2).sum(), pos, create_graph=True)[0]
        """,
    "the marking has another user": """
        def set_grad(t, on):
            t.requires_grad = on

        def freeze(net):
            for p in net.parameters():
                set_grad(p, False)

        class A(nn.Module):
            def forward(self, x):
                if self.training:
                    set_grad(x, True)
                return x * 2
        """,
    "the marking binds a name": """
        class A(nn.Module):
            def forward(self, x):
                if self.training:
                    x.requires_grad = flag = True
                    print_later = flag
                return x * 2
        """,
    "the flag is read by name": """
        class A(nn.Module):
            def __init__(self):
                super().__init__()
                self._mark = True

            def marks(self):
                return getattr(self, "_mark")

            def forward(self, x):
                if self._mark:
                    x.requires_grad = True
                return x * 2
        """,
    "what a dictionary brings is not known": """
        def run(f, *args, **kwargs):
            return checkpoint(f, *args, **kwargs)

        class A(nn.Module):
            def forward(self, x):
                return run(torch.relu, x) + run(torch.relu, x, use_reentrant=False)
        """,
    "the argument is there already": """
        class A(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))

            def forward(self, x):
                return checkpoint_sequential(self.net, 2, x, False)
        """,
    "two hooks in one function": """
        def install(a, b):
            def clip(mod, grad_input, grad_output):
                for p in mod.parameters():
                    p.grad = None

            def clip_more(mod, grad_input, grad_output):
                for p in mod.parameters():
                    p.grad = None

            a.register_full_backward_hook(clip)
            b.register_full_backward_hook(clip_more)

        class A(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)
                install(self.a, self.b)

            def forward(self, x):
                return self.b(self.a(x))
        """,
    "the break has a result": """
        class A(nn.Module):
            def forward(self, x):
                y = (torch._dynamo.graph_break(), x + 1)[1]
                return y
        """,
}


@pytest.mark.parametrize("why", LEFT_ALONE)
def test_what_no_edit_is_right_for(check, tmp_path, why):
    program = HEAD + textwrap.dedent(LEFT_ALONE[why]).strip("\n") + "\n"
    compile(program, why, "exec")
    (tmp_path / "m.py").write_text(program)
    for flags in ([], ["--unsafe-fixes"]):
        result = check("--diff", *flags)
        assert result.code == 0 and result.stdout == "", result.stdout


def test_arguments_are_added_behind_the_last(check, tmp_path):
    body = "def f(g, x, y):\n    a = checkpoint(g, (x))\n    b = checkpoint(\n        g,\n        y,  # why\n    )\n    return a, b\n\n\nclass A(nn.Module):\n    def forward(self, x, y):\n        return f(torch.relu, x, y)\n"
    (tmp_path / "m.py").write_text(HEAD + body)
    check("--fix-only", "--unsafe-fixes")
    repaired = (tmp_path / "m.py").read_text()
    assert "checkpoint(g, (x), use_reentrant=False)" in repaired
    assert "        y, use_reentrant=False,  # why\n" in repaired


@pytest.mark.parametrize("mode", ["any", "train"])
def test_a_marking_is_kept_out_of_compiled_code_in_every_mode(check, tmp_path, mode):
    body = "class A(nn.Module):\n    def forward(self, x):\n        if self.training:\n            x.requires_grad = True\n        return x * 2\n"
    (tmp_path / "m.py").write_text(HEAD + body)
    check("--fix-only", "--mode", mode)
    assert (tmp_path / "m.py").read_text() == HEAD + body.replace("if self", "if not torch.compiler.is_compiling() and self")


def test_a_flag_goes_from_subclasses_in_other_files_too(check, tmp_path):
    (tmp_path / "base.py").write_text(HEAD + textwrap.dedent("""
        class Encoder(nn.Module):
            def __init__(self):
                super().__init__()
                self._mark = True

            def forward(self, x):
                if self._mark and self.training:
                    x.requires_grad = True
                return x * 2
        """).strip("\n") + "\n")
    subclass = "from base import Encoder\n\n\nclass Frozen(Encoder):\n    def __init__(self):\n        super().__init__()\n        self.frozen = True\n        self._mark = False\n"
    (tmp_path / "sub.py").write_text(subclass)
    check("--fix-only", "--unsafe-fixes")
    assert "_mark" not in (tmp_path / "base.py").read_text() and "requires_grad" not in (tmp_path / "base.py").read_text()
    assert (tmp_path / "sub.py").read_text() == subclass.replace("        self._mark = False\n", "")
