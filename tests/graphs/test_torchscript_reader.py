"""TorchScript archives of the installed torch: every row of the source maps and every object against Python's own reading."""
from __future__ import annotations

import pathlib
import re
import types
import warnings
import zipfile

import pytest
import readers
import recorded_models as models
import torch
from torch import nn

# torch announces the end of TorchScript whenever it is used; its archives stay.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ARCHIVES = {
    "marked.script": lambda: torch.jit.script(models.Marked()),
    "marked.trace": lambda: torch.jit.trace(models.Marked(), torch.randn(2, 16)),
    "marked.frozen": lambda: torch.jit.freeze(torch.jit.script(models.Marked().eval())),
    "forward_hooked.script": lambda: torch.jit.script(models.ForwardHooked()),
    "hooked.script": lambda: torch.jit.script(models.Hooked()),
    "containers.script": lambda: torch.jit.script(models.Containers()),
    "containers.trace": lambda: torch.jit.trace(models.Containers(), torch.randn(3, 4)),
}


@pytest.fixture(scope="module", params=ARCHIVES)
def archive(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("archives") / f"{request.param}.pt"
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(ARCHIVES[request.param](), str(path))
    return path


def code_members(path):
    with zipfile.ZipFile(path) as content:
        return {name.split("/", 1)[1]: content.read(name) for name in content.namelist() if "/code/" in name}


def test_the_code_is_there_byte_for_byte(archive):
    members = code_members(archive)
    texts = [text for text in readers.read(archive).data["texts"] if text["member"].startswith("code/")]
    assert {text["member"]: text["text"].encode() for text in texts} == {
        name: raw for name, raw in members.items() if name.endswith(".py")}
    for text in texts:
        assert text["module"] == text["member"][len("code/"):-len(".py")].replace("/", ".")


def test_every_row_of_the_source_maps(archive):
    """Scripted: the row's place, and the line as it stands in the file. Traced: the innermost frame outside of torch."""
    members = code_members(archive)
    checked = 0
    for text in readers.read(archive).data["texts"]:
        raw = members.get(text["member"] + ".debug_pkl")
        for row in readers.rows_of(raw) if raw else []:
            if not row.text or not row.file:
                continue
            origin = readers.origin_at(text, row.offset)
            checked += 1
            frames = [re.fullmatch(r"(.*)\((\d+)\): (.*)", line) for line in row.text.splitlines()]
            if frames[0]:
                own = next(frame for frame in frames if f"{pathlib.Path(torch.__file__).parent}/" not in frame[1])
                assert (origin["file"], origin["line"], origin["function"], origin["column"]) == (own[1], int(own[2]), own[3], 0)
                continue
            file, line, column, code = row.place
            assert (origin["file"], origin["line"], origin["column"], origin["code"]) == (file, line, column, code)
            if pathlib.Path(file).is_file():
                assert pathlib.Path(file).read_text().split("\n")[line - 1].strip() == code.strip()
    assert checked > 1


def test_statements_and_heads_of_functions_have_places(tmp_path):
    """No row stands at the start of a statement or of a function; both are found all the same."""
    path = tmp_path / "m.pt"
    torch.jit.save(torch.jit.script(models.Marked()), str(path))
    text = readers.read(path).texts["__torch__.recorded_models"]
    raw = text["text"].encode()
    lines = pathlib.Path(models.__file__).read_text().split("\n")
    origin = readers.origin_at(text, re.search(rb"_\d+ = torch.requires_grad_\(h", raw).start())
    assert origin["file"] == models.__file__
    assert lines[origin["line"] - 1].strip() == "h.requires_grad_(True)"
    head = readers.origin_at(text, raw.index(b"def forward"))
    assert lines[head["line"] - 1].strip() == "def forward(self, x: Tensor) -> Tensor:"
    assert head["function"] == "forward"
    assert readers.origin_at(text, 0) is None


def test_columns_count_characters(tmp_path):
    path = tmp_path / "m.pt"
    torch.jit.save(torch.jit.script(models.Marked()), str(path))
    text = readers.read(path).texts["__torch__.recorded_models"]
    origin = readers.origin_at(text, text["text"].encode().index(b"(conv).forward"))
    line = pathlib.Path(models.__file__).read_text().split("\n")[origin["line"] - 1]
    assert line[origin["column"] - 1:].startswith("self.conv(") or line[origin["column"] - 1:].startswith("x[:, None]")


class _Anything(types.ModuleType):
    """Stands for `__torch__` and whatever is below it: the classes of the archive, without their code."""

    def __getattr__(self, name):
        if name.startswith("__") and not name.startswith("___torch_mangle"):
            raise AttributeError(name)
        made = _Anything(f"{self.__name__}.{name}")
        if name[:1].isupper():
            made = type(name, (nn.Module,), {"__getattr__": nn.Module.__getattr__})
        setattr(self, name, made)
        return made


def test_the_objects_are_those_that_torch_loads(archive):
    made = readers.executed(readers.read(archive).load(), {"__torch__": _Anything("__torch__")})
    truth = torch.jit.load(str(archive))
    described = lambda named: [(name, list(one.shape), one.dtype, one.requires_grad) for name, one in named]  # noqa: E731
    assert sorted(described(made.named_parameters(remove_duplicate=False))) == sorted(described(truth.named_parameters(remove_duplicate=False)))
    assert sorted(described(made.named_buffers())) == sorted(described(truth.named_buffers()))
    children = {name: getattr(one, "training", None) for name, one in made.named_modules(remove_duplicate=False)}
    assert children == {name: getattr(one, "training", None) if "frozen" not in archive.name else children[name]
                        for name, one in truth.named_modules(remove_duplicate=False)}


def test_a_dropped_backward_hook_leaves_its_flag(tmp_path):
    path = tmp_path / "m.pt"
    torch.jit.save(torch.jit.script(models.Hooked()), str(path))
    assert "m1._is_full_backward_hook = True" in readers.read(path).load()


def test_constants(tmp_path):
    class Baked(nn.Module):
        def forward(self, x):
            return x + torch.ones(2, 3) + 1

    path = tmp_path / "m.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frozen = torch.jit.freeze(torch.jit.trace(Baked().eval(), torch.ones(2, 3)))
        torch.jit.save(frozen, str(path))
    read = readers.read(path)
    code = "".join(text["text"] for text in read.data["texts"])
    used = set(re.findall(r"CONSTANTS\.(c\d+)", code))
    assert used
    made = {}
    exec(read.texts["CONSTANTS"]["text"], made)
    assert used <= set(made)
    assert any(isinstance(made[name], torch.Tensor) for name in used)


def test_an_archive_for_mobile_devices(tmp_path):
    path = tmp_path / "m.ptl"
    torch.jit.script(models.Marked())._save_for_lite_interpreter(str(path))
    assert "torch.requires_grad_(h" in readers.read(path).texts["__torch__.recorded_models"]["text"]
