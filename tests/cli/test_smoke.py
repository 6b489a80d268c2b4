"""The first minute with the program."""
import re


def test_version(fullgraph):
    result = fullgraph("--version")
    assert result.code == 0
    assert re.fullmatch(r"fullgraph \d+\.\d+\.\d+\n", result.stdout)


def test_help_names_the_commands(fullgraph):
    result = fullgraph("--help")
    assert result.code == 0
    assert "check" in result.stdout and "rule" in result.stdout


def codes_in(result):
    assert result.ok().code == 1
    return {finding["code"] for finding in result.findings()}


def test_quickstart_shows_each_of_the_problems(fullgraph, fixtures):
    """The README promises them; which line each is on is in the golden outputs."""
    check = ("check", "--no-cache", "--output-format", "json")
    entry = fixtures / "quickstart" / "speech" / "model.py"
    found = codes_in(fullgraph(*check, fixtures / "quickstart"))
    assert {"FG101", "FG105", "FG201", "FG204", "FG301", "FG302", "FG401", "FG402", "FG501"} <= found
    # Some are known only without an entry, or only with one.
    found |= codes_in(fullgraph(*check, "--entry", f"{entry}:example", fixtures / "quickstart"))
    assert "FG304" in found
