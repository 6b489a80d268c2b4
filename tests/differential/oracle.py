#!/usr/bin/env python3
"""Oracle for the graph-break conformance corpus.

Runs every case under the installed torch.compile, collects each graph break
Dynamo reports (id, file, line), and compares the result with the
``# expect:`` comments in the sources.

    python oracle.py                      verify the whole of fixtures/cases
    python oracle.py hooks python_features/print_plain.py
    python oracle.py ../../fixtures/rules/FG101
    python oracle.py -v FILE              also print what Dynamo said
    python oracle.py --json out.json      machine-readable observations
    python oracle.py --jobs 2             cases in parallel
    python oracle.py --fresh              new interpreter per case (slow)

What counts as a case
    * any ``<folder>/<name>.py`` file, or
    * a directory ``<folder>/<name>/`` with a ``main.py`` (multi-file case; the
      directory is put on sys.path, and every .py file in it is searched for
      expectations).

What a case provides
    ``case()`` -> (callable_or_module, args, kwargs).

Comments the oracle reads
    ``# expect: GB0170``             a break is reported on this line
    ``# expect: GB0170 (via GB7000)`` the same, and Dynamo wraps the break in a
                                     second one (here: "graph break in loop")
    ``# expect: GB0170, GB0124``     several ids on one line
    ``# expect: GB0007 (inner GB0003)`` the line breaks, is then run eagerly, and
                                     Dynamo meets a second break while compiling
                                     library functions called from it; the user
                                     code has no part in that one
    ``# expect: ERROR:Name``         torch.compile raises Name (not a break)
    ``# mode: eval``                 .eval() and torch.no_grad(); default train
    ``# compile: self``              the file calls torch.compile itself, so
                                     the oracle does not wrap the callable
    ``# graphs: 0``                  no graph is expected to be run at all
    ``# fullgraph: raises``          fullgraph=True is expected to raise although
                                     no break is (Dynamo compiled no frame)
    ``# fullgraph: passes``          fullgraph=True does not raise although there
                                     are breaks without it: it also turns on the
                                     capture of scalars and of dynamic shapes
    ``# unlocated: GB0099``          Dynamo reports this break, but no frame of
                                     the case is on its stack
    ``# hazard: <name>``             checked by HAZARDS[<name>] below, or by
                                     ``hazard()`` of the case where it has one
    ``# expect: FG101 GB0206``       words that are no id of Dynamo's are for the
                                     linter and not looked at here
    ``# dynamo: GB0083``             Dynamo reports it here, but the linter's
                                     place for it is another line (a hook's
                                     registration); a GB id on an ``expect``
                                     of the same file is then the linter's only

Verdict, per case
    1. the case runs in eager mode without raising;
    2. observed breaks == expected breaks, as sets of (file, line, id), over the
       first call, resume functions included; likewise for wrappers and inner;
    3. fullgraph=True raises if and only if the case expects something, unless a
       ``# fullgraph:`` comment says otherwise;
    4. at least one compiled graph was executed, unless ``# graphs: 0``;
    5. every hazard named in the case is demonstrated; a file that defines
       LOST_EAGER and LOST_COMPILED gets its gradients checked against them; a file that
       defines check() has it called, and it must find nothing.

How breaks are collected
    Two private Dynamo functions are wrapped: ``log_graph_break``, which is
    called for every break found while tracing, and
    ``convert_frame.format_error_msg``, called for those raised outside of
    tracing. Ids are read from the documentation links in the message: the
    first is the cause, further ones are the wrappers added while handling it.
    Every torch.compile call is redirected to a counting eager backend.
"""
from __future__ import annotations

import argparse
import collections
import contextlib
import functools
import importlib.util
import io
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
import traceback
import warnings

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fixtures", "cases")
ROOT = os.path.normpath(ROOT)
FOLDERS = ("requires_grad", "hooks", "checkpoint", "data_dependent",
           "python_features", "reachability")
TIMEOUT_S = 90

EXPECT = re.compile(r"#\s*expect:\s*(.+?)\s*(?:#|$)")
DYNAMO = re.compile(r"#\s*dynamo(?:-line)?:\s*(.+?)\s*(?:#|$)")
DYNAMO_WORD = re.compile(r"GB\d{4}$|ERROR:\w+$|UNREGISTERED")
HAZARD = re.compile(r"#\s*hazard:\s*([\w-]+)")
DIRECTIVE = re.compile(r"^#\s*(mode|compile|graphs|fullgraph|unlocated):\s*(\S+)\s*$", re.M)
LINK = re.compile(r"/gb/gb(\d{4})\.html")


# --------------------------------------------------------------------------
# Reading cases
# --------------------------------------------------------------------------
def dynamo_words(text: str) -> list[str]:
    """The ids of Dynamo's in a mark; its other words are the linter's."""
    return [word for word in re.findall(r"[^,\s]+", text) if DYNAMO_WORD.match(word)]


class Case:
    """Sources, directives and expectations of one case."""

    def __init__(self, path: str):
        path = os.path.abspath(path)
        if os.path.isdir(path):
            self.base, self.main = path, os.path.join(path, "main.py")
            self.files = sorted(os.path.join(top, f) for top, _, names in os.walk(path)
                                for f in names if f.endswith(".py"))
        else:
            self.base, self.main, self.files = os.path.dirname(path), path, [path]
        self.name = os.path.relpath(path, ROOT)
        self.directives: dict[str, str] = {}
        self.hazards: list[tuple[str, int, str]] = []
        self.expected: set[tuple[str, int, str]] = set()
        self.wrappers: set[tuple[str, int, str]] = set()
        self.inner: set[tuple[str, int, str]] = set()
        self.declares_lost = self.has_check = self.has_hazard = False
        self.elsewhere: set[tuple[str, int, str]] = set()
        for f in self.files:
            self._scan(f)
        moved = {gb for _, _, gb in self.elsewhere}
        self.expected = {mark for mark in self.expected if mark[2] not in moved} | self.elsewhere

    def _scan(self, path: str) -> None:
        with open(path) as fh:
            text = fh.read()
        rel = os.path.relpath(path, ROOT)
        if path == self.main:
            self.directives = dict(DIRECTIVE.findall(text))
            self.declares_lost = "\nLOST_EAGER" in text
            self.has_check = "\ndef check(" in text
            self.has_hazard = "\ndef hazard(" in text
        for lineno, line in enumerate(text.splitlines(), 1):
            if m := HAZARD.search(line):
                self.hazards.append((rel, lineno, m.group(1)))
            if m := EXPECT.search(line):
                body = m.group(1)
                split = {"via": self.wrappers, "inner": self.inner}
                for kind, ids in re.findall(r"\((via|inner) ([^)]*)\)", body):
                    split[kind].update((rel, lineno, gb) for gb in re.findall(r"[^,\s]+", ids))
                outside = re.sub(r"\([^)]*\)", "", body)
                self.expected.update((rel, lineno, gb) for gb in dynamo_words(outside))
            if m := DYNAMO.search(line):
                self.elsewhere.update((rel, lineno, gb) for gb in dynamo_words(m.group(1)))

    @property
    def mode(self) -> str:
        return self.directives.get("mode", "train")

    def load(self):
        """Import the case afresh and return its module."""
        if self.base not in sys.path:
            sys.path.insert(0, self.base)
        modname = "gbcase_" + re.sub(r"\W", "_", self.name.removesuffix(".py"))
        spec = importlib.util.spec_from_file_location(modname, self.main)
        mod = importlib.util.module_from_spec(spec)
        sys.modules[modname] = mod
        spec.loader.exec_module(mod)
        return mod


def find_cases(args: list[str]) -> list[str]:
    """Expand command-line arguments into case paths."""
    found: list[str] = []
    for arg in args or FOLDERS:
        path = arg if os.path.exists(arg) else os.path.join(ROOT, arg)
        path = os.path.abspath(path)
        if path.endswith(".py") or os.path.exists(os.path.join(path, "main.py")):
            found.append(path)
            continue
        for entry in sorted(os.listdir(path)):
            sub = os.path.join(path, entry)
            if entry.endswith(".py") or os.path.exists(os.path.join(sub, "main.py")):
                found.append(sub)
    return found


# --------------------------------------------------------------------------
# Observing Dynamo
# --------------------------------------------------------------------------
class Recorder:
    """Collects graph breaks and counts executed graphs."""

    def __init__(self, base: str):
        self.base = base
        self.records: list[dict] = []
        self.graphs_compiled = 0
        self.graph_calls = 0
        self.skip_reasons: list[str] = []

    def mine(self, filename: str) -> bool:
        return filename.startswith(self.base + os.sep)

    def innermost(self, stack) -> tuple[str, int] | None:
        """Innermost frame of the case's own files in a stack summary."""
        for frame in reversed(list(stack or [])):
            if self.mine(frame.filename):
                return os.path.relpath(frame.filename, ROOT), frame.lineno
        return None

    def add(self, exc, filename: str = "", firstline: int = 0) -> None:
        """Record a break. ``filename`` and ``firstline`` describe the function
        that Dynamo was compiling, for breaks without a stack of their own."""
        if getattr(exc, "_oracle_seen", False):
            return
        with contextlib.suppress(Exception):
            exc._oracle_seen = True
        msg = str(getattr(exc, "msg", "") or exc)
        ids = ["GB" + n for n in LINK.findall(msg)]
        if not ids:
            gb_type = getattr(exc, "gb_type", None)
            ids = [registry_id(gb_type) if gb_type else type(exc).__name__]
        loc, inner = self.innermost(getattr(exc, "real_stack", None)), False
        if loc is None and self.mine(filename):
            loc = os.path.relpath(filename, ROOT), firstline
        if loc is None:  # Dynamo was compiling library code that the case called
            loc = self.innermost(traceback.extract_stack())
            inner = loc is not None
        self._append(exc, ids, loc, inner, msg)

    def add_error(self, exc) -> None:
        """Record an exception that torch.compile let through to the caller."""
        if getattr(exc, "_oracle_seen", False):
            return
        quoted = [(f, int(n)) for f, n in re.findall(r'File "([^"]+)", line (\d+)', str(exc))
                  if self.mine(f)]
        if quoted:  # internal errors quote the user's stack in the text
            loc = os.path.relpath(quoted[-1][0], ROOT), quoted[-1][1]
        else:
            loc = self.innermost(traceback.extract_tb(exc.__traceback__))
        self._append(exc, ["ERROR:" + type(exc).__name__], loc, False, str(exc))

    def _append(self, exc, ids, loc, inner, msg) -> None:
        self.records.append({
            "id": ids[0], "wrappers": ids[1:], "inner": inner,
            "file": loc[0] if loc else None, "line": loc[1] if loc else None,
            "skip_frame": bool(getattr(exc, "skip_frame", False)),
            "msg": msg[:1500],
        })

    def observed(self) -> set:
        return {(r["file"], r["line"], r["id"]) for r in self.records if not r["inner"]}

    def observed_inner(self) -> set:
        return {(r["file"], r["line"], r["id"]) for r in self.records if r["inner"]}

    def observed_wrappers(self) -> set:
        return {(r["file"], r["line"], w) for r in self.records for w in r["wrappers"]}


def registry_id(gb_type: str) -> str:
    from torch._dynamo.exc import _load_gb_type_to_gb_id_map
    return _load_gb_type_to_gb_id_map().get(gb_type, f"UNREGISTERED[{gb_type}]")


@contextlib.contextmanager
def observe(case: Case, fullgraph: bool):
    """Patch Dynamo and torch.compile; yield the Recorder."""
    import torch
    import torch._dynamo.convert_frame as convert_frame
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase as Tx

    rec = Recorder(case.base)
    real_compile = torch.compile
    real_log, real_fmt = Tx.log_graph_break, convert_frame.format_error_msg
    real_skip = convert_frame.add_skip_reason

    def log_graph_break(self, code_options, reason, exc):
        rec.add(exc, code_options["co_filename"], code_options["co_firstlineno"])
        return real_log(self, code_options, reason, exc)

    def format_error_msg(exc, code, *a, **k):
        rec.add(exc, code.co_filename, code.co_firstlineno)
        return real_fmt(exc, code, *a, **k)

    def add_skip_reason(reason, frame, *a, **k):
        if frame.f_code.co_filename.startswith(case.base + os.sep):
            rec.skip_reasons.append(f"{frame.f_code.co_name}: {reason}")
        return real_skip(reason, frame, *a, **k)

    def backend(gm, example_inputs):
        rec.graphs_compiled += 1

        def run(*args):
            rec.graph_calls += 1
            return gm.forward(*args)

        return run

    def compile_(model=None, **kw):
        """torch.compile with the backend and fullgraph flag of the oracle."""
        kw.pop("mode", None), kw.pop("options", None)
        kw.update(backend=backend, fullgraph=fullgraph)
        if model is None:
            return lambda m: real_compile(m, **kw)
        return real_compile(model, **kw)

    Tx.log_graph_break = log_graph_break
    convert_frame.format_error_msg = format_error_msg
    convert_frame.add_skip_reason = add_skip_reason
    torch.compile = compile_
    try:
        yield rec
    finally:
        Tx.log_graph_break = real_log
        convert_frame.format_error_msg = real_fmt
        convert_frame.add_skip_reason = real_skip
        torch.compile = real_compile


@contextlib.contextmanager
def run_mode(case: Case, fn):
    """Train mode with gradients, or eval mode without."""
    import torch
    if isinstance(fn, torch.nn.Module):
        fn.train(case.mode == "train")
    with torch.set_grad_enabled(case.mode == "train"):
        yield


def build(case: Case):
    import torch
    torch.manual_seed(0)
    mod = case.load()
    fn, args, kwargs = mod.case()
    return mod, fn, args, kwargs


# --------------------------------------------------------------------------
# Hazards. Each check returns None when the hazard is demonstrated, otherwise
# a sentence saying what was seen instead.
# --------------------------------------------------------------------------
def _grads(fn, args, kwargs):
    """Backward through the first tensor of the output; grads by name."""
    import torch
    out = fn(*args, **kwargs)
    out = out[0] if isinstance(out, (tuple, list)) else out
    if out.requires_grad:
        out.float().sum().backward()
    owner = getattr(fn, "_orig_mod", fn)
    if not isinstance(owner, torch.nn.Module):
        return {}
    return {n: p.grad for n, p in owner.named_parameters() if p.requires_grad}


def hazard_no_grad_reentrant(case):
    """The parameters without a gradient are LOST_EAGER when run eagerly, and
    LOST_COMPILED when compiled. Also run for files that declare both empty
    and carry no hazard comment: there, nothing may be lost."""
    import torch
    lost_any = False
    for compiled in (False, True):
        torch._dynamo.reset()
        with observe(case, fullgraph=False):
            mod, fn, args, kwargs = build(case)
            wrap = compiled and case.directives.get("compile") != "self"
            with run_mode(case, fn):
                torch.compiler.set_stance("default" if compiled else "force_eager")
                grads = _grads(torch.compile(fn) if wrap else fn, args, kwargs)
                torch.compiler.set_stance("default")
        lost = {n for n, g in grads.items() if g is None}
        want = set(mod.LOST_COMPILED if compiled else mod.LOST_EAGER)
        lost_any = lost_any or bool(lost)
        if lost != want:
            return (f"{'compiled' if compiled else 'eager'}: no gradient for "
                    f"{sorted(lost)}, expected {sorted(want)}")
    if lost_any != any(h[2] == "no-grad-reentrant" for h in case.hazards):
        return "hazard comment and lost gradients do not agree"
    return None


def hazard_backend_error(case):
    """Dynamo captures the case without a break, but the default backend raises."""
    import torch
    _, fn, args, kwargs = build(case)
    try:
        with run_mode(case, fn):
            torch.compile(fn, backend="inductor")(*args, **kwargs)
    except Exception:
        return None
    return "Inductor accepted it"


def via_case(case, name="hazard"):
    """Call ``hazard(recorder, real_compile)`` or ``check(...)`` of the case. It
    measures eager and compiled behaviour, and returns None if all is as the case
    says, otherwise what it saw."""
    import torch
    real_compile = torch.compile
    torch._dynamo.reset()
    with observe(case, fullgraph=False) as rec:
        mod = case.load()
        torch.manual_seed(0)
        return getattr(mod, name)(rec, real_compile)


HAZARDS: dict = collections.defaultdict(lambda: via_case)
HAZARDS["no-grad-reentrant"] = hazard_no_grad_reentrant
HAZARDS["backend-error"] = hazard_backend_error


# --------------------------------------------------------------------------
# Running one case (in its own process)
# --------------------------------------------------------------------------
def step_eager(case: Case) -> dict:
    with observe(case, fullgraph=False):
        _, fn, args, kwargs = build(case)
        import torch
        torch.compiler.set_stance("force_eager")
        with run_mode(case, fn):
            fn(*args, **kwargs)
    return {}


def step_breaks(case: Case) -> dict:
    import torch
    with observe(case, fullgraph=False) as rec:
        _, fn, args, kwargs = build(case)
        run = fn if case.directives.get("compile") == "self" else torch.compile(fn)
        with run_mode(case, fn):
            try:
                run(*args, **kwargs)
            except Exception as exc:  # a hard error, not a break
                rec.add_error(exc)
    return {"records": rec.records, "observed": sorted(rec.observed(), key=str),
            "wrappers": sorted(rec.observed_wrappers(), key=str),
            "inner": sorted(rec.observed_inner(), key=str),
            "graphs_compiled": rec.graphs_compiled, "graph_calls": rec.graph_calls,
            "skips": rec.skip_reasons}


def step_fullgraph(case: Case) -> dict:
    import torch
    with observe(case, fullgraph=True):
        try:
            _, fn, args, kwargs = build(case)
            run = fn if case.directives.get("compile") == "self" else torch.compile(fn)
            with run_mode(case, fn):
                run(*args, **kwargs)
        except Exception as exc:
            return {"raised": type(exc).__name__, "text": str(exc)[:600]}
    return {"raised": None}


def step_hazards(case: Case) -> dict:
    failed = []
    names = {h[2] for h in case.hazards if h[2] in HAZARDS or case.has_hazard}
    if case.declares_lost:
        names.add("no-grad-reentrant")
    for name in sorted(names):
        if said := HAZARDS[name](case):
            failed.append(f"hazard {name} not demonstrated: {said}")
    if case.has_check and (said := via_case(case, "check")):
        failed.append(f"check failed: {said}")
    return {"failed": failed}


STEPS = {"eager": step_eager, "breaks": step_breaks,
         "fullgraph": step_fullgraph, "hazards": step_hazards}


def run_step(step: str, path: str) -> dict:
    """Run one step here; stray output of the case is swallowed."""
    warnings.simplefilter("ignore")
    import logging
    logging.disable(logging.CRITICAL)
    signal.alarm(TIMEOUT_S)
    sink = io.StringIO()
    try:
        with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
            return STEPS[step](Case(path))
    except BaseException as exc:  # noqa: BLE001 - reported to the parent
        return {"crash": f"{type(exc).__name__}: {exc}"[:600],
                "trace": traceback.format_exc()[-1500:]}


def in_child(step: str, path: str, fresh: bool) -> dict:
    """Run one step in a forked child, or in a new interpreter."""
    if fresh:
        proc = subprocess.run([sys.executable, os.path.abspath(__file__),
                               "--child", step, path], capture_output=True, text=True)
        tail = proc.stdout.rpartition("@@RESULT@@")[2]
        return json.loads(tail) if tail else {"crash": "no result: " + proc.stderr[-300:]}
    rfd, wfd = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(rfd)
        result = run_step(step, path)
        with os.fdopen(wfd, "w") as out:
            out.write(json.dumps(result))
        os._exit(0)
    os.close(wfd)
    with os.fdopen(rfd) as src:
        data = src.read()
    os.waitpid(pid, 0)
    return json.loads(data) if data else {"crash": "child died (timeout?)"}


def judge(path: str, fresh: bool) -> dict:
    """All steps and the verdict for one case."""
    case = Case(path)
    res = {"case": case.name, "problems": []}
    bad = res["problems"]

    eager = in_child("eager", path, fresh)
    if "crash" in eager:
        bad.append("eager run failed: " + eager["crash"])
        res["trace"] = eager.get("trace")
    obs = in_child("breaks", path, fresh)
    res.update(obs)
    if "crash" in obs:
        bad.append("compiled run crashed: " + obs["crash"])
        return res
    observed = {tuple(x) for x in obs["observed"]}
    unlocated = {i for f, _, i in observed if f is None}
    observed = {x for x in observed if x[0] is not None}
    if unlocated != {i for i in [case.directives.get("unlocated")] if i}:
        bad.append(f"breaks without a line in the case: {sorted(unlocated)}")
    for what, want, got in (("break", case.expected, observed),
                            ("wrapper", case.wrappers, {tuple(x) for x in obs["wrappers"]}),
                            ("inner break", case.inner, {tuple(x) for x in obs["inner"]})):
        for item in sorted(want - got, key=str):
            bad.append(f"expected {what} not seen: {item}")
        for item in sorted(got - want, key=str):
            bad.append(f"unexpected {what}: {item}")
    want_zero = case.directives.get("graphs") == "0"
    if want_zero != (obs["graph_calls"] == 0):
        bad.append(f"graph calls: {obs['graph_calls']} (skips: {obs['skips']})")

    full = in_child("fullgraph", path, fresh)
    res["fullgraph"] = full.get("raised") or full.get("crash")
    res["fullgraph_text"] = full.get("text")
    want_raise = {"raises": True, "passes": False}.get(
        case.directives.get("fullgraph"), bool(case.expected))
    if bool(res["fullgraph"]) != want_raise:
        bad.append(f"fullgraph=True raised {res['fullgraph']}, "
                   f"but {len(case.expected)} break(s) expected: {full.get('text', '')[:300]}")
    if case.hazards or case.declares_lost or case.has_check:
        hz = in_child("hazards", path, fresh)
        bad.extend(hz.get("failed", []))
        if "crash" in hz:
            bad.append("hazard check crashed: " + hz["crash"])
    res["expects"] = len(case.expected) + ("unlocated" in case.directives)
    res["hazards"] = [h[2] for h in case.hazards]
    return res


def judge_all(paths: list[str], fresh: bool, jobs: int):
    """Verdicts in the order of the paths. Workers are forked from the warm process, and each step from its worker."""
    if jobs <= 1:
        yield from (judge(path, fresh) for path in paths)
        return
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        yield from pool.imap(functools.partial(judge, fresh=fresh), paths)


def warm_up() -> None:
    """Import and initialise Dynamo once, so that forked children start fast."""
    import torch
    import torch._dynamo
    torch.set_num_threads(1)
    lin = torch.nn.Linear(2, 2)
    torch.compile(lin, backend="eager")(torch.ones(1, 2))
    torch._dynamo.reset()


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("paths", nargs="*")
    ap.add_argument("-v", "--verbose", action="store_true")
    ap.add_argument("--fresh", action="store_true", help="new interpreter per step")
    ap.add_argument("--jobs", type=int, default=1, help="cases run at the same time")
    ap.add_argument("--json", metavar="FILE")
    ap.add_argument("--child", nargs=2, metavar=("STEP", "PATH"), help=argparse.SUPPRESS)
    opt = ap.parse_args()
    sys.dont_write_bytecode = True
    if opt.child:
        warm_up()
        print("@@RESULT@@" + json.dumps(run_step(*opt.child)))
        return 0

    start = time.time()
    if not opt.fresh:
        warm_up()
    results = []
    for res in judge_all(find_cases(opt.paths), opt.fresh, opt.jobs):
        results.append(res)
        if res["problems"] or opt.verbose:
            print(("FAIL " if res["problems"] else "ok   ") + res["case"])
            for p in res["problems"]:
                print("     -", p)
        if opt.verbose:
            print(f"     graphs compiled/called: {res.get('graphs_compiled')}/"
                  f"{res.get('graph_calls')}  fullgraph: {res.get('fullgraph')}  "
                  f"skips: {res.get('skips')}")
            for r in res.get("records", []):
                print(f"     {r['id']}{r['wrappers'] or ''} {r['file']}:{r['line']}"
                      f" skip_frame={r['skip_frame']}\n        "
                      + r["msg"].strip().replace("\n", "\n        ")[:700])
            if res.get("trace"):
                print(res["trace"])
    if opt.json:
        with open(opt.json, "w") as fh:
            json.dump(results, fh, indent=1)
    failed = sum(bool(r["problems"]) for r in results)
    breaking = sum(bool(r.get("expects")) for r in results)
    ids = {r2["id"] for r in results for r2 in r.get("records", [])}
    print(f"{len(results)} cases: {breaking} with breaks, {len(results) - breaking} without, "
          f"{sum(bool(r.get('hazards')) for r in results)} with hazards; "
          f"{len(ids)} distinct ids; {failed} FAILED; {time.time() - start:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
