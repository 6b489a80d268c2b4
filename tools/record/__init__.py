"""Records what the real Dynamo does with a model: where it breaks the graph, and which lines it traced.

    python tools/record --entry model.py:example --out records.jsonl

Runs in the environment of the models, which needs nothing but torch. `docs/fidelity.md` describes the use and the format.
A file of cases imports `Case` from here (`from fullgraph_record import Case`): the folder goes by that name while it
runs, so that none of its modules can hide one of the project's.
"""
from fullgraph_probe import Case, decode_step

__all__ = ["Case", "decode_step"]
