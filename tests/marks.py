"""What the comments of a fixture say must be found. fixtures/rules/README.md describes them."""
from __future__ import annotations

import dataclasses
import pathlib
import re

MARK = re.compile(r"#\s*(expect|hazard|secondary):\s*(.+?)\s*(?:#|$)")
CODE = re.compile(r"FG\d{3}$")
GB_ID = re.compile(r"GB\d{4}$")


@dataclasses.dataclass
class Mark:
    """One marked line. Codes and ids must all be among the line's findings; a mark without a code takes any rule."""

    kind: str  # expect, hazard, secondary (allowed, not required)
    codes: frozenset[str]
    gb_ids: frozenset[str]
    text: str


def read_marks(path: pathlib.Path) -> tuple[dict[int, Mark], str]:
    """Marks by line, and the mode the fixture runs in."""
    marks, mode = {}, "train"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if re.match(r"#\s*mode:\s*eval\b", line):
            mode = "eval"
        found = MARK.search(line)
        if not found or line.lstrip().startswith("#"):
            continue
        # Parentheses hold what only Dynamo says: wrappers, and breaks in library code.
        words = re.sub(r"\([^)]*\)", "", found.group(2)).replace(",", " ").split()
        marks[number] = Mark(found.group(1), frozenset(filter(CODE.match, words)), frozenset(filter(GB_ID.match, words)),
                             line.strip())
    return marks, mode


def disagreements(marks: dict[int, Mark], findings: list[dict]) -> list[str]:
    """Where the findings of one file and its marks differ; empty when they agree exactly."""
    by_line: dict[int, list[dict]] = {}
    for finding in findings:
        by_line.setdefault(finding["line"], []).append(finding)
    wrong = []
    for number, mark in marks.items():
        here = by_line.get(number, [])
        if mark.kind == "secondary":
            continue
        if not here:
            wrong.append(f"line {number}: nothing is found at  {mark.text}")
            continue
        codes, gb_ids = {finding["code"] for finding in here}, {finding["gb_id"] for finding in here}
        if mark.codes and codes != mark.codes:
            wrong.append(f"line {number}: found {sorted(codes)} at  {mark.text}")
        if mark.gb_ids - gb_ids:
            wrong.append(f"line {number}: found with Dynamo's ids {sorted(gb_ids)} at  {mark.text}")
        if mark.kind == "hazard" and not mark.codes and all(f["severity"] != "hazard" for f in here):
            wrong.append(f"line {number}: found, but not as a hazard, at  {mark.text}")
    for number in sorted(by_line.keys() - marks.keys()):
        wrong += [f"line {number}: unexpected {f['code']} {f['message']}" for f in by_line[number]]
    return wrong
