"""The command line of `python tools/record`."""
from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from typing import Any

from fullgraph_probe import cases
from fullgraph_probe.places import Places

from . import processes, records


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="record", description="Records where torch.compile breaks the graph of models.")
    parser.add_argument("--entry", action="append", default=[], metavar="FILE:FUNCTION",
                        help="a function (also pkg.module:function) that returns (module or callable, args, kwargs)")
    parser.add_argument("--cases", action="append", default=[], metavar="FILE",
                        help="a Python file whose cases() returns many")
    parser.add_argument("--modes", metavar="MODE,…", help="of train, eval, decode, or what the cases define "
                        "(default: the case's own; train,eval for an entry)")
    parser.add_argument("--only", default="", metavar="RE", help="models whose name matches")
    parser.add_argument("--out", metavar="FILE", help="append the records to this file")
    parser.add_argument("--src", action="append", default=[], metavar="DIR",
                        help="folder in which the project's modules are found, and from which its files are named "
                        "(default: the current one)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="models recorded at the same time")
    parser.add_argument("--timeout", type=float, default=240, metavar="S", help="for each model and mode (default: 240)")
    parser.add_argument("--resume", action="store_true", help="leave out what the file has with status ok")
    parser.add_argument("--no-fullgraph", action="store_true", help="do not try fullgraph=True as well")
    parser.add_argument("--compact", action="store_true",
                        help="in the end write the file anew: sorted, with what `./dev fidelity` needs and no more")
    parser.add_argument("--list", action="store_true", help="print models and modes, and stop")
    return parser


def selected(args) -> list[tuple[cases.Case, str]]:
    wanted = tuple(args.modes.split(",")) if args.modes else None
    found = [cases.from_entry(text, wanted or cases.MODES) for text in args.entry]
    for path in args.cases:
        found += cases.from_file(path)
    work = []
    for case in found:
        modes = case.modes if wanted is None else [mode for mode in case.modes if mode in wanted]
        work += [(case, mode) for mode in modes if re.search(args.only, case.name)]
    return work


def without_known(work, path: str | None):
    if not path or not os.path.exists(path):
        return work
    known = {(model, mode) for (_, model, mode), entry in records.read([path]).items() if entry["status"] == "ok"}
    return [(case, mode) for case, mode in work if (case.name, mode) not in known]


def show(entry: dict[str, Any]) -> None:
    sites: dict[tuple[str, int], dict[str, Any]] = {}
    for item in entry.get("breaks", ()):
        sites.setdefault((item["file"], item["line"]), item)
    whole = {True: ", fullgraph works", False: ", fullgraph fails", None: ""}[entry.get("fullgraph_ok")]
    print(f"{entry['model']} {entry['mode']}: {entry['status']}, {len(sites)} break sites, {entry.get('graphs', 0)} graphs{whole}")
    if entry["status"] != "ok":
        print(f"    {entry.get('error', '')[:400]}")
    for (name, line), item in sites.items():
        print(f"    {name}:{line} in {item['func']}: {item['gb_id']} {item['gb_type']} ({item['kind']})")
    sys.stdout.flush()


def main() -> int:
    args = options().parse_args()
    if not args.entry and not args.cases:
        options().error("give --entry or --cases")
    if args.compact and not args.out:
        options().error("--compact needs --out")
    warnings.filterwarnings("ignore")
    folders = args.src or [os.getcwd()]
    sys.path[:0] = map(os.path.abspath, folders)
    work = selected(args)
    if args.list:
        for case, mode in work:
            print(case.name, mode)
        return 0
    if args.resume:
        work = without_known(work, args.out)
    places = Places(folders, leave_out=[*args.cases, os.path.dirname(__file__)])
    good = True
    for entry in processes.record_all(work, places, args.jobs, args.timeout, not args.no_fullgraph):
        good &= entry["status"] in ("ok", "compile_error")
        show(entry)
        if args.out:
            with open(args.out, "a", encoding="utf-8") as out:
                out.write(records.line_of(entry))
    if args.compact:
        records.write_sorted(args.out, map(records.compact, records.read([args.out]).values()))
    return 0 if good else 1
