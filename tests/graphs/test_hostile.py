"""Archives made to do harm: a clear message, bounded memory, no crash. Each is made from one that torch wrote."""
from __future__ import annotations

import io
import pickle
import random
import struct
import zipfile

import pytest
import readers
import recorded_models as models
import torch

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "m.pt"
    torch.jit.save(torch.jit.script(models.Hooked()), str(path))
    return path


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "s.pt"
    torch.save(models.Containers(), path)
    return path


def rewritten(source, target, changes: dict[str, bytes | None] | None = None, extra: dict[str, bytes] | None = None,
              compression=zipfile.ZIP_DEFLATED):
    """The archive with other members; names are taken by their ends."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", compression) as new:
        top = old.namelist()[0].split("/")[0]
        for name in old.namelist():
            content = old.read(name)
            for ending, other in (changes or {}).items():
                if name.endswith(ending):
                    content = other
            if content is not None:
                new.writestr(name, content)
        for name, content in (extra or {}).items():
            new.writestr(name.replace("TOP", top), content)
    return target


def test_cut_at_every_64_bytes(script, saved, tmp_path):
    for source in (script, saved):
        whole = source.read_bytes()
        path = tmp_path / "cut.pt"
        for size in range(0, len(whole), 64):
            path.write_bytes(whole[:size])
            readers.refused(path, "cut")


def test_a_wrong_checksum(script, tmp_path):
    whole = bytearray(script.read_bytes())
    at = whole.index(b"_is_full_backward_hook")  # data.pkl is stored as it is
    whole[at] ^= 1
    path = tmp_path / "m.pt"
    path.write_bytes(whole)
    readers.refused(path, "data.pkl", "checksum")


def test_any_single_wrong_byte(script, tmp_path):
    """Refused or read, never a crash."""
    whole = script.read_bytes()
    path = tmp_path / "m.pt"
    generator = random.Random(7)
    for _ in range(150):
        changed = bytearray(whole)
        changed[generator.randrange(len(whole))] = generator.randrange(256)
        path.write_bytes(changed)
        readers.read(path)


def test_a_bomb(script, tmp_path):
    """One gigabyte of zeros in one megabyte, as code and as a pickle; with the true size and with a small one promised."""
    zeros = b"\0" * (1 << 30)
    for ending in ("models.py", "data.pkl"):
        path = rewritten(script, tmp_path / "bomb.pt", {ending: zeros})
        assert path.stat().st_size < 2 << 20
        result = readers.refused(path, ending, "bytes")
        assert result.data["peak_kib"] < 256 << 10
        raw = bytearray(path.read_bytes())
        size = struct.pack("<I", 1 << 30)
        while size in raw:
            at = raw.index(size)
            raw[at:at + 4] = struct.pack("<I", 1000)
        path.write_bytes(raw)
        assert readers.refused(path, ending).data["peak_kib"] < 256 << 10


def test_names_that_lead_out(script, tmp_path):
    for name in ("../../evil.py", "/etc/evil", "TOP/code/../../../evil.py", "TOP\\evil", "C:evil"):
        readers.refused(rewritten(script, tmp_path / "m.pt", extra={name: b"x"}), "leads out of it", "evil")


def test_the_same_name_twice(script, tmp_path):
    with pytest.warns(UserWarning):
        path = rewritten(script, tmp_path / "m.pt", extra={"TOP/data.pkl": b"N."})
    readers.refused(path, "`TOP/data.pkl` twice".replace("TOP", "m"))


def test_100000_members(script, tmp_path):
    path = rewritten(script, tmp_path / "m.pt", extra={f"TOP/data/x{number}": b"" for number in range(100_000)},
                     compression=zipfile.ZIP_STORED)
    result = readers.read(path, timeout=10)
    assert result.code == 0 and result.data["peak_kib"] < 128 << 10


def test_encrypted_and_unusual_compression(script, tmp_path):
    readers.refused(rewritten(script, tmp_path / "m.pt", compression=zipfile.ZIP_LZMA), "compressed in a way that torch does not use")
    raw = bytearray(script.read_bytes())
    for magic, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = raw.find(magic)
        while at >= 0:
            raw[at + flags] |= 1
            at = raw.find(magic, at + 4)
    (tmp_path / "e.pt").write_bytes(raw)
    readers.refused(tmp_path / "e.pt", "encrypted")


PICKLES = {
    "empty": (b"", "without being complete"),
    "long int": (b"\x8b\xff\xff\xff\x7f", "2147483647 bytes are announced"),
    "long text": (b"X\xff\xff\xff\xff", "bytes are announced"),
    "longer text": (b"\x8d" + b"\xff" * 8, "bytes are announced"),
    "marks": (b"(" * 100_000, "without being complete"),
    "unknown opcode": (b"\xff", "opcode 0xff"),
    "memo": (b"N" + b"r\xff\xff\xff\xff", "memo index"),
    "missing memo": (b"h\x07.", "memo index 7"),
    "values": (b"]" * 7_000_000 + b".", "more than 6000000 values"),
    "protocol": (b"\x80\x63N.", "protocol 99"),
}


@pytest.mark.parametrize("name", PICKLES)
def test_damaged_pickles(name, script, saved, tmp_path):
    content, message = PICKLES[name]
    for source in (script, saved):
        result = readers.refused(rewritten(source, tmp_path / "m.pt", {"data.pkl": content}), "data.pkl", "byte", message)
        assert result.data["peak_kib"] < 700 << 10


def attribute_of_module(content: bytes) -> bytes:
    """A module, and this value among its attributes."""
    return (b"\x80\x02ctorch.nn.modules.linear\nLinear\n)\x81}(X\x0b\x00\x00\x00_parameters}X\x08\x00\x00\x00_modules}"
            b"X\x01\x00\x00\x00v" + content + b"ub.")


def test_values_that_are_hard_to_walk(saved, tmp_path):
    laughs = b"]q\x00" + b"".join(b"(h" + bytes([level]) + b"h" + bytes([level]) + b"lq" + bytes([level + 1]) for level in range(100))
    values = {
        "cyclic": b"]q\x00h\x00a",
        "cyclic dict": b"}q\x00X\x01\x00\x00\x00ah\x00s",
        "cyclic object": b"cm\nC\n)\x81q\x00}X\x01\x00\x00\x00ah\x00sb",
        "tuple in itself": b"(]q\x00h\x00atq\x01",
        "laughs": laughs,
        "deep tuples": b"N" + b"\x85" * 1_000_000,
        "deep objects": b"cm\nC\n)\x81}X\x01\x00\x00\x00n" * 20_000 + b"N" + b"sb" * 20_000,
        "huge int": b"\x8b" + struct.pack("<I", 1 << 20) + b"\x7f" * (1 << 20),
        "many numbers": b"(" + b"K\x01" * 500_000 + b"l",
        "a long text": b"X" + struct.pack("<I", 1 << 22) + b"x" * (1 << 22),
        "not UTF-8": b"X\x02\x00\x00\x00\xff\xfe",
    }
    for name, value in values.items():
        path = rewritten(saved, tmp_path / "m.pt", {"data.pkl": attribute_of_module(value)})
        result = readers.read(path, timeout=20)
        assert result.code == 0, (name, result.message)
        text = result.load()
        assert len(text) < 1 << 20, name
        compile(text, name, "exec")
        assert result.data["peak_kib"] < 700 << 10, name


def debug_pkl(table=("", "def f():\n", "/m.py"), rows=()):
    return pickle.dumps(("FORMAT_WITH_STRING_TABLE", tuple(table), tuple(rows)), 2)


ROWS = {
    "offset beyond the code": ((10**9, (((1,), 2, 1), 0, 0), 0), "offset 1000000000"),
    "offset of a huge number": ((2**70, (((1,), 2, 1), 0, 0), 0), "not a row"),
    "negative offset": ((-1, (((1,), 2, 1), 0, 0), 0), "offset -1"),
    "line id": ((0, (((9,), 2, 1), 0, 0), 0), "text 9 of a table of 3"),
    "file id": ((0, (((1,), 77, 1), 0, 0), 0), "text 77"),
    "position": ((0, (((1,), 2, 1), 10**6, 0), 0), "position 1000000"),
    "line number": ((0, (((1,), 2, 2**31), 0, 0), 0), "line 2147483648"),
    "no row": (7, "not a row"),
}


@pytest.mark.parametrize("name", ROWS)
def test_damaged_source_maps(name, script, tmp_path):
    row, message = ROWS[name]
    path = rewritten(script, tmp_path / "m.pt", {".debug_pkl": debug_pkl(rows=[row])})
    readers.refused(path, ".debug_pkl", "row 0", message)


def test_a_source_map_that_would_be_huge(script, tmp_path):
    """A text of a megabyte, named a thousand times by each of a thousand rows."""
    table = ("", "x" * (1 << 20), "/m.py")
    rows = [(0, (((1,) * 1000, 2, line), 0, 0), 0) for line in range(1, 1000)]
    path = rewritten(script, tmp_path / "m.pt", {".debug_pkl": debug_pkl(table, rows)})
    assert readers.refused(path, ".debug_pkl", "too large").data["peak_kib"] < 512 << 10


def test_no_archive_at_all(tmp_path):
    path = tmp_path / "m.pt"
    for content in (b"", b"PK", b"\x80\x02N.", b"hello\n" * 1000, b"PK\x05\x06" + b"\xff" * 18):
        path.write_bytes(content)
        readers.refused(path)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("m/readme", "nothing of torch's")
    path.write_bytes(buffer.getvalue())
    readers.refused(path, "data.pkl", "does not have it")
