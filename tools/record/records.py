"""Files of records: JSON, one record a line. A run appends, and the last record of a (package, model, mode) counts."""
from __future__ import annotations

import json
import os
from typing import Any

Key = tuple[str, str, str]

# What measuring needs. The rest tells people why; a record kept in a repository can do without.
_MEASURED = ("package", "version", "torch", "python", "model", "mode", "class", "status", "executed", "traced", "breaks",
             "fullgraph_ok")
_MEASURED_OF_BREAK = ("kind", "gb_id", "gb_type", "file", "line", "func", "inner_file", "inner_line", "count",
                      "inline_depths")


def key_of(entry: dict[str, Any]) -> Key:
    return entry["package"], entry["model"], entry["mode"]


def read(paths) -> dict[Key, dict[str, Any]]:
    latest = {}
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if line.strip():
                    entry = json.loads(line)
                    latest[key_of(entry)] = entry
    return latest


def compact(entry: dict[str, Any]) -> dict[str, Any]:
    small = {key: entry[key] for key in _MEASURED if key in entry}
    if "breaks" in small:
        small["breaks"] = [{key: item[key] for key in _MEASURED_OF_BREAK} for item in small["breaks"]]
    return small


def line_of(entry: dict[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"


def write_sorted(path: str, entries) -> None:
    """All of a file anew, in an order that does not depend on which process ended first."""
    with open(path + ".new", "w", encoding="utf-8") as out:
        out.writelines(line_of(entry) for entry in sorted(entries, key=key_of))
    os.replace(path + ".new", path)
