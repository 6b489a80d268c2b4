"""Dynamo's own log of graph breaks (TORCH_LOGS=graph_breaks), read at the same time: a second witness for each record.

Sites that the log has and the hooks have not are listed in the record as `log_only`, which should stay empty.
"""
from __future__ import annotations

import logging
import re

from .places import Places

_SITE = re.compile(r"[Gg]raph break (?:\(.*?\) )?in user code at (.*?):(\d+)")
_FRAME = re.compile(r'File "(.*?)", line (\d+), in')
_MODULES = ("symbolic_convert", "convert_frame", "exc")


class _Messages(logging.Handler):
    def __init__(self):
        super().__init__(logging.DEBUG)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info:
            text += "\n" + logging.Formatter().formatException(record.exc_info)
        self.texts.append(text)


class BreakLog:
    def __init__(self, places: Places):
        self._places = places
        self._handler = _Messages()
        self._changed: list[tuple[logging.Logger, int, bool]] = []

    def start(self) -> None:
        for module in _MODULES:
            logger = logging.getLogger(f"torch._dynamo.{module}.__graph_breaks")
            self._changed.append((logger, logger.level, logger.propagate))
            logger.setLevel(logging.DEBUG)
            logger.propagate = False
            logger.addHandler(self._handler)

    def stop(self) -> None:
        while self._changed:
            logger, level, propagate = self._changed.pop()
            logger.removeHandler(self._handler)
            logger.setLevel(level)
            logger.propagate = propagate

    @property
    def count(self) -> int:
        return len(self._handler.texts)

    def _sites(self) -> set[tuple[str, int]]:
        found = set()
        for text in self._handler.texts:
            if match := _SITE.search(text):
                found.add((self._places.name(match.group(1)), int(match.group(2))))
            elif "results in a skip" in text:
                frames = _FRAME.findall(text.split("Traceback (most recent call last)")[0])
                found |= {(self._places.name(name), int(line)) for name, line in frames[-1:]}
        return found

    def sites_missing_in(self, breaks) -> list[str]:
        known = {(item["inner_file"], item["inner_line"]) for item in breaks}
        known |= {tuple(item["stack"][-1][:2]) for item in breaks}
        return sorted(f"{name}:{line}" for name, line in self._sites() - known)
