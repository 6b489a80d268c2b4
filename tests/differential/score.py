#!/usr/bin/env python3
"""Compare a linter's findings with the marks of a corpus of cases.

    score.py --bin build/bin/fullgraph DIR [DIR ...] [--json OUT] [--list]

A case is FILE.py or a folder with main.py, with `def case()` in it. The linter is run as

    BIN check --no-cache --entry MAIN.py:case --mode train|eval --output-format json CASE

and its findings are compared, file by file and line by line, with the comments `# expect: ID` (a graph break, or a hazard
by name) and `# hazard: NAME`. Exact agreement means: every marked break line has a finding that is no hazard, every
marked hazard line has a finding, and no other line of the case has a finding that is no hazard. Marks of the form
`(inner ID)` and `# secondary:` are allowed but not required; `ERROR:Name` marks need a finding of any kind.
Exit status 0 when all agree.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

EXPECT = re.compile(r"#\s*(expect|hazard|secondary|expect-info):\s*(.+?)\s*$")
BREAK = re.compile(r"^GB\d+")


def cases(root):
    root = pathlib.Path(root)
    if (root / "main.py").exists() or root.is_file():
        yield root
        return
    for path in sorted(root.iterdir()):
        if path.is_dir() and not path.name.startswith((".", "__")):
            yield from cases(path)
        elif path.suffix == ".py" and "def case(" in path.read_text(encoding="utf-8"):
            yield path


def marks(case):
    """-> {(file, line): set of kinds}, mode; kinds: break, hazard, optional, any"""
    files = sorted(case.rglob("*.py")) if case.is_dir() else [case]
    out, mode = collections.defaultdict(set), "train"
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if re.match(r"\s*#\s*mode:\s*eval", line):
                mode = "eval"
            found = EXPECT.search(line)
            if not found or line.lstrip().startswith("#") and found.group(1) != "expect":
                continue
            if line.lstrip().startswith("#"):
                continue
            kind, text = found.groups()
            key = (str(file.resolve()), number)
            if kind in ("secondary", "expect-info"):
                out[key].add("optional")
            elif kind == "hazard":
                out[key].add("hazard")
            elif "ERROR:" in text:
                out[key].add("any")
            elif BREAK.match(text):
                out[key].add("break")
            else:
                out[key].add("any")
    return out, mode


def run(binary, case, mode, timeout):
    main = case / "main.py" if case.is_dir() else case
    command = [binary, "check", "--no-cache", "--entry", f"{main}:case", "--mode", mode, "--output-format", "json", str(case)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()[:200]}")
    found = collections.defaultdict(set)
    for item in json.loads(done.stdout)["findings"]:
        key = (str(pathlib.Path(item["file"]).resolve()), item["line"])
        found[key].add("hazard" if item["severity"] == "hazard" else "break")
    return found


def judge(expected, found):
    missed, false = [], []
    for key, kinds in expected.items():
        have = found.get(key, set())
        if "break" in kinds and "break" not in have or ({"hazard", "any"} & kinds and not have):
            missed.append(key)
    for key, kinds in found.items():
        if "break" in kinds and not {"break", "optional", "any"} & expected.get(key, set()):
            if "hazard" in expected.get(key, set()):
                continue
            false.append(key)
    return missed, false


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dirs", nargs="+")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--json")
    parser.add_argument("--list", action="store_true", help="print every disagreement")
    parser.add_argument("--timeout", type=float, default=20)
    args = parser.parse_args()
    table, rows = collections.OrderedDict(), []
    for top in args.dirs:
        for case in cases(top):
            expected, mode = marks(case)
            group = table.setdefault(case.parent.name, collections.Counter())
            group["cases"] += 1
            try:
                missed, false = judge(expected, run(args.bin, case, mode, args.timeout))
                error = ""
            except Exception as problem:  # a crash or a hang of the linter is a disagreement
                missed, false, error = list(expected), [], f"{type(problem).__name__}: {problem}"
                group["errors"] += 1
            group["lines"] += sum(1 for kinds in expected.values() if kinds - {"optional"})
            group["missed"] += len(missed)
            group["false"] += len(false)
            group["agree"] += not (missed or false or error)
            rows.append({"case": str(case), "missed": missed, "false": false, "error": error})
            if args.list and (missed or false or error):
                print(case, error)
                for label, keys in (("missed", missed), ("false alarm", false)):
                    for file, line in keys:
                        text = pathlib.Path(file).read_text(encoding="utf-8").splitlines()[line - 1].strip()
                        print(f"    {label}: {pathlib.Path(file).name}:{line}: {text}")
    total = collections.Counter()
    print(f"{'folder':<20} {'cases':>6} {'agree':>6} {'lines':>6} {'missed':>7} {'false':>6} {'errors':>7}")
    for name, group in table.items():
        total.update(group)
        print(f"{name:<20} {group['cases']:>6} {group['agree']:>6} {group['lines']:>6} {group['missed']:>7} {group['false']:>6} {group['errors']:>7}")
    print(f"{'all':<20} {total['cases']:>6} {total['agree']:>6} {total['lines']:>6} {total['missed']:>7} {total['false']:>6} {total['errors']:>7}")
    print(f"agreement {total['agree'] / max(1, total['cases']):.1%}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1))
    return 0 if total["agree"] == total["cases"] else 1


if __name__ == "__main__":
    sys.exit(main())
