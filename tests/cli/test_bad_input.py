"""Inputs that nobody writes on purpose: the right place or a clear message, never a crash or a hang."""
from __future__ import annotations

import os
import time

import pytest

FORWARD = "from torch import nn\n\nclass M(nn.Module):\n    def forward(self, x):\n        x.requires_grad = True\n        return x\n"


@pytest.fixture
def check(fullgraph, tmp_path):
    def run(*args, **kwargs):
        begin = time.monotonic()
        result = fullgraph("check", "--no-cache", "--output-format", "json", *args, cwd=tmp_path, timeout=60, **kwargs)
        assert time.monotonic() - begin < 30
        assert "internal error" not in result.stderr
        return result

    return run


def places(result, code):
    return [(f["file"], f["line"], f["column"]) for f in result.ok().findings() if f["code"] == code]


def test_empty_file(check, tmp_path):
    (tmp_path / "a.py").write_bytes(b"")
    assert check().ok().findings() == []


def test_not_utf8_has_the_place_of_the_byte(check, tmp_path):
    (tmp_path / "a.py").write_bytes(b"x = 1\ny = '\xc3\xa4 caf\xe9'\n")
    assert places(check(), "FG902") == [("a.py", 2, 11)]
    (tmp_path / "ok.py").write_text(FORWARD)
    assert places(check(), "FG101") == [("ok.py", 5, 9)]  # the other file is linted all the same


def test_nul_bytes(check, tmp_path):
    (tmp_path / "a.py").write_bytes(b"x = 1\ny = \0\n")
    [(file, line, _)] = places(check(), "FG902")
    assert (file, line) == ("a.py", 2)


def test_utf16(check, tmp_path):
    (tmp_path / "a.py").write_bytes("x = 1\n".encode("utf-16"))
    assert len(places(check(), "FG902")) == 1


def test_ten_thousand_parentheses(check, tmp_path):
    (tmp_path / "a.py").write_text("x = " + "(" * 10_000 + "1" + ")" * 10_000 + "\n" + FORWARD)
    assert places(check(), "FG101") == [("a.py", 6, 9)]


@pytest.mark.parametrize("opening", ["[", "{", "f(", "not ", "-", "lambda: ", "if x:\n"])
def test_other_deep_nesting(check, tmp_path, opening):
    (tmp_path / "a.py").write_text("x = " + opening * 10_000 + "\n")
    check().ok()


def test_deep_blocks_and_long_chains(check, tmp_path):
    (tmp_path / "blocks.py").write_text("".join(" " * n + "if x:\n" for n in range(2_000)) + " " * 2_000 + "pass\n")
    (tmp_path / "chain.py").write_text("x = a" + ".b" * 50_000 + "\n" + "y = 1" + " + 1" * 50_000 + "\n")
    (tmp_path / "elif.py").write_text("if x == 0:\n    pass\n" + "".join(f"elif x == {n}:\n    pass\n" for n in range(5_000)))
    check().ok()


def test_twenty_megabytes(check, tmp_path):
    lines = 200_000
    (tmp_path / "a.py").write_text("DATA = [\n" + f'    "{"a" * 93}",\n' * lines + "]\n" + FORWARD)
    assert places(check(), "FG101") == [("a.py", lines + 7, 9)]


def test_one_line_of_a_megabyte(check, fullgraph, tmp_path):
    (tmp_path / "a.py").write_text(FORWARD.replace("x.requires", "y = '" + "a" * 1_000_000 + "'; x.requires"))
    assert len(places(check(), "FG101")) == 1
    full = fullgraph("check", "--no-cache", "a.py", cwd=tmp_path).stdout
    assert max(map(len, full.splitlines())) < 400
    assert "^^^" in full


def test_symbolic_links(check, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "m.py").write_text(FORWARD)
    os.symlink("..", tmp_path / "sub" / "up")
    os.symlink("self.py", tmp_path / "self.py")
    os.symlink("nowhere", tmp_path / "dangling.py")
    assert places(check(), "FG101") == [("sub/m.py", 5, 9)]
    for name in ("self.py", "dangling.py"):
        result = check(name)
        assert result.code == 2
        assert name in result.stderr


def test_unreadable_file(check, tmp_path):
    """A file of /proc that exists and cannot be read, whoever asks."""
    (tmp_path / "ok.py").write_text(FORWARD)
    result = check("/proc/self/mem", "ok.py")
    assert result.code == 2
    assert "/proc/self/mem" in result.stderr
    assert [f["code"] for f in result.findings()] == ["FG101"]  # still reported
    [error] = result.json()["errors"]
    assert error["file"] == "/proc/self/mem"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_file_without_permission(check, tmp_path):
    (tmp_path / "a.py").write_text(FORWARD)
    (tmp_path / "a.py").chmod(0)
    result = check()
    assert result.code == 2
    assert "a.py" in result.stderr


def test_folder_called_like_a_file(check, tmp_path):
    (tmp_path / "x.py").mkdir()
    (tmp_path / "x.py" / "m.py").write_text(FORWARD)
    assert places(check(), "FG101") == [("x.py/m.py", 5, 9)]
    assert places(check("x.py"), "FG101") == [("x.py/m.py", 5, 9)]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends(check, tmp_path, end):
    (tmp_path / "a.py").write_bytes(FORWARD.replace("\n", end).encode())
    assert places(check(), "FG101") == [("a.py", 5, 9)]


def test_byte_order_mark(check, tmp_path):
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbf" + FORWARD.encode())
    assert places(check(), "FG101") == [("a.py", 5, 9)]
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbfx = (\n")
    assert [line for _, line, _ in places(check(), "FG902")] == [1]


def test_tabs_and_wide_identifiers(check, fullgraph, tmp_path):
    text = "from torch import nn\n\nclass 模型(nn.Module):\n\tdef forward(self, 数据):\n\t\t数据.requires_grad = True\n\t\treturn 数据\n"
    (tmp_path / "a.py").write_text(text)
    [finding] = check().findings()
    assert (finding["line"], finding["column"], finding["end_column"]) == (5, 3, 19)
    lines = fullgraph("check", "--no-cache", "a.py", cwd=tmp_path).stdout.splitlines()
    [number] = [i for i, line in enumerate(lines) if line.startswith("5 |")]
    # Two tabs are eight columns, each ideograph two.
    width = len("数据.requires_grad") + 2
    assert lines[number + 1] == "  | " + " " * 8 + "^" * width


def test_syntax_error_has_a_place_and_the_rest_is_analysed(check, tmp_path):
    (tmp_path / "a.py").write_text(FORWARD + "\ndef broken(:\n    pass\n")
    result = check()
    assert places(result, "FG101") == [("a.py", 5, 9)]
    assert {line for _, line, _ in places(result, "FG902")} == {8}


def test_control_characters_do_not_reach_the_terminal(fullgraph, tmp_path):
    (tmp_path / "a.py").write_text(FORWARD.replace("True", "True  # \x1b[2J\u202e"))
    out = fullgraph("check", "--no-cache", "a.py", cwd=tmp_path).stdout
    assert "requires_grad = True" in out
    assert "\x1b" not in out and "\u202e" not in out


def test_names_with_blanks_and_line_breaks(check, tmp_path):
    name = "a b\nc.py"
    (tmp_path / name).write_text(FORWARD)
    assert places(check(), "FG101") == [(name, 5, 9)]


@pytest.mark.parametrize("length", [1, 2, 5])
def test_modules_that_import_a_name_from_each_other(check, tmp_path, length):
    for i in range(length):
        (tmp_path / f"m{i}.py").write_text(f"from m{(i + 1) % length} import name\n\n\nclass M{i}(name):\n    pass\n")
    (tmp_path / "ok.py").write_text(f"from m0 import name\n{FORWARD}")
    assert places(check(), "FG101") == [("ok.py", 6, 9)]
