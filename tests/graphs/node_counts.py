"""How many nodes a graph has: by torch itself, and by the text that stands for it."""
from __future__ import annotations

import re


def in_module(module) -> int:
    """Of the graph and of all that it calls."""
    return sum(len(part.graph.nodes) for part in module.modules() if hasattr(part, "graph"))


def in_text(text: str) -> int:
    """Parameters, statements that bind a name, and what each forward returns. Lifted inputs are parameters of the
    exported graph and attributes in the text; statements without a name are mutations, which are no nodes."""
    lines = [line.strip() for line in text.splitlines()]
    heads = [re.sub(r'"[^"]*"', "", line) for line in lines if line.startswith("def forward(")]
    parameters = sum(head.count(", ") for head in heads)
    bound = sum(bool(re.match(r'\w+(: "[^"]*")? = ', line)) for line in lines)
    returned = sum(line.startswith("return ") for line in lines)
    return parameters + bound + returned
