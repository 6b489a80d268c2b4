"""How long diagnostics take after a keystroke, and what a long session costs in memory.

    ./dev bench --server [--edits N]

Opens the largest modeling file of transformers with the library as the workspace, types and deletes a comment letter by
letter (each state is Python, so that each is traced), and waits for the findings of each version.
"""
import itertools
import json
import pathlib
import queue
import subprocess
import threading
import time


class Client:
    def __init__(self, program, folder):
        self.process = subprocess.Popen([program, "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
        self.received = queue.Queue()
        self.ids = itertools.count(1)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        stream = self.process.stdout
        while line := stream.readline():
            length = int(line.split(b":")[1])
            stream.readline()
            self.received.put((time.perf_counter(), json.loads(stream.read(length))))

    def send(self, method, params, number=None):
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if number else {})
        content = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.process.stdin.flush()

    def wait(self, wanted, timeout=300):
        while True:
            when, message = self.received.get(timeout=timeout)
            if wanted(message):
                return when

    def findings_of(self, version):
        return self.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics"
                         and m["params"].get("version") == version)

    def memory(self):
        """Megabytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


def largest_model(library):
    return max(library.glob("models/*/modeling_*.py"), key=lambda path: path.read_bytes().count(b"\n"))


def place_to_type(text):
    """The end of a statement in the middle of the file, in some forward."""
    lines = text.splitlines()
    begin = next(i for i in range(len(lines) // 2, len(lines)) if lines[i].lstrip().startswith("def forward"))
    return next((i, len(lines[i])) for i in range(begin, len(lines)) if lines[i].lstrip().startswith("return "))


def measure(program, library, edits):
    """-> (file, its lines, seconds until the first findings, milliseconds of each keystroke, megabytes in between)"""
    path = largest_model(library)
    text = path.read_text()
    uri = path.as_uri()
    client = Client(program, library.parent)
    client.send("initialize", {"processId": None, "rootUri": library.parent.as_uri(), "capabilities": {
        "textDocument": {"publishDiagnostics": {"versionSupport": True, "relatedInformation": True}}}}, next(client.ids))
    client.wait(lambda m: m.get("id") == 1)
    client.send("initialized", {})
    begin = time.perf_counter()
    client.send("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": text}})
    first = client.findings_of(1) - begin
    line, end = place_to_type(text)
    typed, word = 0, "  # typed letter by letter"
    took, memory = [], []
    for version in range(2, edits + 2):
        # The whole word goes with one keystroke, as with an undo.
        at = lambda column: {"line": line, "character": column}  # noqa: E731
        change = ({"range": {"start": at(end), "end": at(end + typed)}, "text": ""} if typed == len(word) else
                  {"range": {"start": at(end + typed), "end": at(end + typed)}, "text": word[typed]})
        typed = 0 if typed == len(word) else typed + 1
        begin = time.perf_counter()
        client.send("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]})
        took.append((client.findings_of(version) - begin) * 1000)
        if version % max(edits // 10, 1) == 0:
            memory.append(client.memory())
    client.process.kill()
    client.process.wait()
    return path, text.count("\n"), first, took, memory


def report(program, library, edits):
    """-> a paragraph for docs/benchmark.md, and whether the limits hold"""
    path, lines, first, took, memory = measure(program, library, edits)
    # The first keystroke in a file prepares for the others.
    rest = sorted(took[1:]) or took
    median, late = rest[len(rest) // 2], rest[min(len(rest) - 1, int(len(rest) * 0.99))]
    text = (f"In an editor, with the library open and typing in `{path.name}` ({lines:,} lines): findings {median:.0f} ms after a "
            f"keystroke (median; 99 % within {late:.0f} ms; the first one {took[0]:.0f} ms), {first:.1f} s after opening. "
            f"Memory after a tenth of {edits:,} keystrokes {memory[0]:.0f} MB, at the end {memory[-1]:.0f} MB.")
    return text, median <= 100 and late <= 250 and memory[-1] <= memory[0] * 1.1
