#!/usr/bin/env python3
"""Writes profiles/torch-<version>.tsv: what the installed torch traces, breaks on and returns.

Everything in the file is read from torch itself: Dynamo's rules and registry, the operators' schemas and tags, the
type stubs, and what Dynamo says of a plain call (probe.py). The same torch gives the same file, so that a test can
compare them and a new version is one run of this program.

    generate.py                write the profile of the installed torch
    generate.py --no-probe     keep the graph break ids of the file that is there
    generate.py --output FILE
"""
from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from pathlib import Path

for variable in [name for name in os.environ if name.startswith(("TORCH", "PYTORCH"))]:
    del os.environ[variable]  # they change defaults that are written to the file
warnings.filterwarnings("ignore")

import torch  # noqa: E402
import torch._dynamo.config  # noqa: E402

import names  # noqa: E402
import signatures  # noqa: E402

PROFILES = Path(__file__).resolve().parents[2] / "profiles"


def one_line(text: object) -> str:
    return " ".join(str(text).split())


def breaks() -> list[tuple[str, ...]]:
    path = Path(torch._dynamo.__file__).with_name("graph_break_registry.json")
    if not path.exists():  # older than 2.8
        return []
    return [
        ("break", gb_id, one_line(entries[0]["Gb_type"]), one_line(entries[0]["Explanation"]))
        for gb_id, entries in json.loads(path.read_text()).items()
    ]


def configuration() -> list[tuple[str, ...]]:
    options = torch._dynamo.config.get_config_copy()
    return [("config", name, str(int(value))) for name, value in options.items() if isinstance(value, bool)]


def version() -> str:
    return torch.__version__.split("+")[0]


def rows(found: names.Names, gb_ids: dict[str, str]) -> list[tuple[str, ...]]:
    out: list[tuple[str, ...]] = []
    for name, obj in found.callables.items():
        row = ("callable", name, names.treatment(name, obj), signatures.returns(name, obj), signatures.flags(name))
        out.append((*row, gb_ids.get(name, "")))
    for name, gb_id in gb_ids.items():
        if name not in found.callables:  # of the standard library or numpy
            out.append(("callable", name, names.foreign_treatment(name), signatures.foreign_returns(name), "", gb_id))
    out += [("alias", name, canonical) for name, canonical in found.aliases.items()]
    out += [("module", name) for name in found.modules]
    return sorted(set(out + breaks() + configuration()))


def recorded(path: Path) -> dict[str, str]:
    """The graph break ids of a profile, also the empty ones."""
    if not path.exists():
        return {}
    lines = (line.split("\t") for line in path.read_text().splitlines())
    return {fields[1]: fields[5] for fields in lines if fields[0] == "callable"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-probe", action="store_true")
    parser.add_argument("--output", type=Path, default=PROFILES / f"torch-{version()}.tsv")
    options = parser.parse_args()
    found = names.collect()
    if options.no_probe:
        gb_ids = recorded(PROFILES / f"torch-{version()}.tsv")
    else:
        import probe

        gb_ids = probe.all_ids()
    lines = ["\t".join(row) for row in rows(found, gb_ids)]
    options.output.parent.mkdir(exist_ok=True)
    options.output.write_text("\n".join(lines) + "\n")
    print(f"{options.output.name}: {len(lines)} records", file=sys.stderr)


if __name__ == "__main__":
    main()
