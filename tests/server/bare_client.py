"""A client that says exactly what it is told to, also what no library would send; and reads what comes."""
from __future__ import annotations

import itertools
import json
import pathlib
import queue
import subprocess
import threading
import time

from conftest import PROGRAM

PUSH = {"textDocument": {"publishDiagnostics": {"relatedInformation": True, "versionSupport": True,
                                                "codeDescriptionSupport": True, "tagSupport": {"valueSet": [1, 2]}}}}


class BareClient:
    def __init__(self, folder: pathlib.Path, *, start: bool = True, capabilities: dict | None = None,
                 options: dict | None = None, environment: dict | None = None):
        self.process = subprocess.Popen([PROGRAM, "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, cwd=folder, env=environment)
        self.folder = folder
        self.received: list[dict] = []
        self._queue: queue.Queue = queue.Queue()
        self._ids = itertools.count(1)
        threading.Thread(target=self._read, daemon=True).start()
        self.errors = b""
        threading.Thread(target=self._read_errors, daemon=True).start()
        if start:
            self.initialized = self.request("initialize", {
                "processId": None, "rootUri": folder.as_uri(),
                "capabilities": PUSH if capabilities is None else capabilities, "initializationOptions": options or {}})
            self.notify("initialized", {})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def _read(self):
        stream = self.process.stdout
        while line := stream.readline():
            length = int(line.split(b":")[1])
            stream.readline()
            self._queue.put(json.loads(stream.read(length)))
        self._queue.put(None)

    def _read_errors(self):
        self.errors += self.process.stderr.read()

    def raw(self, data: bytes):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message) -> None:
        content = json.dumps(message).encode()
        self.raw(b"Content-Length: %d\r\n\r\n" % len(content) + content)

    def notify(self, method: str, params) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def begin(self, method: str, params) -> int:
        number = next(self._ids)
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def answer(self, number, timeout: float = 60) -> dict:
        return self.wait(lambda m: m.get("id") == number and "method" not in m, timeout)

    def request(self, method: str, params, timeout: float = 60):
        answer = self.answer(self.begin(method, params), timeout)
        assert "error" not in answer, answer
        return answer["result"]

    def wait(self, wanted, timeout: float = 60) -> dict:
        end = time.monotonic() + timeout
        while True:
            message = self._queue.get(timeout=max(0.01, end - time.monotonic()))
            assert message is not None, "the server has ended"
            self.received.append(message)
            if wanted(message):
                return message

    # ---- documents
    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str | None = None, version: int = 1) -> None:
        text = (self.folder / name).read_text() if text is None else text
        self.notify("textDocument/didOpen", {"textDocument": {"uri": self.uri(name), "languageId": "python",
                                                              "version": version, "text": text}})

    def change(self, name: str, version: int, *changes: dict | str) -> None:
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": self.uri(name), "version": version},
            "contentChanges": [{"text": c} if isinstance(c, str) else c for c in changes]})

    def diagnostics(self, name: str, version: int | None, timeout: float = 60) -> list[dict]:
        message = self.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics"
                            and m["params"]["uri"] == self.uri(name) and m["params"].get("version") == version, timeout)
        return message["params"]["diagnostics"]


def codes(diagnostics: list[dict]) -> list[tuple[int, str]]:
    """(line from 1, code)"""
    return sorted((d["range"]["start"]["line"] + 1, d["code"]) for d in diagnostics)


def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> dict:
    return {"range": {"start": {"line": start[0], "character": start[1]}, "end": {"line": end[0], "character": end[1]}},
            "text": text}


def applied(text: str, edits: list[dict]) -> str:
    """A text after the TextEdits of a server that counts in UTF-16."""
    lines = text.splitlines(keepends=True) + [""]

    def offset(position: dict) -> int:
        if position["line"] >= len(lines):
            return len(text)
        line = lines[position["line"]].encode("utf-16-le")
        before = line[: 2 * position["character"]].decode("utf-16-le")
        return sum(map(len, lines[: position["line"]])) + len(before)

    for one in sorted(edits, key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]), reverse=True):
        text = text[: offset(one["range"]["start"])] + one["newText"] + text[offset(one["range"]["end"]):]
    return text
