"""The inputs of one decoding step, for models that take and return a cache as Hugging Face's do."""
from __future__ import annotations

import copy
from typing import Any

_CACHES = ("past_key_values", "cache_params", "state")


def decode_step(model, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Runs the prompt in `kwargs`, and returns the keyword arguments for the token that comes after it."""
    import torch

    with torch.no_grad():
        out = model(**copy.deepcopy(kwargs), use_cache=True)
    name = next((name for name in _CACHES if getattr(out, name, None) is not None), None)
    if name is None:
        raise ValueError("decode: the model returned no cache; let the entry take `mode` and make the step's inputs itself")
    tokens = kwargs["input_ids"]
    step = {"input_ids": tokens[:, -1:].clone(), name: getattr(out, name), "use_cache": True}
    mask = kwargs.get("attention_mask")
    if mask is not None and name == "past_key_values":
        step["attention_mask"] = torch.cat([mask, mask.new_ones(len(mask), 1)], dim=1)
    return step
