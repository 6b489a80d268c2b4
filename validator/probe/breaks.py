"""Every graph break that Dynamo makes inside a `with` block.

Dynamo leaves a break along one of three ways, and each is hooked:

* `InstructionTranslatorBase.log_graph_break`: breaks after which it resumes (kind `partial`), breaks after which the
  rest of the function runs eagerly (`rest_eager`), and breaks that it cannot handle where they are, as in a loop or a `try`,
  so that the whole frame runs eagerly (`skip_frame`);
* `ConvertFrameAssert.__call__` raising a break that the first did not log: also `skip_frame`;
* a frame dropped without a word, mostly since it holds no tensor: no break, kept apart in `skipped`.

A break in an inlined function is reported at its innermost line; Dynamo then compiles the callee as a frame of its own
and usually reports the line once more. Equal ones (kind, chain of reasons, stack) are merged and counted.
"""
from __future__ import annotations

import collections
import json
from types import CodeType
from typing import Any

from .lines import by_file
from .log import BreakLog
from .places import Places
from .reasons import chain_of, message_of
from .resumed import plain_name, source_line

# The words with which Dynamo announces what it does after a break.
_REST_EAGER = "Encountered graph break that we cannot resume"
_SKIPPED = "Failed to handle graph break gracefully"


def _kind_of(reason: str) -> str:
    if reason.startswith(_REST_EAGER):
        return "rest_eager"
    return "skip_frame" if reason.startswith(_SKIPPED) else "partial"


class BreakRecorder:
    """Collects breaks, traced lines and dropped frames; a context manager."""

    def __init__(self, places: Places):
        self._places = places
        self._undo: list[tuple[Any, str, Any]] = []
        self._breaks: dict[str, dict[str, Any]] = {}
        self._log = BreakLog(places)
        self.traced: set[tuple[str, int]] = set()
        self.skipped: collections.Counter = collections.Counter()
        self.shifted = 0  # breaks whose line Dynamo gave wrongly
        self.recompiles = 0  # of code that had been compiled before
        self._compiled: collections.Counter = collections.Counter()

    # -- what was collected

    @property
    def breaks(self) -> list[dict[str, Any]]:
        """In the order in which Dynamo met them."""
        return list(self._breaks.values())

    def fields(self) -> dict[str, Any]:
        """The part of a record that this recorder knows."""
        found = {
            "breaks": self.breaks,
            "traced": by_file(self.traced, self._places),
            "skipped_frames": [[*frame, count] for frame, count in self.skipped.items()
                               if self._places.is_recorded(frame[0])][:100],
            "log_messages": self._log.count,
            "shifted": self.shifted}
        # The log has the lines before the correction: nothing to compare where one was corrected.
        found["log_only"] = None if self.shifted else self._log.sites_missing_in(self.breaks)
        return found

    # -- one break

    def add(self, kind: str, error: BaseException, stack, above, code: CodeType, translator=None) -> None:
        """`stack`: from the compiled frame inwards. `above`: the frames that called it. `code`: the compiled frame's."""
        chain = chain_of(message_of(error))
        if type(error).__name__ == "UserError":
            chain[0]["gb_type"] = f"UserError({getattr(error, 'error_type', '')}): {chain[0]['gb_type']}"
        inner = self._inner_frames(stack, code, translator)
        outer = [frame for frame in self._triples(above) if self._places.is_recorded(frame[0])]
        whole = _joined(outer, inner)
        site = self._innermost_recorded(inner) or self._innermost_recorded(whole) or inner[-1]
        key = json.dumps([kind, [link["gb_type"] for link in chain], whole])
        known = self._breaks.get(key)
        if known is not None:
            known["count"] += 1
            if len(inner) not in known["inline_depths"]:
                known["inline_depths"].append(len(inner))
            return
        self._breaks[key] = {
            "kind": kind, **chain[0], "chain": [[link["gb_id"], link["gb_type"]] for link in chain],
            "file": site[0], "line": site[1], "func": site[2],
            "inner_file": inner[-1][0], "inner_line": inner[-1][1], "inner_func": inner[-1][2],
            "frame": [self._places.name(code.co_filename), code.co_firstlineno, plain_name(code.co_name)],
            "stack": whole, "count": 1, "inline_depths": [len(inner)]}

    def _triples(self, stack) -> list[list[Any]]:
        return [[self._places.name(frame.filename), frame.lineno or 0, plain_name(frame.name)]
                for frame in stack or () if frame.filename]

    def _inner_frames(self, stack, code: CodeType, translator) -> list[list[Any]]:
        here = [self._places.name(code.co_filename), code.co_firstlineno, plain_name(code.co_name)]
        inner = self._triples(stack) or [here]
        if inner[0][0] == here[0] and inner[0][2] == here[2]:
            line = source_line(code, inner[0][1], translator)
            self.shifted += line != inner[0][1]
            inner[0][1] = line
        return inner

    def _innermost_recorded(self, frames) -> list[Any] | None:
        return next((frame for frame in reversed(frames) if self._places.is_recorded(frame[0])), None)

    # -- hooks

    def _replace(self, owner, name: str, make) -> None:
        old = owner.__dict__.get(name)
        if old is None:
            raise RuntimeError(f"this torch has no {owner.__name__}.{name}: the recorder does not know its Dynamo")
        setattr(owner, name, make(old))
        self._undo.append((owner, name, old))

    def __enter__(self) -> BreakRecorder:
        from torch._dynamo import convert_frame, symbolic_convert

        translator = symbolic_convert.InstructionTranslatorBase
        self._replace(translator, "log_graph_break", self._hook_log)
        self._replace(translator, "starts_line", self._hook_line)
        self._replace(convert_frame.ConvertFrameAssert, "__call__", self._hook_convert)
        self._log.start()
        return self

    def __exit__(self, *error) -> None:
        self._log.stop()
        while self._undo:
            setattr(*self._undo.pop())

    def _hook_log(self, old):
        from torch._dynamo.exc import get_stack_above_dynamo
        from torch._guards import TracingContext

        def log_graph_break(translator, code_options, reason, exc):  # the names by which Dynamo passes them
            if not getattr(exc, "logged", False):
                stack = getattr(exc, "real_stack", None) or TracingContext.extract_stack()
                self.add(_kind_of(reason), exc, stack, get_stack_above_dynamo(), translator.f_code, translator)
            return old(translator, code_options, reason, exc)

        return log_graph_break

    def _hook_line(self, old):
        def starts_line(translator, lineno):
            if lineno:
                code = translator.f_code
                self.traced.add((code.co_filename, source_line(code, lineno, translator)))
            return old(translator, lineno)

        return starts_line

    def _hook_convert(self, old):
        from torch._dynamo.exc import Unsupported, UserError, get_stack_above_dynamo

        def convert(converter, frame, *args, **kwargs):
            code = frame.f_code
            try:
                result = old(converter, frame, *args, **kwargs)
            except (Unsupported, UserError) as error:
                if not getattr(error, "logged", False):
                    self.add("skip_frame", error, getattr(error, "real_stack", None), get_stack_above_dynamo(), code)
                raise
            if getattr(result, "guarded_code", None) is not None:
                self.recompiles += self._compiled[code] > 0
                self._compiled[code] += 1
            reason = getattr(result, "skip_reason", None)
            if reason and getattr(result, "guarded_code", None) is None:
                place = self._places.name(code.co_filename), code.co_firstlineno, plain_name(code.co_name)
                self.skipped[(*place, reason[:200])] += 1
            return result

        return convert


def _joined(outer, inner) -> list[list[Any]]:
    """One stack, outermost first. The compiled frame, with the parts of it that Dynamo resumed one after another, ends
    `outer` and begins `inner`, whose line is the right one."""
    function = inner[0][0], inner[0][2]
    while outer and (outer[-1][0], outer[-1][2]) == function:
        outer = outer[:-1]
    return outer + inner
