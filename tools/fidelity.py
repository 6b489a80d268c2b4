"""How right is the linter about models whose graph breaks were recorded?

    ./dev fidelity [--records FILE…] [--src DIR…] [--list]

Runs `fullgraph check` on the packages of recorded models (`tools/record`), once for training and once for evaluation, and
compares. A finding (hazards apart) and a recorded break match when they lie on the same innermost statement; of a
compound statement only the header counts.

  recall     of the sites (statement, id) of all records: those found in the mode in which they broke
  precision  of the found statements that a record executed and traced, or broke on: those that broke in a record
  accuracy   of the records: those of which it is rightly said whether they break at all. One is said to break when a found
             statement lies on a line that it executed or broke on

Left out: sites outside the package, and sites that exist only since an earlier break made Dynamo compile a comprehension
or a generator as a frame of its own (Python 3.11); a finding there is not wrong either.
"""
from __future__ import annotations

import argparse
import ast
import collections
import dataclasses
import functools
import json
import pathlib
import subprocess
import sys
from collections.abc import Iterable

ROOT = pathlib.Path(__file__).resolve().parent.parent
OWN = ROOT / "fixtures" / "fidelity"

# What Dynamo says of comprehensions and generators that it compiles as frames of their own.
SECONDARY_IDS = {"GB0003", "GB4347", "GB0039"}

Statement = tuple[str, int]  # file, first line
Predictions = dict[str, dict[Statement, set[str]]]  # train or eval -> statement -> codes of rules


# ----------------------------------------------------------------------------------------------------------------------
# Sources
# ----------------------------------------------------------------------------------------------------------------------
def fetched(cache: pathlib.Path, package: str, version: str) -> pathlib.Path:
    """The sources of one release, unpacked from its wheel and never installed."""
    folder = cache / "sources" / f"{package}-{version}"
    if not (folder / package).is_dir():
        print(f"fetching the sources of {package} {version}", file=sys.stderr)
        work = cache / "sources" / f"fetch.{package}"
        pip = [sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check", "download", "--no-deps"]
        subprocess.run([*pip, "--only-binary", ":all:", "--dest", work, f"{package.replace('_', '-')}=={version}"], check=True)
        [wheel] = work.glob("*.whl")
        subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, folder], check=True)
        wheel.unlink()
        work.rmdir()
    return folder


class Sources:
    """One folder that holds packages, and the statements of their files."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder.resolve()

    @functools.lru_cache(None)  # noqa: B019 - there are a handful of these
    def _owners(self, file: str) -> dict[int, int]:
        """Line -> first line of the innermost statement that it belongs to; the bodies of compound ones do not count."""
        try:
            tree = ast.parse((self.folder / file).read_text(encoding="utf-8"))
        except (OSError, SyntaxError, UnicodeDecodeError):
            return {}
        owners = {}
        statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
        for node in sorted(statements, key=lambda node: (node.lineno, -node.end_lineno)):
            body = getattr(node, "body", None)
            end = max(node.lineno, body[0].lineno - 1) if isinstance(body, list) and body else node.end_lineno
            owners.update(dict.fromkeys(range(node.lineno, end + 1), node.lineno))
        return owners

    def statement(self, file: str, line: int) -> Statement:
        return file, self._owners(file).get(line, line)

    def statements(self, spans: dict[str, list[list[int]]]) -> set[Statement]:
        return {self.statement(file, line) for file, parts in spans.items() for first, last in parts
                for line in range(first, last + 1)}

    def text(self, file: str, line: int) -> str:
        try:
            return (self.folder / file).read_text(encoding="utf-8").splitlines()[line - 1].strip()[:110]
        except (OSError, IndexError):
            return ""


def predict(binary: str, sources: Sources, folders: Iterable[str], options: list[str]) -> Predictions:
    found: Predictions = {}
    for mode in ("train", "eval"):
        found[mode] = collections.defaultdict(set)
        for folder in folders:
            command = [binary, "check", "--no-cache", "--isolated", "--mode", mode, "--output-format", "json", *options, folder]
            done = subprocess.run(command, cwd=sources.folder, capture_output=True, text=True)
            if done.returncode not in (0, 1):
                sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr[:300]}")
            for item in json.loads(done.stdout)["findings"]:
                if item["severity"] != "hazard":
                    file = (sources.folder / item["file"]).relative_to(sources.folder).as_posix()
                    found[mode][sources.statement(file, item["line"])].add(item["code"])
    return found


# ----------------------------------------------------------------------------------------------------------------------
# Records
# ----------------------------------------------------------------------------------------------------------------------
def read_records(paths: Iterable[pathlib.Path]) -> list[dict]:
    """The last good record of each (package, model, mode)."""
    latest = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record.get("status") == "ok":
                latest[record["package"], record["model"], record["mode"]] = record
    return list(latest.values())


def secondary_sites(records: Iterable[dict]) -> set[tuple[str, int, str]]:
    """Sites of comprehensions and generators that never came first and were never inlined when they broke."""
    first, depth = set(), collections.defaultdict(int)
    for record in records:
        for number, item in enumerate(record["breaks"]):
            site = item["file"], item["line"], item["gb_id"], item["gb_type"]
            depth[site] = max(depth[site], *item["inline_depths"])
            if number == 0:
                first.add(site)
    return {site[:3] for site in depth if site[2] in SECONDARY_IDS and site not in first and depth[site] == 1}


def prediction_mode(record: dict) -> str:
    return "train" if record["mode"].startswith("train") else "eval"


@dataclasses.dataclass
class Run:
    """One record, as statements."""

    mode: str
    executed: set[Statement]
    tested: set[Statement]  # executed and traced, so that a break would have been seen
    broke: dict[Statement, set[str]]  # ids
    ignored: set[Statement]


def run_of(record: dict, sources: Sources, folders: set[str], secondary) -> Run:
    broke, ignored = collections.defaultdict(set), set()
    for item in record["breaks"]:
        if item["file"].split("/")[0] not in folders:
            continue
        place = sources.statement(item["file"], item["line"])
        if (item["file"], item["line"], item["gb_id"]) in secondary:
            ignored.add(place)
        else:
            broke[place].add(item["gb_id"])
    executed = sources.statements(record["executed"])
    tested = (executed & sources.statements(record.get("traced", {}))) | set(broke)
    return Run(prediction_mode(record), executed, tested, broke, ignored)


# ----------------------------------------------------------------------------------------------------------------------
# The measure
# ----------------------------------------------------------------------------------------------------------------------
@dataclasses.dataclass
class Score:
    sites: set = dataclasses.field(default_factory=set)  # (statement, id)
    found: set = dataclasses.field(default_factory=set)
    tested: dict = dataclasses.field(default_factory=dict)  # statement -> codes
    right: set = dataclasses.field(default_factory=set)
    guesses: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def numbers(self) -> dict[str, int | float | None]:
        right_guesses = self.guesses["both"] + self.guesses["neither"]
        return {"records": self.guesses.total(), "sites": len(self.sites), "found": len(self.found),
                "recall": share(len(self.found), len(self.sites)), "tested": len(self.tested), "right": len(self.right),
                "precision": share(len(self.right), len(self.tested)), "rightly_said": right_guesses,
                "accuracy": share(right_guesses, self.guesses.total())}


def share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def measure(runs: list[Run], predictions: Predictions) -> Score:
    score, modes_of, tested, broke = Score(), collections.defaultdict(set), set(), set()
    ignored = set().union(*(run.ignored for run in runs))
    for run in runs:
        for place, ids in run.broke.items():
            for gb_id in ids:
                modes_of[place, gb_id].add(run.mode)
        tested |= {(place, run.mode) for place in run.tested}
        broke |= set(run.broke)
        guess = any(place in predictions[run.mode] for place in run.executed | set(run.broke) if place not in ignored)
        score.guesses[("both" if run.broke else "false alarm") if guess else "missed" if run.broke else "neither"] += 1
    score.sites = set(modes_of)
    score.found = {site for site, modes in modes_of.items() if any(site[0] in predictions[mode] for mode in modes)}
    for mode, places in predictions.items():
        for place, codes in places.items():
            if (place, mode) in tested and place not in ignored:
                score.tested.setdefault(place, set()).update(codes)
    score.right = {place for place in score.tested if place in broke}
    return score


def measure_package(records: list[dict], sources: Sources, binary: str, options: list[str]) -> dict:
    folders = {file.split("/")[0] for record in records for file in record["executed"]}
    present = sorted(folder for folder in folders if (sources.folder / folder).is_dir())
    predictions = predict(binary, sources, present, options)
    secondary = secondary_sites(records)
    runs = [(record["mode"], run_of(record, sources, folders, secondary)) for record in records]
    modes = sorted({mode for mode, _ in runs})
    score = measure([run for _, run in runs], predictions)
    rules, breaks = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for place, codes in score.tested.items():
        for code in codes:
            rules[code].update(tested=1, right=place in score.right)
    for place, gb_id in score.sites:
        breaks[gb_id].update(sites=1, found=(place, gb_id) in score.found)
    return {
        **score.numbers(),
        "modes": {mode: measure([run for own, run in runs if own == mode], predictions).numbers() for mode in modes},
        "rules": {code: dict(count) for code, count in sorted(rules.items())},
        "breaks": {gb_id: dict(count) for gb_id, count in sorted(breaks.items())},
        "missed": [[*place, gb_id, sources.text(*place)] for place, gb_id in sorted(score.sites - score.found)],
        "false": [[*place, ",".join(sorted(score.tested[place])), sources.text(*place)]
                  for place in sorted(set(score.tested) - score.right)]}


# ----------------------------------------------------------------------------------------------------------------------
# Output
# ----------------------------------------------------------------------------------------------------------------------
def added(results: Iterable[dict]) -> dict:
    """The numbers of all packages together."""
    total = collections.Counter()
    for result in results:
        total.update({key: result[key] for key in ("records", "sites", "found", "tested", "right", "rightly_said")})
    return {**total, "recall": share(total["found"], total["sites"]), "precision": share(total["right"], total["tested"]),
            "accuracy": share(total["rightly_said"], total["records"])}


def percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def row(name: str, numbers: dict) -> str:
    return (f"{name:<28}{numbers['records']:>8}{numbers['sites']:>7}{numbers['found']:>7}{percent(numbers['recall']):>8}"
            f"{numbers['tested']:>8}{numbers['right']:>7}{percent(numbers['precision']):>11}{percent(numbers['accuracy']):>10}")


def show(results: dict[str, dict], list_all: bool) -> None:
    print(f"{'package, mode':<28}{'records':>8}{'sites':>7}{'found':>7}{'recall':>8}{'tested':>8}{'right':>7}"
          f"{'precision':>11}{'accuracy':>10}")
    for package, result in results.items():
        print(row(package, result))
        for mode, numbers in result["modes"].items():
            print(row("  " + mode, numbers))
    print(row("all", added(results.values())))
    show_parts("rule", "rules", ("tested", "right", "precision"), results)
    show_parts("graph break", "breaks", ("sites", "found", "recall"), results)
    for label, key in (("missed", "missed"), ("false alarm", "false")):
        rows = [entry for result in results.values() for entry in result[key]]
        print(f"\n{len(rows)} {label}{'s' * (key == 'false' and len(rows) != 1)}")
        for file, line, what, text in rows if list_all else ():
            print(f"    {file}:{line} {what}: {text}")


def show_parts(title: str, key: str, columns: tuple[str, str, str], results: dict[str, dict]) -> None:
    """Each rule (or each id) in each package."""
    whole, part, ratio = columns
    print(f"\n{title + ', package':<38}{whole:>8}{part:>8}{ratio:>11}")
    for name in sorted({name for result in results.values() for name in result[key]}):
        for package, result in results.items():
            if count := result[key].get(name):
                label = f"{name or '(no id)'} {package}"
                print(f"{label:<38}{count[whole]:>8}{count[part]:>8}{percent(share(count[part], count[whole])):>11}")


def source_folder(package: str, version: str, records: list[dict], folders: list[pathlib.Path], cache: pathlib.Path):
    """The first of the given folders that has the recorded files; else the release, fetched."""
    files = {file for record in records for file in record["executed"] if file.split("/")[0] == package}
    for folder in folders:
        if any((folder / file).is_file() for file in files):
            return folder
    return fetched(cache, package, version)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", nargs="+", type=pathlib.Path, default=sorted(OWN.glob("*.jsonl")), metavar="FILE",
                        help="files that tools/record wrote (default: fixtures/fidelity/*.jsonl)")
    parser.add_argument("--src", nargs="+", type=pathlib.Path, default=[], metavar="DIR",
                        help="folders that hold the packages, in the recorded versions (default: fetched)")
    parser.add_argument("--package", metavar="NAME", help="this one only")
    parser.add_argument("--list", action="store_true", help="print each miss and each false alarm")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all numbers and lists")
    parser.add_argument("--check-option", action="append", default=[], metavar="OPTION", help="a further option for check")
    parser.add_argument("--bin", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    args = parser.parse_args()

    groups = collections.defaultdict(list)
    for record in read_records(args.records):
        if args.package in (None, record["package"]):
            groups[record["package"]].append(record)
    results = {}
    for package, records in sorted(groups.items()):
        folder = source_folder(package, records[0]["version"], records, [*args.src, OWN], args.cache)
        results[package] = measure_package(records, Sources(folder), str(pathlib.Path(args.bin).resolve()), args.check_option)
    show(results, args.list)
    if args.json:
        args.json.write_text(json.dumps(results | {"all": added(results.values())}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
