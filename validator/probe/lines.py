"""Which lines ran: a tracer for eager runs, and the compact form in which records keep sets of lines."""
from __future__ import annotations

import collections
import sys
from collections.abc import Iterable
from types import CodeType

from .places import Places


class LineTracer:
    """Collects the lines that run inside a `with` block. Code that is not recorded costs one event for a call."""

    def __init__(self, places: Places):
        self._places = places
        self._wanted: dict[CodeType, bool] = {}
        self.seen: set[tuple[str, int]] = set()

    def _called(self, frame, event, argument):
        code = frame.f_code
        wanted = self._wanted.get(code)
        if wanted is None:
            wanted = self._wanted[code] = self._places.is_recorded(self._places.name(code.co_filename))
        return self._inside if wanted else None

    def _inside(self, frame, event, argument):
        if event == "line":
            self.seen.add((frame.f_code.co_filename, frame.f_lineno))
        return self._inside

    def __enter__(self) -> LineTracer:
        sys.settrace(self._called)
        return self

    def __exit__(self, *error) -> None:
        sys.settrace(None)


def spans(lines: Iterable[int]) -> list[list[int]]:
    """{4, 5, 6, 9} -> [[4, 6], [9, 9]]"""
    out: list[list[int]] = []
    for line in sorted(lines):
        if out and line == out[-1][1] + 1:
            out[-1][1] = line
        else:
            out.append([line, line])
    return out


def by_file(seen: Iterable[tuple[str, int]], places: Places) -> dict[str, list[list[int]]]:
    """The recorded files among (file name, line), each with the spans of its lines."""
    lines: dict[str, set[int]] = collections.defaultdict(set)
    for filename, line in seen:
        name = places.name(filename)
        if places.is_recorded(name):
            lines[name].add(line)
    return {name: spans(numbers) for name, numbers in sorted(lines.items())}
