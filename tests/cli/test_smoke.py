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


def test_quickstart_shows_each_of_the_problems(fullgraph, fixtures):
    """The README promises them; which line each is on is in the golden outputs."""
    result = fullgraph("check", "--no-cache", "--output-format", "json", fixtures / "quickstart").ok()
    assert result.code == 1
    codes = {finding["code"] for finding in result.findings()}
    assert {"FG101", "FG201", "FG204", "FG301", "FG302", "FG304", "FG401", "FG402", "FG501"} <= codes
