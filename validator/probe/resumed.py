"""The source lines of resume functions, whose line table Dynamo writes wrongly on Python 3.11.

After a break Dynamo compiles the rest of the function as a *resume function* with a line table of its own. Its writer for
Python 3.11 (`bytecode_transformation.linetable_311_writer`) counts a step to the next line twice where the instruction that
starts the line takes more than 8 units, as the method loads of a call chain over several lines do. From there on
every line is too high, in TORCH_LOGS and `explain` as well. The instructions themselves are those of the original function,
which Dynamo keeps together with their true positions: the lines are taken from there.
"""
from __future__ import annotations

import dis
import re
from types import CodeType

_RESUMED = re.compile(r"^torch_dynamo_resume_in_(.*?)_at_\d+$")
_line_maps: dict[CodeType, dict[int, int]] = {}


def plain_name(function: str) -> str:
    """The name of the function that a resume function continues."""
    while match := _RESUMED.match(function):
        function = match.group(1)
    return function


def _original(code: CodeType):
    from torch._dynamo.resume_execution import ContinueExecutionCache

    generated = ContinueExecutionCache.generated_code_metadata
    return generated[code] if code in generated else None


def _line_of(instruction) -> int | None:
    return instruction.positions.lineno if instruction.positions else None


def _line_map(code: CodeType) -> dict[int, int]:
    """Line in the resume function's table -> line in the source. Both instruction lists end alike, so that they are
    matched from the end."""
    known = _line_maps.get(code)
    if known is not None:
        return known
    mapped = _line_maps[code] = {}
    starts = {offset: line for offset, _, line in code.co_lines()}
    line, mine = code.co_firstlineno, []
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset, line)
        if instruction.opname != "EXTENDED_ARG":
            mine.append((instruction.opname, line))
    for (name, wrong), original in zip(reversed(mine), reversed(_original(code).instructions)):
        if name != original.opname:
            break
        if wrong is not None and _line_of(original):
            mapped.setdefault(wrong, _line_of(original))
    return mapped


def source_line(code: CodeType, line: int, translator=None) -> int:
    """The line in the source for `line` of `code`; exact where Dynamo's translator stands at the instruction meant."""
    original = _original(code)
    if original is None:
        return line
    if translator is not None:
        current = translator.current_instruction
        try:
            from_end = len(translator.instructions) - translator.instructions.index(current)
        except ValueError:  # an instruction that Dynamo inserted
            from_end = len(original.instructions) + 1
        if from_end <= len(original.instructions):
            same = original.instructions[-from_end]
            if same.opname == current.opname and _line_of(same):
                return _line_of(same)
    return _line_map(code).get(line, line)
