"""Thousands of random edits, after which the server says what a fresh `check` says, with no more memory than before.

FULLGRAPH_SOAK_EDITS and FULLGRAPH_SOAK_SEED make it longer or another one.
"""
from __future__ import annotations


import os
import pathlib
import random
import time

import pytest

import server_models as models
from bare_client import BareClient, codes, edit
from conftest import run_fullgraph

EDITS = int(os.environ.get("FULLGRAPH_SOAK_EDITS", "6000"))
SEED = int(os.environ.get("FULLGRAPH_SOAK_SEED", "1"))

# Lines that come and go in any file, deeper and less deep, right and wrong.
PIECES = ["        print(x)\n", "        x = x * 2\n", "        if x.sum() > 0:\n            x = x + 1\n",
          "        y = x.item()\n", "# a comment\n", "\n", "import logging\n", "from helper import scale\n",
          "        x.requires_grad = True\n", "class Empty:\n    pass\n", "    def other(self, x):\n        return scale(x)\n",
          "        return scale(x)\n", "    def broken(:\n", "\"\"\"\n", "(", "        x = nn.Parameter(x)  # é😀\n",
          "    print(x)\n", "@torch.compile\n", "        # fullgraph: ignore[FG501]\n", "def scale(x):\n    print(x)\n"]


def project(folder: pathlib.Path) -> list[str]:
    chain = {"helper.py": models.HELPER, "model.py": models.MODEL}
    for number in range(6):
        below = f"layer{number - 1}" if number else "helper"
        name = f"Layer{number - 1}" if number else "scale"
        use = f"self.inner = {name}()" if number else "self.inner = scale"
        chain[f"layer{number}.py"] = (
            f"import torch\nfrom torch import nn\n\nfrom {below} import {name}\n\n\nclass Layer{number}(nn.Module):\n"
            f"    def __init__(self):\n        super().__init__()\n        {use}\n\n"
            f"    def forward(self, x):\n        x = self.inner(x)\n        return x\n")
    for name, text in chain.items():
        (folder / name).write_text(text)
    return list(chain)


def is_python(text: str) -> bool:
    try:
        compile(text, "m.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def memory_of(process: int) -> int:
    """Megabytes."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) // 1024


class Editor:
    """Types into the files of a project, sometimes faster than the server looks."""

    def __init__(self, client: BareClient, names: list[str], seed: int):
        self.client, self.random = client, random.Random(seed)
        self.texts = {name: (client.folder / name).read_text() for name in names}
        self.whole = dict(self.texts)  # the last of each that was Python
        self.versions = dict.fromkeys(names, 1)
        for name in names:
            client.open(name)

    def replace(self, name: str, begin: int, end: int, text: str) -> None:
        before = self.texts[name]
        place = lambda at: (before.count("\n", 0, at), len(  # noqa: E731
            before[before.rfind("\n", 0, at) + 1: at].encode("utf-16-le")) // 2)
        self.texts[name] = before[:begin] + text + before[end:]
        self.versions[name] += 1
        self.client.change(name, self.versions[name], edit(place(begin), place(end), text))
        if is_python(self.texts[name]):
            self.whole[name] = self.texts[name]

    def step(self) -> None:
        name = self.random.choice(list(self.texts))
        text = self.texts[name]
        starts = [0] + [i + 1 for i, c in enumerate(text) if c == "\n"]
        kind = self.random.random()
        if len(text) > 4000 or kind < 0.1:
            self.replace(name, 0, len(text), self.whole[name] if len(self.whole[name]) < 3000 else
                         (self.client.folder / name).read_text())
        elif kind < 0.6:
            at = self.random.choice(starts)
            self.replace(name, at, at, self.random.choice(PIECES))
        elif kind < 0.8:
            at = self.random.randrange(len(starts))
            self.replace(name, starts[at], starts[min(at + 1, len(starts) - 1)], "")
        else:
            at = self.random.randrange(len(text) + 1)
            self.replace(name, at, min(len(text), at + self.random.randrange(3)), self.random.choice(["", "x", " ", "\n", "é"]))

    def settle(self) -> dict[str, list]:
        """Leaves Python in every file, saves it, and waits for what the server says of it."""
        for name in self.texts:
            if self.texts[name] != self.whole[name]:
                self.replace(name, 0, len(self.texts[name]), self.whole[name])
            (self.client.folder / name).write_text(self.texts[name])
        last = list(self.texts)[-1]
        self.replace(last, len(self.texts[last]), len(self.texts[last]), "\n")
        (self.client.folder / last).write_text(self.texts[last])
        shown = {}

        def note(message: dict) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics":
                return False
            name = pathlib.Path(message["params"]["uri"]).name
            shown[name] = message["params"]
            return all(shown.get(n, {}).get("version") == v for n, v in self.versions.items())

        self.client.wait(note, 120)
        return {name: codes(params["diagnostics"]) for name, params in shown.items()}


def fresh(folder: pathlib.Path, names: list[str]) -> dict[str, list]:
    out: dict[str, list] = {name: [] for name in names}
    for finding in run_fullgraph("check", "--output-format", "json", cwd=folder).ok().findings():
        out[finding["file"]].append((finding["line"], finding["code"]))
    return {name: sorted(found) for name, found in out.items()}


def test_random_edits(tmp_path):
    names = project(tmp_path)
    with BareClient(tmp_path) as client:
        editor = Editor(client, names, SEED)
        rounds = 10
        memory = []
        found = 0
        for _ in range(rounds):
            for _ in range(EDITS // rounds):
                editor.step()
                if editor.random.random() < 0.3:
                    time.sleep(0.004)
            shown = editor.settle()
            assert shown == fresh(tmp_path, names)
            found += sum(map(len, shown.values()))
            memory.append(memory_of(client.process.pid))
        assert found > rounds  # or nothing was tried
        # The first rounds fill what is kept from edit to edit.
        assert memory[-1] < memory[2] + 40, memory


@pytest.mark.parametrize("seed", [SEED + 1])
def test_typing_letter_by_letter(tmp_path, seed):
    """Whole words, one letter after the other, with every state in between."""
    names = project(tmp_path)
    with BareClient(tmp_path) as client:
        editor = Editor(client, names, seed)
        at = editor.texts["layer3.py"].index("        return x")
        for letter in "        if x.sum() > 0:\n            print(x)\n        x = x * 2\n":
            editor.replace("layer3.py", at, at, letter)
            at += 1
            client.diagnostics("layer3.py", editor.versions["layer3.py"])
        assert editor.settle() == fresh(tmp_path, names)
