"""Archives that are cut, damaged or made to do harm: a clear verdict, exit status 2, nothing left behind."""
from __future__ import annotations

import io
import json
import os
import pickle
import zipfile

import graph_models as models
import pytest
import torch


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archives")
    torch.manual_seed(0)
    torch.jit.save(torch.jit.script(models.Encoder()), folder / "model.pt")
    torch.export.save(torch.export.export(models.Plain(), (torch.rand(3, 4),)), folder / "model.pt2")
    return folder


def rewritten(source, change) -> bytes:
    """The archive with members changed: change(name, bytes) gives the new bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name), change(name, old.read(name)))
    return out.getvalue()


class Command:
    def __reduce__(self):
        return os.system, ("touch executed",)


def nested(depth: int) -> bytes:
    return b"\x80\x02" + b"(" * depth + b"K\x01" + b"l" * depth + b"."


def replaced(part: str, text: bytes):
    return lambda name, old: text if name.endswith(part) else old


def bomb(folder) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(folder / "model.pt") as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        with new.open(old.namelist()[0].split("/")[0] + "/code/filler.py", "w", force_zip64=True) as member:
            for _ in range(600):
                member.write(bytes(1 << 20))
    return out.getvalue()


def changed_graph(folder, change) -> bytes:
    def edit(name, old):
        if not name.endswith("models/model.json"):
            return old
        program = json.loads(old)
        change(program["graph_module"])
        return json.dumps(program).encode()
    return rewritten(folder / "model.pt2", edit)


def rename_operator(module):
    module["graph"]["nodes"][0]["target"] = "torch.ops.aten.no_such_operator.default"


def use_what_nothing_computes(module):
    module["graph"]["outputs"][0]["as_tensor"]["name"] = "nothing"


CASES = {
    "empty": ("model.pt", lambda folder: b""),
    "garbage": ("model.pt", lambda folder: bytes(range(256)) * 64),
    "cut": ("model.pt", lambda folder: (folder / "model.pt").read_bytes()[:3000]),
    "cut_program": ("model.pt2", lambda folder: (folder / "model.pt2").read_bytes()[:-200]),
    "bomb": ("model.pt", bomb),
    "pickle_of_a_command": ("model.pt", lambda folder: rewritten(folder / "model.pt", replaced("data.pkl", pickle.dumps(Command(), 2)))),
    "pickle_of_odd_opcodes": ("model.pt", lambda folder: rewritten(folder / "model.pt", replaced("data.pkl", b"\x80\x02\xff\x00\x95.oddities."))),
    "pickle_that_pops_nothing": ("model.pt", lambda folder: rewritten(folder / "model.pt", replaced("data.pkl", b"\x80\x02tttbbb0."))),
    "pickle_without_an_end": ("model.pt", lambda folder: rewritten(folder / "model.pt", replaced("data.pkl", b"\x80\x02(((("))),
    "pickle_nested_deeply": ("model.pt", lambda folder: rewritten(folder / "model.pt", replaced("data.pkl", nested(200_000)))),
    "code_that_is_none": ("model.pt", lambda folder: rewritten(folder / "model.pt", replaced(".py", b"class (:\n"))),
    "graph_that_is_no_json": ("model.pt2", lambda folder: rewritten(folder / "model.pt2", replaced("models/model.json", b"{]"))),
    "graph_of_another_form": ("model.pt2", lambda folder: rewritten(folder / "model.pt2", replaced("models/model.json", b"[1, 2]"))),
    "unknown_operator": ("model.pt2", lambda folder: changed_graph(folder, rename_operator)),
    "unknown_value": ("model.pt2", lambda folder: changed_graph(folder, use_what_nothing_computes)),
    "weights_too_small": ("model.pt2", lambda folder: rewritten(folder / "model.pt2", replaced("weights/weight_0", b"\0\0\0\0"))),
}


@pytest.mark.parametrize("name", CASES)
def test_hostile(fullgraph, archives, tmp_path, name):
    file, make = CASES[name]
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    work.mkdir()
    temporary.mkdir()
    (work / file).write_bytes(make(archives))
    done = fullgraph("validate", file, "--input", "f32[3,4]", "--output-format", "json", "--memory-limit", "4G",
                     "--timeout", "60", cwd=work, env={"TMPDIR": str(temporary)})
    assert done.code == 2, done.stdout
    case = done.json()["cases"][0]
    failures = [case["failure"]] if case["failure"] else [one["before"]["failure"] for one in case["runs"]]
    assert all(one["message"] for one in failures)
    assert list(temporary.iterdir()) == []
    assert [one.name for one in work.iterdir()] == [file], "something was executed"


def test_a_bomb_is_not_unpacked(fullgraph, archives, tmp_path):
    (tmp_path / "bomb.pt").write_bytes(bomb(archives))
    done = fullgraph("validate", "bomb.pt", cwd=tmp_path)
    assert done.code == 2
    assert "would unpack to" in done.stdout


@pytest.mark.parametrize("name, value, words", [
    ("state.pt", {"weight": torch.ones(2)}, "torch.save"),
    ("notes.pt", None, "not an archive"),
])
def test_files_of_other_kinds_are_named(fullgraph, tmp_path, name, value, words):
    if value is None:
        (tmp_path / name).write_text("just text\n")
    else:
        torch.save(value, tmp_path / name)
    done = fullgraph("validate", name, cwd=tmp_path)
    assert done.code == 2
    assert words in done.stdout


def test_the_old_layout_is_named(fullgraph, tmp_path):
    with zipfile.ZipFile(tmp_path / "old.pt2", "w") as archive:
        for name in ("serialized_exported_program.json", "serialized_state_dict.pt", "version"):
            archive.writestr(name, b"{}")
    done = fullgraph("validate", "old.pt2", cwd=tmp_path)
    assert done.code == 2
    assert "torch 2.7 and older" in done.stdout
