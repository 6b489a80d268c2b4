#!/usr/bin/env python3
"""Writes profiles/torch-<version>.tsv: what the installed torch traces, breaks on and returns.

Everything in the file is read from torch itself: Dynamo's rules and registry, the operators' schemas and tags, the
type stubs, and what Dynamo does with a plain call (probe.py). The same torch gives the same file, so that a test can
compare them and a new version is one run of this program.

    generate.py                 write the profile of the installed torch
    generate.py --only PREFIX   print the records of these callables
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
os.environ["OMP_NUM_THREADS"] = "1"  # the probe forks
warnings.filterwarnings("ignore")

import torch  # noqa: E402
import torch._dynamo.config  # noqa: E402

import library  # noqa: E402
import names as torch_names  # noqa: E402
import probe  # noqa: E402
import signatures  # noqa: E402
import treatments  # noqa: E402

PROFILES = Path(__file__).resolve().parents[2] / "profiles"
PYTHON_VALUES = ("bool", "int", "float", "string", "dtype", "device")
LETTERS = {"data_dependent_output": "d", "dynamic_output_shape": "s", "nondeterministic_seeded": "r", "inplace_view": "v"}


def one_line(text: object) -> str:
    return " ".join(str(text).split())


def breaks() -> list[tuple[str, ...]]:
    path = Path(torch._dynamo.__file__).with_name("graph_break_registry.json")
    if not path.exists():  # older than 2.8
        return []
    return [("break", gb_id, one_line(entries[0]["Gb_type"]), one_line(entries[0]["Explanation"]))
            for gb_id, entries in json.loads(path.read_text()).items()]


def configuration() -> list[tuple[str, ...]]:
    options = torch._dynamo.config.get_config_copy()
    return [("config", name, str(int(value))) for name, value in options.items() if isinstance(value, bool)]


def version() -> str:
    return torch.__version__.split("+")[0]


class Callables:
    """One record for each callable: rules and signatures, corrected by what a plain call was seen to do."""

    def __init__(self, only: str = "") -> None:
        self.names = torch_names.Names()
        self.library = library.members()
        self.calls: dict[str, list[str]] = {}
        for name, calls in probe.written_calls().items():
            name = self.names.aliases.get(name, name)
            self.calls.setdefault(name, []).extend(calls)
            if name not in self.names.objects and name not in self.library and (value := library.resolve(name)) is not None:
                self.library[name] = (value, False)
        self.stubs = signatures.Stubs()
        self.tags = signatures.operator_tags()
        self.operator_returns = signatures.operator_returns()
        self.inplace_views = signatures.inplace_views()
        self.only = only

    def questions(self) -> list[probe.Question]:
        out = []
        for name, value in self.names.objects.items():
            out.append(probe.question(name, torch_names.is_property(value), True, self.calls))
        for name, (value, may_run) in self.library.items():
            out.append(probe.question(name, torch_names.is_property(value), may_run, self.calls))
        return sorted((q for q in out if q.name.startswith(self.only)), key=lambda q: q.name)

    def record(self, name: str, answer: probe.Answer) -> tuple[str, ...]:
        value = self.names.objects.get(name)
        if value is None:
            value = self.library[name][0]
        treatment = treatments.treatment(value)
        if treatment == "skipped" and answer.traced:
            treatment = "inlined"  # on the skip list, but replaced by something that Dynamo traces
        if treatment == "in_graph" and answer.traced and answer.tried[-1].endswith("()") and answer.returns in PYTHON_VALUES \
                and not name.startswith("torch.Tensor."):
            treatment = "constant"  # no operator gives a Python value: Dynamo evaluated the call
        tags = set() if isinstance(value, type) else set(answer.tags)
        if name.startswith("torch."):
            tags |= self.tags.get(signatures.operator_of(name), set())
        if name in self.inplace_views:
            tags.add("inplace_view")
        letters = "".join(letter for tag, letter in LETTERS.items() if tag in tags)
        return ("callable", name, treatment, self.returns(name, value, answer), letters, answer.gb_id)

    def returns(self, name: str, value: object, answer: probe.Answer) -> str:
        if value is torch.Tensor or not name.startswith("torch."):
            found = signatures.annotated(value) if isinstance(value, type) else answer.returns
        else:
            found = self.stubs.returns.get(name, "")
            for other in self.spellings.get(name, ()):
                found = found or self.stubs.returns.get(other, "")
            found = found or signatures.annotated(value)
            if not found and self.is_operator(name):
                found = self.operator_returns.get(signatures.operator_of(name), "")
            if found == "none" and answer.returns:
                found = ""  # the stubs of some *_copy functions describe their out= form only
            found = found or answer.returns
        return "unknown" if found in ("", "?") else found

    @property
    def spellings(self) -> dict[str, list[str]]:
        if not hasattr(self, "_spellings"):
            self._spellings: dict[str, list[str]] = {}
            for alias, canonical in self.names.aliases.items():
                self._spellings.setdefault(canonical, []).append(alias)
        return self._spellings

    @staticmethod
    def is_operator(name: str) -> bool:
        return name.rpartition(".")[0] in ("torch", "torch.Tensor", "torch.linalg", "torch.fft", "torch.special", "torch.nn.functional")

    def rows(self, lanes: int) -> list[tuple[str, ...]]:
        asked = self.questions()
        self.answers = answers = probe.ask_all(asked, lanes, progress)
        out = [self.record(question.name, answers.get(question.name, probe.Answer())) for question in asked]
        for name, canonical in torch_names.dtypes().items():
            if name == canonical and name.startswith(self.only):
                out.append(("callable", name, "constant", "dtype", "", ""))
        return out

    def objects(self) -> dict[str, object]:
        return {**{name: value for name, (value, _) in self.library.items()}, **self.names.objects}

    def other_rows(self) -> list[tuple[str, ...]]:
        out = [("alias", name, canonical) for name, canonical in self.names.aliases.items()]
        out += [("alias", name, canonical) for name, canonical in torch_names.dtypes().items() if name != canonical]
        out += [("module", name) for name in torch_names.module_classes(self.names)]
        out += [("instance", name, cls) for name, cls in library.instances(self.objects()).items()]
        return out


def progress(done: int, of: int) -> None:
    if sys.stderr.isatty() or done % 500 == 0 or done == of:
        print(f"\r{done} of {of} callables", end="" if sys.stderr.isatty() and done != of else "\n", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--log", type=Path, help="also write which calls were tried")
    parser.add_argument("--output", type=Path, default=PROFILES / f"torch-{version()}.tsv")
    options = parser.parse_args()
    callables = Callables(options.only)
    rows = callables.rows(options.jobs)
    if options.log:
        options.log.write_text("".join(f"{name}\t{vars(answer)}\n" for name, answer in sorted(callables.answers.items())))
    if options.only:
        print("\n".join("\t".join(row) for row in sorted(rows)))
        return
    lines = sorted("\t".join(row) for row in {*rows, *callables.other_rows(), *breaks(), *configuration()})
    options.output.parent.mkdir(exist_ok=True)
    options.output.write_text("\n".join(lines) + "\n")
    print(f"{options.output.name}: {len(lines)} records", file=sys.stderr)


if __name__ == "__main__":
    main()
