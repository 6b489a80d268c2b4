"""The frontend against Python itself: the same tree, the same positions, the same scopes, on the standard library."""
import pathlib
import re
import sys
import sysconfig
import warnings

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import ast_dump  # noqa: E402
import symbol_scopes  # noqa: E402

STANDARD_LIBRARY = pathlib.Path(sysconfig.get_path("stdlib"))
# Every fifth module; the tests of the parser hold most odd forms.
FILES = sorted(STANDARD_LIBRARY.glob("*.py"))[::5] + [
    file
    for name in ("grammar", "syntax", "patma", "fstring", "named_expressions", "positional_only_arg", "unpack_ex", "lambda")
    if (file := STANDARD_LIBRARY / "test" / f"test_{name}.py").exists()
]
NAME = re.compile(r"Name (\d+):(\d+)-\S+ (\S+) (local|enclosing|global|class)")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_tree_and_scopes(fullgraph, file):
    with open(file, encoding="utf-8", newline="") as opened:
        text = opened.read()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = ast_dump.expected(text)
        # Since 3.12 comprehensions have no table of their own.
        scopes = symbol_scopes.expected(text) if sys.version_info < (3, 12) else {}
    dump = fullgraph("dump", "--ir", file).ok().stdout
    lines = ast_dump.plain(dump)
    lines[0] = "Module m"
    difference = ast_dump.same(lines, expected)
    assert difference is None, f"line {difference[0]}: {difference[1]!r} should be {difference[2]!r}"
    ours = {(int(m[1]), int(m[2]) - 1, m[3]): m[4] for m in NAME.finditer(dump)}
    wrong = {place: (ours[place], meaning) for place, meaning in scopes.items() if ours.get(place, meaning) != meaning}
    assert not wrong


def test_the_comparison_sees_differences():
    ours = ["Name 1:1-1:2 a", "Int 1:5-1:6 1"]
    assert ast_dump.same(ours, ours) is None
    assert ast_dump.same(ours, ["Name 1:1-1:3 a", "Int 1:5-1:6 1"]) is not None
    assert ast_dump.same(ours, ours[:1]) is not None
    assert ast_dump.same(ours, ["Name - a", "Int 1:5-1:6 1"]) is None
    assert ast_dump.same(ours, ["Name - b", "Int 1:5-1:6 1"]) is not None
