"""Every fixture in fixtures/rules/<CODE>/: what is found there is what its marks say, whatever the number of threads."""
from __future__ import annotations

import functools
import json
import re

import pytest
from conftest import ROOT, run_fullgraph
from expectations import EXPECTED
from known_gaps import judge, read_known_gaps
from marks import disagreements, read_marks

RULES = ROOT / "fixtures" / "rules"


def fixture_files():
    """A fixture is a file, or a folder with main.py (several files); *.fixed.py is what a fix makes of its sibling."""
    for path in sorted(RULES.glob("FG*/*")):
        if path.is_dir() and (path / "main.py").exists():
            yield path
        elif path.suffix == ".py" and not path.name.endswith(".fixed.py"):
            yield path


FIXTURES = list(fixture_files())
GAPS = read_known_gaps()


def name_of(path):
    return f"{path.parent.name}/{path.name}"


def check(path, jobs):
    main = path / "main.py" if path.is_dir() else path
    _, mode = read_marks(main)
    if path.parent.name.startswith("FG9"):
        mode = "any"  # whether a suppression is of use cannot be said from one mode alone
    entry = ["--entry", f"{main}:case"] if re.search(r"^def case\(", main.read_text(encoding="utf-8"), re.M) else []
    return run_fullgraph("check", "--no-cache", *entry, "--mode", mode, "--jobs", jobs, "--output-format", "json", path).ok()


@functools.cache
def ids_of_rules():
    """The ids of Dynamo that each rule says it reports."""
    rules = json.loads(run_fullgraph("rule", "--all", "--output-format", "json").ok().stdout)
    return {rule["code"]: set(rule["gb_ids"]) for rule in rules}


@pytest.mark.parametrize("path", FIXTURES, ids=name_of)
def test_fixture(path):
    result = check(path, 1)
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    wrong = []
    for file in files:
        marks, _ = read_marks(file)
        findings = [f for f in result.findings() if (ROOT / f["file"]).resolve() == file.resolve()]
        wrong += [f"{file.name} {text}" for text in disagreements(marks, findings)]
        if path.name.startswith("ok_"):
            assert not any(mark.kind != "secondary" for mark in marks.values()), "ok_ fixtures have no marks"
    for finding in result.findings():
        assert finding["gb_id"] in {"", None} | ids_of_rules()[finding["code"]], "an id that the rule does not name"
    assert not result.json()["errors"]
    assert check(path, 4).stdout == result.stdout, "four threads find something else than one"
    judge(name_of(path), wrong, GAPS)


def test_known_gaps_are_fixtures():
    assert not GAPS.keys() - set(map(name_of, FIXTURES))


def test_only_known_gaps_may_differ(tmp_path):
    """The list excuses what it names and nothing else."""
    file = tmp_path / "gaps.txt"
    file.write_text("# words about the list\nFG101/listed.py: not there yet\n")
    gaps = read_known_gaps(file)
    assert gaps == {"FG101/listed.py": "not there yet"}
    with pytest.raises(AssertionError, match="line 3"):
        judge("FG101/other.py", ["line 3: nothing is found"], gaps)
    judge("FG101/other.py", [], gaps)
    with pytest.raises(pytest.xfail.Exception, match="not there yet"):
        judge("FG101/listed.py", ["line 3: nothing is found"], gaps)
    with pytest.warns(UserWarning, match="FG101/listed.py passes"):
        judge("FG101/listed.py", [], gaps)


def test_every_rule_has_fixtures():
    """Each code has a documentation, an example that is found, and a look-alike that is not."""
    codes = {rule["code"] for rule in json.loads(run_fullgraph("rule", "--all", "--output-format", "json").ok().stdout)}
    missing = []
    # Of what only recordings show there are recordings, made by torch in tests/graphs, with look-alikes among them.
    recorded = {code for expected in EXPECTED.values() for code, _ in expected} | {"FG705"}
    # Of what only C++ shows there are sources, with look-alikes beside them, in fixtures/cxx (tests/cxx).
    for path in (ROOT / "fixtures" / "cxx").rglob("*.cpp"):
        recorded |= set(re.findall(r"expect: (FG6\d\d)", path.read_text(encoding="utf-8")))
    for code in sorted(code for code in codes if code not in recorded or not code.startswith(("FG6", "FG7"))):
        names = [path.name for path in FIXTURES if path.parent.name == code]
        if not any(not name.startswith("ok_") for name in names):
            missing.append(f"{code}: no fixture in which it is found")
        if not any(name.startswith("ok_") for name in names):
            missing.append(f"{code}: no ok_ fixture")
    assert not missing, "\n".join(missing)


def test_examples_of_the_documentation_are_python():
    """What a rule's documentation shows as code must at least parse."""
    for rule in json.loads(run_fullgraph("rule", "--all", "--output-format", "json").ok().stdout):
        for number, block in enumerate(re.findall(r"```python\n(.*?)```", rule["documentation"], re.S), 1):
            compile(block, f"{rule['code']} example {number}", "exec")
