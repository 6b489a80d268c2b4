#!/usr/bin/env python3
"""What a repair does to a case, by running it: the case before, the case after.

    python prove_repair.py BEFORE AFTER [BEFORE AFTER]...    each a FILE.py or a folder with main.py; prints a JSON list

    eager      per mode (train with gradients, eval without): "same", or what differs in outputs, exceptions and
               gradients of parameters. Gradients that only the repaired case has are listed apart: `appeared`; those
               that it lacks: `lost`
    before, after    the breaks that Dynamo reports, as [line, id], in the mode of the case
"""
from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import sys
import tempfile

import oracle


def run_eagerly(case, mode: str) -> dict:
    import torch

    with oracle.observe(case, fullgraph=False):
        torch.compiler.set_stance("force_eager")
        try:
            _, fn, args, kwargs = oracle.build(case)
            owner = getattr(fn, "_orig_mod", fn)
            if isinstance(owner, torch.nn.Module):
                owner.train(mode == "train")
            torch.manual_seed(1)
            with torch.set_grad_enabled(mode == "train"):
                out = fn(*args, **kwargs)
            tensors = [t for t in torch.utils._pytree.tree_leaves(out) if isinstance(t, torch.Tensor)]
            losses = [t.float().sum() for t in tensors if t.requires_grad and not t.is_complex()]
            if losses:
                sum(losses).backward()
            inputs = [t for t in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
            grads = {f"input {i}": t.grad for i, t in enumerate(inputs) if t.is_leaf}
            if isinstance(owner, torch.nn.Module):
                grads |= {name: p.grad for name, p in owner.named_parameters()}
            return {"outputs": [t.detach().clone() for t in tensors], "grads": grads, "raised": None}
        except Exception as exc:  # what a case raises is a part of what it does
            return {"outputs": [], "grads": {}, "raised": type(exc).__name__}
        finally:
            torch.compiler.set_stance("default")


def equal(a, b) -> bool:
    import torch

    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.layout != torch.strided or b.layout != torch.strided or a.is_nested or b.is_nested:
        return a.layout == b.layout
    return torch.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True) if a.numel() else True


def compare(before: dict, after: dict) -> dict:
    if before["raised"] != after["raised"]:
        return {"differs": f"raises {after['raised']}, before {before['raised']}"}
    if len(before["outputs"]) != len(after["outputs"]):
        return {"differs": "number of outputs"}
    if not all(map(equal, before["outputs"], after["outputs"])):
        return {"differs": "outputs"}
    names = before["grads"].keys() | after["grads"].keys()
    pairs = {n: (before["grads"].get(n), after["grads"].get(n)) for n in names}
    result = {
        "lost": sorted(n for n, (a, b) in pairs.items() if a is not None and b is None),
        "appeared": sorted(n for n, (a, b) in pairs.items() if a is None and b is not None),
        "differs": [n for n, (a, b) in pairs.items() if a is not None and b is not None and not equal(a, b)],
    }
    return {key: value for key, value in result.items() if value} or "same"


def breaks(case) -> list:
    import torch

    torch._dynamo.reset()
    return [[line, id] for _, line, id in oracle.step_breaks(case)["observed"]]


def look_at(path: str, result: str) -> None:
    """In a process of its own: what the versions of a case import has the same names."""
    import torch

    pid = os.fork()
    if pid == 0:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            eager = {mode: run_eagerly(oracle.Case(path), mode) for mode in ("train", "eval")}
            torch.save((eager, breaks(oracle.Case(path))), result)
        os._exit(0)
    os.waitpid(pid, 0)


def prove(pair: list[str]) -> dict:
    import torch

    seen = []
    with tempfile.TemporaryDirectory() as folder:
        for side, path in enumerate(pair):
            file = os.path.join(folder, str(side))
            look_at(path, file)
            if not os.path.exists(file):
                return {"crash": f"{path} ends its process"}
            seen.append(torch.load(file, weights_only=False))
    (eager_before, before), (eager_after, after) = seen
    eager = {mode: compare(eager_before[mode], eager_after[mode]) for mode in eager_before}
    return {"eager": eager, "before": before, "after": after}


def main() -> int:
    sys.dont_write_bytecode = True
    oracle.warm_up()
    paths = sys.argv[1:]
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        print(json.dumps(pool.map(prove, zip(paths[::2], paths[1::2]), chunksize=1)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
