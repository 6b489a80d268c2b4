"""Records models of transformers with random weights: `export FOLDER`, `log FILE MODEL MODE`.

The sources are found through PYTHONPATH, the models are made as `fullgraph validate --transformers` makes them.
"""
from __future__ import annotations

import json
import logging
import os
import pathlib
import sys
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"
warnings.filterwarnings("ignore")

import torch  # noqa: E402
import transformers  # noqa: E402
from node_counts import in_module  # noqa: E402

SMALL = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 8,
    "intermediate_size": 64, "vocab_size": 100, "max_position_embeddings": 64,
}  # fmt: skip
MODELS = ["bert", "distilbert", "roberta", "gpt2", "llama", "qwen2", "mistral", "gemma", "electra", "albert", "gpt_neox"]
TRACED = MODELS[:6]


def make(model_type):
    config = transformers.AutoConfig.for_model(model_type, **SMALL)
    config.use_cache = config.return_dict = False
    torch.manual_seed(0)
    return transformers.AutoModel.from_config(config, attn_implementation="eager").eval()


def export(folder: pathlib.Path) -> None:
    """Beside each archive the number of nodes that torch's own loader sees in it."""
    nodes = {}
    ids = torch.randint(0, 100, (1, 8))
    for model_type in MODELS:
        model = make(model_type)
        program = torch.export.export(model, (ids,), strict=False)
        torch.export.save(program, folder / f"{model_type}.pt2")
        nodes[model_type] = in_module(torch.export.load(folder / f"{model_type}.pt2").graph_module)
        if model_type in TRACED:
            traced = torch.jit.trace(model, (ids,), check_trace=False, strict=False)
            traced.save(str(folder / f"{model_type}.trace.pt"))
    (folder / "nodes.json").write_text(json.dumps(nodes))


def run(model_type: str, mode: str) -> None:
    """One compiled step; what is of interest is what TORCH_LOGS makes of it."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "validator"))
    from probe import transformers_case

    model, args, kwargs = transformers_case.make(model_type, mode, {})
    model.train(mode == "train")
    torch.compile(model, backend="eager")(*args, **kwargs)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    if sys.argv[1] == "export":
        export(pathlib.Path(sys.argv[2]))
    else:
        logging.disable(logging.NOTSET)
        run(sys.argv[2], sys.argv[3])
