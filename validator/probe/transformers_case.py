"""A small model of the installed transformers with random weights, made from its model type alone.

The configuration class of the type is filled with its own defaults, made small by what the names of its numbers mean. The inputs
are those that `forward` names. Types that need more than that get it from the case's `config`.
"""
from __future__ import annotations

import inspect
import os
import re
from typing import Any

from .cases import Case

VOCABULARY = 128
BATCH, TOKENS, SAMPLES, FRAMES = 2, 16, 4000, 60

# Names of numbers in configurations → the most that a small model has of them. The first pattern that matches counts.
_LIMITS = [(re.compile(pattern), most) for pattern, most in (
    (r"^(vocab_size)$", VOCABULARY),
    (r"(num|n)_(key_value|kv|global_key_value)_heads$", 2),
    (r"(num_|n_|^)(\w+_)?(attention_)?heads?$|^n_heads?$", 4),
    (r"^(num|n)_(\w+_)?layers?$|^(\w+_)?layers$|^(\w*_)?depth$", 2),
    (r"^(num|n)_(\w*_)?experts$|^moe_num_experts$|^n_routed_experts$", 4),
    (r"num_experts_per_tok$|moe_topk$", 2),
    (r"(^|_)head_dim$|^d_kv$|rope_head_dim$", 8),
    (r"lora_rank$", 16),
    (r"(intermediate_size|ffn_dim|d_ff|mlp_dim|n_inner|ffn_hidden_size)$", 64),
    (r"(hidden_size|d_model|n_embd|embed_dim|hidden_dim|embedding_size|projection_dim|codevector_dim|output_dim|proj_size)$", 32),
    (r"^(max_position_embeddings|n_positions|max_source_positions|max_target_positions)$", 128),
    (r"^sliding_window$", 8),
    (r"^image_size$", 64),
    (r"^num_(queries|query_tokens|object_queries)$", 10),
)]


def _limit(name: str) -> int | None:
    return next((most for pattern, most in _LIMITS if pattern.search(name)), None)


def _are_numbers(value) -> bool:
    return bool(value) and all(isinstance(item, int) and not isinstance(item, bool) for item in value)


def small_values(config, given: dict[str, Any], depth: int = 0) -> dict[str, Any]:
    """What to give to the configuration's class so that the model becomes small. `given`: what is settled already."""
    values: dict[str, Any] = {}
    aliases = getattr(type(config), "attribute_map", {})
    depth_name = next((name for name in ("num_hidden_layers", "n_layer", "num_layers") if hasattr(config, name)), "")
    layers = getattr(config, depth_name, None)
    wanted = given.get(depth_name, 2)
    # A number that says how long lists of numbers are (of convolutions, say) stays, as the lists do.
    lengths = {len(value) for value in vars(config).values() if isinstance(value, (list, tuple)) and _are_numbers(value)}
    for name, value in vars(config).items():
        if name.startswith("_") or name in aliases or isinstance(value, bool):
            continue
        if hasattr(value, "model_type") and hasattr(value, "to_dict"):
            if depth < 3:
                values[name] = type(value)(**small_values(value, {}, depth + 1))
        elif isinstance(value, int):
            most = _limit(name)
            if most is not None and value > most and (value not in lengths or value == layers):
                values[name] = most
            elif re.search(r"_token_(id|index)$", name) and value >= VOCABULARY:
                values[name] = 1
        elif isinstance(value, (list, tuple)) and value:
            if isinstance(layers, int) and layers > 2 and len(value) == layers:  # one for each layer: keep both kinds
                other = next((item for item in value if item != value[0]), value[-1])
                values[name] = ([value[0], other] * wanted)[:wanted]
            elif _are_numbers(value) and min(value) > 64:
                values[name] = type(value)([32] * len(value))  # widths
    return values


def _config(model_type: str, given: dict[str, Any]):
    from transformers import AutoConfig

    known = AutoConfig.for_model(model_type)
    return AutoConfig.for_model(model_type, **{**small_values(known, given), **given})


def _class_of(config, name: str | None):
    """The class that is asked for, a causal language model where there is one, or the bare model."""
    import transformers
    from transformers.models.auto import modeling_auto

    if name:
        return getattr(transformers, name)
    for mapping in (modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING, modeling_auto.MODEL_MAPPING):
        if type(config) in mapping:
            found = mapping[type(config)]
            return found[0] if isinstance(found, (list, tuple)) else found
    raise ValueError(f"transformers has no model for the configuration {type(config).__name__}; name one with `class`")


def _find(config, names, default):
    parts = [config, *(value for value in vars(config).values() if hasattr(value, "model_type"))]
    return next((getattr(part, name) for name in names for part in parts if getattr(part, name, None) is not None), default)


def inputs_for(model, mode: str) -> dict[str, Any]:
    """By the names of the parameters of `forward`."""
    import torch

    config, names = model.config, inspect.signature(model.forward).parameters
    main = getattr(model, "main_input_name", "input_ids")
    vocabulary = _find(config, ("vocab_size",), VOCABULARY)
    inputs: dict[str, Any] = {}
    if "input_ids" in names:
        inputs["input_ids"] = torch.randint(2, max(3, min(vocabulary, 96)), (BATCH, TOKENS))
    if "pixel_values" in names and (main == "pixel_values" or hasattr(config, "vision_config")):
        size = _find(config, ("image_size",), 64)
        height, width = (size, size) if isinstance(size, int) else tuple(size)[:2]
        inputs["pixel_values"] = torch.randn(BATCH, _find(config, ("num_channels",), 3), height, width)
    if "input_values" in names:
        inputs["input_values"] = torch.randn(BATCH, SAMPLES)
    if "input_features" in names:
        inputs["input_features"] = torch.randn(BATCH, _find(config, ("num_mel_bins",), 16), FRAMES)
    if "attention_mask" in names and (first := next(iter(inputs), None)) in ("input_ids", "input_values"):
        inputs["attention_mask"] = torch.ones(inputs[first].shape, dtype=torch.long)
    if "decoder_input_ids" in names:
        inputs["decoder_input_ids"] = torch.randint(2, max(3, min(vocabulary, 96)), (BATCH, 8))
    if mode.startswith("train") and "labels" in names and "input_ids" in inputs and type(model).__name__.endswith(("LM", "LMHeadModel")):
        inputs["labels"] = inputs["input_ids"].clone()
    if not inputs:
        raise ValueError(f"{type(model).__name__}: no inputs are known for its forward; write an entry for it (--entry)")
    return inputs


def _shared_folder() -> str:
    return os.environ["FULLGRAPH_SHARED_FOLDER"]


def _tensor_parallel(model_class, config):
    """The model as it is loaded on several processes. All of them read what the first one wrote."""
    import torch
    import torch.distributed as dist

    folder = os.path.join(_shared_folder(), "weights")
    if dist.get_rank() == 0 and not os.path.exists(folder):
        torch.manual_seed(0)
        model_class(config).save_pretrained(folder)
    dist.barrier()
    return model_class.from_pretrained(folder, tp_plan="auto")


def make(model_type: str, mode: str, given: dict[str, Any], class_name: str | None = None):
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    import torch.distributed as dist
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    config = _config(model_type, given)
    model_class = _class_of(config, class_name)
    if dist.is_initialized() and dist.get_world_size() > 1:
        model = _tensor_parallel(model_class, config)
    else:
        torch.manual_seed(0)
        model = model_class(config)
    torch.manual_seed(2)
    return model, (), inputs_for(model, mode)


def case(model_type: str, name: str = "", given: dict[str, Any] | None = None, class_name: str | None = None) -> Case:
    def build(mode):
        wanted = "eval" if mode == "decode" else mode
        model, args, kwargs = make(model_type, wanted, given or {}, class_name)
        if mode == "decode":
            from .decode import decode_step

            kwargs = decode_step(model.eval(), kwargs)
        return model, args, kwargs

    return Case(name or model_type, build, package="transformers")
