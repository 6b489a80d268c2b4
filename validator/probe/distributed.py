"""Several processes as one run: torchrun starts this worker in each of them. The first one tells what was measured."""
from __future__ import annotations

import datetime
import os
from typing import Any

_ORDER = ("equal", "appeared", "differs", "shape", "lost")


def world() -> tuple[int, int]:
    """(rank, number of processes)"""
    return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def begin(device: str) -> None:
    import torch
    import torch.distributed as dist

    if device.startswith("cuda"):
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if device.startswith("cuda") else "gloo", timeout=datetime.timedelta(seconds=600))


def end() -> None:
    import torch.distributed as dist

    if dist.is_initialized():
        dist.destroy_process_group()


def worst_of_all(comparison: dict[str, Any]) -> dict[str, Any]:
    """The comparisons of all processes as one, in which each tensor is as it is where it is worst. Called by all."""
    import torch.distributed as dist

    gathered: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, comparison)
    merged = {tensor["name"]: dict(tensor) for tensor in gathered[0]["tensors"]}
    for rank, other in enumerate(gathered):
        for tensor in other["tensors"]:
            known = merged.setdefault(tensor["name"], dict(tensor))
            key = lambda one: (_ORDER.index(one["equality"]), one.get("largest") or 0)
            if key(tensor) > key(known):
                merged[tensor["name"]] = dict(tensor)
    return {"tensors": list(merged.values()), "note": gathered[0]["note"]}


def without_shards(expected, actual) -> str:
    """Takes out what this process holds only a part of: it has no counterpart in a single process. -> a note"""
    parts = [name for name, tensor in actual.gradients.items()
             if tensor is not None and expected.gradients.get(name) is not None and tensor.shape != expected.gradients[name].shape]
    for name in parts:
        del actual.gradients[name], expected.gradients[name]
    return f"{len(parts)} gradients of sharded parameters are not compared" if parts else ""
