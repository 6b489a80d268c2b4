"""Dynamo's text about a graph break, taken apart.

A message names the break in its first line, explains it, and ends with a link that carries the registry's number. A break
that Dynamo cannot handle where it is (in a loop, say) is wrapped in a second message; the first one is the cause.
"""
from __future__ import annotations

import functools
import re

_WRAPPED = "*** While handling this graph break, another graph break occurred: ***"
_EXPLANATION = re.compile(r"^  Explanation: (.*)$", re.M)
_CONTEXT = re.compile(r"Developer debug context: (.*?)(?:\n\n For more details|\n\s*\n\s*from user code|\Z)", re.S)
_LINK = re.compile(r"/gb/gb(\d+)\.html")


@functools.cache
def _registry() -> dict[str, str]:
    """Type of a break -> its id, where the installed torch has a registry."""
    try:
        from torch._dynamo.exc import _load_gb_type_to_gb_id_map
    except ImportError:
        return {}
    return _load_gb_type_to_gb_id_map()


def chain_of(message: str) -> list[dict[str, str]]:
    """The breaks that a message tells of, the cause first."""
    chain = []
    for part in message.split(_WRAPPED):
        part = part.strip("\n")
        kind = part.split("\n", 1)[0].strip()
        explanation, context, link = _EXPLANATION.search(part), _CONTEXT.search(part), _LINK.search(part)
        chain.append({
            "gb_id": _registry().get(kind) or (f"GB{link.group(1)}" if link else ""),
            "gb_type": kind[:200],
            "explanation": explanation.group(1).strip()[:300] if explanation else "",
            "context": context.group(1).strip()[:400] if context else ""})
    return chain


def message_of(error: BaseException) -> str:
    return getattr(error, "msg", None) or (str(error.args[0]) if error.args else type(error).__name__)
