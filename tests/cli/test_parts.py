"""A part of the findings: on changed lines (`--diff-base`, with the real git), of one shard, and all parts together."""
from __future__ import annotations

import json
import os
import random
import subprocess

import pytest
from conftest import ROOT

MODEL = """import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        print(x)
        y = x.sum().item()
        return y


class Other(nn.Module):
    def forward(self, x):
        print(x)
        return x
"""


@pytest.fixture
def check(fullgraph, tmp_path):
    def run(*args, **kwargs):
        return fullgraph("check", "--isolated", *args, **{"cwd": tmp_path, **kwargs})

    return run


def git(folder, *args):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *args], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def lines(result) -> list[tuple[str, int]]:
    return [(one["file"], one["line"]) for one in result.ok().findings()]


@pytest.fixture
def repository(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "kept.py").write_text(MODEL)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    return tmp_path


def since(check, revision, *args, **kwargs):
    return check("--output-format", "json", "--diff-base", revision, *args, **kwargs)


def test_changed_lines(check, repository):
    """Edited, staged, committed and new: all of that is a change since the revision; what was there is none."""
    assert lines(since(check, "HEAD")) == []
    (repository / "model.py").write_text(MODEL.replace("sum().item()", "max().item()"))
    assert lines(since(check, "HEAD")) == [("model.py", 8)]
    git(repository, "add", "-A")
    assert lines(since(check, "HEAD")) == [("model.py", 8)]
    git(repository, "commit", "-qm", "two")
    assert lines(since(check, "HEAD")) == []
    assert lines(since(check, "HEAD~1")) == [("model.py", 8)]
    (repository / "new.py").write_text(MODEL)
    assert lines(since(check, "HEAD")) == [("new.py", 7), ("new.py", 8), ("new.py", 14)]
    result = since(check, "HEAD", "new.py", "kept.py")
    assert result.code == 1 and "3 findings on lines that have not changed since HEAD are left out" in result.stderr


def test_moved_lines_have_not_changed(check, repository):
    """Lines above that come and go, and a file under another name, change nothing of what is below."""
    (repository / "model.py").write_text("# a\n# b\n" + MODEL.replace("from torch import nn\n", "from torch import nn  #\n"))
    assert lines(since(check, "HEAD")) == []
    git(repository, "checkout", "-q", "model.py")
    git(repository, "mv", "model.py", "renamed.py")
    assert lines(since(check, "HEAD")) == []


def test_what_the_base_has_since_got_is_not_ours(check, repository):
    """As in a pull request: the branch is compared with where it left the base, not with where the base is now."""
    git(repository, "checkout", "-qb", "ours")
    (repository / "model.py").write_text(MODEL.replace("sum().item()", "max().item()"))
    git(repository, "commit", "-qam", "ours")
    git(repository, "checkout", "-q", "main")
    (repository / "kept.py").write_text(MODEL.replace("print(x)", "print(x, x)"))
    git(repository, "commit", "-qam", "theirs")
    git(repository, "checkout", "-q", "ours")
    assert lines(since(check, "main")) == [("model.py", 8)]


def test_folders_and_names(check, repository):
    """From below the top, with names that git quotes and a configuration that changes what git prints."""
    folder = repository / "a b"
    folder.mkdir()
    for name in ("plain.py", "blank name.py", "ü.py", 'quo"te.py'):
        (folder / name).write_text(MODEL)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "two")
    for key, value in (("diff.noprefix", "true"), ("diff.mnemonicPrefix", "true"), ("color.ui", "always"),
                       ("diff.relative", "true"), ("diff.external", "false"), ("core.quotePath", "true")):
        git(repository, "config", key, value)
    for path in folder.iterdir():
        # Added lines that look like the headers of a patch
        path.write_text(MODEL.replace("sum().item()", "max().item()") + "text = '''\n++ b/kept.py\n@@ -1 +1,99 @@\n'''\n")
    expected = sorted((name, 8) for name in ("plain.py", "blank name.py", "ü.py", 'quo"te.py'))
    assert sorted(lines(since(check, "HEAD", cwd=folder))) == expected
    assert sorted(lines(since(check, "HEAD", ".", cwd=folder))) == expected


def test_nothing_changed_is_lost(check, repository):
    """Whatever git is told to print; and files that git does not track, or another repository does, count as new."""
    text = MODEL.replace("sum().item()", "max().item()")
    (repository / "model.py").write_text(text.replace("        return x\n", "        return x * 1\n"))
    (repository / "kept.py").write_text(text)
    git(repository, "config", "diff.interHunkContext", "20")
    (repository / ".gitattributes").write_text("*.py -diff\n")
    (repository / ".gitignore").write_text("ignored.py\n")
    (repository / "ignored.py").write_text(MODEL)
    inner = repository / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "net.py").write_text(MODEL)
    git(inner, "add", "-A")
    git(inner, "commit", "-qm", "inner")
    new = [7, 8, 14]
    assert sorted(lines(since(check, "HEAD", ".", "ignored.py", "inner/net.py"))) == sorted(
        [("model.py", 8), ("kept.py", 8), *(("ignored.py", line) for line in new), *(("inner/net.py", line) for line in new)])


def test_a_repository_of_somebody_else_runs_nothing(check, repository):
    """git would start the filter that its configuration names."""
    git(repository, "config", "filter.odd.clean", f"touch {repository}/started; cat")
    (repository / ".gitattributes").write_text("*.py filter=odd\n")
    (repository / "model.py").write_text(MODEL + "\n")
    (repository / "started").unlink(missing_ok=True)
    if os.geteuid() != 0:
        pytest.skip("only root can give files to others")
    for path in (repository, repository / ".git"):
        os.chown(path, 65534, 65534)
    assert since(check, "HEAD").code == 2 and not (repository / "started").exists()
    assert check().code == 1 and not (repository / "started").exists()


def test_baseline_and_changed_lines(check, repository):
    """A second finding that looks like an accepted one is new; and identities are those of the whole report."""
    check("--baseline", "accepted.json", "--update-baseline", "model.py")
    (repository / "model.py").write_text(MODEL.replace("        return x\n", "        print(x)\n        return x\n"))
    assert lines(since(check, "HEAD", "--baseline", "accepted.json", "model.py")) == [("model.py", 14)]  # by git
    whole = check("--output-format", "json", "model.py").findings()
    (new,) = since(check, "HEAD", "model.py").findings()
    assert new["fingerprint"] == [one["fingerprint"] for one in whole if one["line"] == 14][0]
    git(repository, "checkout", "-q", "model.py")
    assert "are gone" not in since(check, "HEAD", "--baseline", "accepted.json", "model.py").stderr


def test_diff_base_errors(check, repository, tmp_path_factory):
    assert "--diff-base nowhere: git: " in since(check, "nowhere").stderr
    for revision in ("nowhere", "--output=x", "HEAD~9"):
        assert check(f"--diff-base={revision}").code == 2
    assert not (repository / "x").exists()
    outside = tmp_path_factory.mktemp("outside")
    (outside / "m.py").write_text(MODEL)
    result = check("--diff-base", "HEAD", cwd=outside)
    assert result.code == 2 and "git" in result.stderr
    for flag in ("--fix", "--diff", "--update-baseline"):
        assert check("--diff-base", "HEAD", flag).code == 2


# Shards ----------------------------------------------------------------------------------------------------------------

# Files that need each other: what is found in one depends on others.
HELPERS = "import torch\n\n\ndef largest(x):\n    return x.max().item()\n"
USER = """import torch
from torch import nn
from helpers import largest


class Net{0}(nn.Module):
    def forward(self, x):
        print(x)  # fullgraph: ignore[FG501] wanted
        x.requires_grad = True  # fullgraph: ignore[FG402] for nothing
        return x / largest(x)
"""


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "helpers.py").write_text(HELPERS)
    for number in range(11):
        (folder / f"net{number}.py").write_text(USER.format(number) + "#" * random.Random(number).randrange(4000) + "\n")
    (folder / "broken.py").write_text("def f(:\n")
    (folder / "unreadable.py").write_bytes(b"x = 1\0\n")
    return folder


def shards(check, project, of):
    for number in range(1, of + 1):
        (project / "reports").mkdir(exist_ok=True)
        check("--shard", f"{number}/{of}", "--output-format", "json", "-o", project / "reports" / f"{number}.json", ".",
              cwd=project)
    return sorted((project / "reports").glob("*.json"), reverse=True)


@pytest.mark.parametrize("of", [1, 2, 3, 12, 40])
@pytest.mark.parametrize("format", ["json", "sarif", "full", "concise", "gitlab", "junit", "html"])
def test_all_parts_are_the_whole(check, fullgraph, project, of, format):
    whole = check("--output-format", format, ".", cwd=project)
    parts = shards(check, project, of)
    merged = fullgraph("merge", "--output-format", format, *parts, cwd=project)
    assert merged.stdout == whole.stdout and merged.code == whole.code == 1
    assert merged.stdout.count("FG") >= 10


def test_parts_share_nothing(check, project):
    files = [check("--shard", f"{n}/3", "--show-files", ".", cwd=project).stdout.split() for n in (1, 2, 3)]
    assert sum(files, []) == check("--show-files", ".", cwd=project).stdout.split()
    assert all(files)


def test_merge_of_whole_runs(check, fullgraph, repository):
    """Reports of different folders join as well; and the sources may be gone."""
    for name in ("model", "kept"):
        check("--output-format", "json", "-o", f"{name}.json", f"{name}.py")
    whole = check("--output-format", "concise", "kept.py", "model.py")
    merged = fullgraph("merge", "--output-format", "concise", "model.json", "kept.json", cwd=repository)
    assert merged.code == 1 and merged.stdout == whole.stdout
    (repository / "model.py").unlink()
    gone = fullgraph("merge", "--output-format", "concise", "model.json", "kept.json", cwd=repository)
    assert gone.stdout == whole.stdout
    identities = [one["fingerprint"] for one in check("--output-format", "json", "kept.py").findings()]
    (repository / "kept.py").write_text("# another text\n")
    other = fullgraph("merge", "--output-format", "json", "kept.json", cwd=repository)
    assert [one["fingerprint"] for one in other.findings()] == identities


def test_merge_errors(check, fullgraph, project):
    shards(check, project, 3)
    reports = project / "reports"

    def said(*files):
        result = fullgraph("merge", *files, cwd=reports)
        assert result.code == 2
        return result.stderr

    assert "part 2/3 is missing" in said("1.json", "3.json")
    assert "part 3/3 is there twice" in said("1.json", "2.json", "3.json", "3.json")
    assert "not.json" in said("not.json")
    for text in ("", "{", "[]", '{"schema": 2}', '{"schema": 1}', "null", '{"schema": "1"}'):
        (reports / "odd.json").write_text(text)
        assert "no report of fullgraph in JSON" in said("odd.json"), text
    report = json.loads((reports / "1.json").read_text())
    odd = [("line", 0), ("end_line", 2**32), ("line", 1.5), ("line", -1), ("line", 10**15), ("line", "1"), ("file", 3), ("severity", "loud"), ("path", [1]), ("fixes", [1]),
           ("column", 4_000_000_000)]
    for key, value in odd:
        finding = {**report["findings"][0], key: value, "file": value if key == "file" else "not-there.py"}
        (reports / "odd.json").write_text(json.dumps({**report, "findings": [finding], "shard": {"number": 1, "of": 1}}))
        assert "no report of fullgraph in JSON" in said("odd.json"), key
    nested = "[" * 100_000 + "]" * 100_000
    (reports / "odd.json").write_text((reports / "1.json").read_text().replace('"findings": [', f'"findings": [{nested},', 1))
    assert "no report of fullgraph in JSON" in said("odd.json")
    for name in ("/dev/zero", "fifo"):
        if name == "fifo":
            os.mkfifo(reports / name)
        finding = {**report["findings"][0], "file": name, "path": [], "related": [], "fixes": []}
        (reports / "odd.json").write_text(json.dumps({**report, "findings": [finding], "shard": {"number": 1, "of": 1}}))
        assert fullgraph("merge", "odd.json", cwd=reports, timeout=20).code == 1
    (reports / "2.json").write_text((reports / "2.json").read_text().replace('"version": "', '"version": "9.'))
    assert "several versions" in said("1.json", "2.json", "3.json")


def test_shard_errors(check, project):
    for shard in ("0/2", "3/2", "1", "a/b", "1/0", "-1/2"):
        assert check(f"--shard={shard}", cwd=project).code == 2
    assert check("--shard", "1/2", "--fix", cwd=project).code == 2
    assert check("--shard", "1/2", "-", stdin="x = 1\n", cwd=project).code == 2


def test_real_sources(check, fullgraph, tmp_path):
    """Fixtures of all rules at once, in five parts."""
    folder = ROOT / "fixtures" / "rules"
    whole = check("--output-format", "json", "--roots", "modules", ".", cwd=folder)
    parts = [tmp_path / f"{n}.json" for n in range(1, 6)]
    for n, part in enumerate(parts, 1):
        check("--output-format", "json", "--roots", "modules", "--shard", f"{n}/5", "-o", part, ".", cwd=folder)
    assert fullgraph("merge", "--output-format", "json", *parts, cwd=folder).stdout == whole.stdout
    assert len(whole.findings()) > 100


def test_arguments_behind_two_dashes(check, tmp_path):
    """As everywhere: what follows is a path, whatever it looks like."""
    (tmp_path / "-odd.py").write_text(MODEL)
    assert lines(check("--output-format", "json", "--", "-odd.py")) == [("-odd.py", 7), ("-odd.py", 8), ("-odd.py", 14)]
    assert check("--", "--select").code == 2
