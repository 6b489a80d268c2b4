"""torch.save of modules: what the spelled text makes, when Python executes it, is what torch.load gives."""
from __future__ import annotations

import zipfile

import pytest
import readers
import recorded_models as models
import torch
from torch import nn

HOOK_TABLES = ("_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks")

SAVED = {
    "marked": models.Marked,
    "hooked": models.Hooked,
    "containers": models.Containers,
    "everything": models.Everything,
    "bfloat16": lambda: nn.Linear(2, 2, dtype=torch.bfloat16),
    "meta": lambda: nn.Linear(2, 2, device="meta"),
    "transformer": lambda: nn.TransformerEncoderLayer(8, 2, 16).eval(),
    "lstm": lambda: nn.LSTM(4, 4, 2),
    "convolutions": lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.GELU(), nn.Flatten()),
}
WAYS = {"p2": {}, "p3": {"pickle_protocol": 3}, "p4": {"pickle_protocol": 4}, "p5": {"pickle_protocol": 5},
        "old": {"_use_new_zipfile_serialization": False}}


def described(module: nn.Module) -> dict:
    """All that is known without the numbers."""
    def tensor(one):
        return None if one is None else (type(one).__name__, one.dtype, one.device.type, one.requires_grad, list(one.shape))

    out = {}
    for path, one in module.named_modules(remove_duplicate=False):
        hooks = {table: [getattr(hook, "__qualname__", repr(hook)) for hook in getattr(one, table).values()] for table in HOOK_TABLES}
        out[path] = (type(one), one.training, hooks, {name: tensor(value) for name, value in one._parameters.items()},
                     {name: tensor(value) for name, value in one._buffers.items()}, list(one._modules))
    return out


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SAVED)
def test_the_text_makes_what_torch_loads(name, way, tmp_path):
    path = tmp_path / "m.pt"
    torch.save(SAVED[name](), path, **WAYS[way])
    truth = torch.load(path, weights_only=False)
    made = readers.executed(readers.read(path).load(), {})
    assert described(made) == described(truth)


def test_what_a_module_holds_besides_modules(tmp_path):
    path = tmp_path / "m.pt"
    torch.save(models.Everything(), path)
    truth = torch.load(path, weights_only=False)
    made = readers.executed(readers.read(path).load(), {})
    for name in ("settings", "limits", "text", "cls", "some"):
        assert getattr(made, name) == getattr(truth, name), name
    assert made.again is made.settings
    assert made.parents[0] is made
    assert (made.act.func, made.act.keywords) == (truth.act.func, truth.act.keywords)
    assert made.method.__self__ is made.child
    assert list(made.child._backward_hooks.values())[0].__self__ is made
    assert list(made.child._forward_pre_hooks_with_kwargs.values()) == [True]
    assert made.legacy._is_full_backward_hook is False


def test_tied_weights_stay_tied(tmp_path):
    path = tmp_path / "m.pt"
    torch.save(models.Containers(), path)
    made = readers.executed(readers.read(path).load(), {})
    assert made.a.weight is made.b.weight
    assert not made.seq[0].weight.requires_grad
    assert isinstance(made.seq, nn.Sequential) and len(made.items) == 2


class Branching(nn.Module):
    def forward(self, x):
        x = torch.relu(x + 1)
        torch._dynamo.graph_break()
        return x * 2


def graphs_of(model, *inputs):
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    torch.compile(model, backend=backend)(*inputs)
    return graphs


def test_graph_modules_bring_their_code_and_their_breaks(tmp_path):
    graphs = graphs_of(Branching(), torch.ones(2))
    assert len(graphs) == 2
    for number, graph in enumerate(graphs):
        path = tmp_path / f"{number}.pt"
        torch.save(graph, path)
        read = readers.read(path)
        names = {}
        exec(read.texts["__graph_module__"]["text"], names)
        x = torch.tensor([1.0, -2.0])
        assert torch.equal(names["GraphModule"]().forward(x)[0], graph.forward(x)[0])
        assert "object.__new__(__graph_module__.GraphModule)" in read.load()
        reason = graph.compile_subgraph_reason
        if not reason.graph_break:
            assert read.data["breaks"] == []
            continue
        (found,) = read.data["breaks"]
        frame = reason.user_stack[-1]
        assert (found["where"]["file"], found["where"]["line"], found["where"]["function"]) == (frame.filename, frame.lineno, frame.name)
        assert found["reason"] == reason.reason.split("\n")[0]
    assert graphs[0].compile_subgraph_reason.graph_break


def test_traced_graph_modules_keep_their_children(tmp_path):
    path = tmp_path / "m.pt"

    class Model(models.Containers):
        def forward(self, x):  # torch.fx cannot save an annotation that is a string
            return self.seq(self.a(x))

    graph = torch.fx.symbolic_trace(Model())
    torch.save(graph, path)
    read = readers.read(path)
    text = read.texts["__graph_module__"]["text"]
    for line in graph.code.strip().splitlines():
        assert line.strip() in text
    assert "m0.a = " in read.load() and "m0.seq = " in read.load()


def test_weights_alone_hold_no_graph(tmp_path):
    for number, value in enumerate([models.Containers().state_dict(), torch.ones(3), {"epoch": 1}, [1, 2]]):
        path = tmp_path / f"{number}.pt"
        torch.save(value, path)
        read = readers.read(path)
        assert read.code == 0 and read.data["texts"] == [] and read.data["format"] == 3


def test_nothing_is_executed(tmp_path):
    """A pickle that would write a file when loaded."""
    marker = tmp_path / "executed"

    class Evil:
        def __reduce__(self):
            return (open, (str(marker), "w"))

    path = tmp_path / "m.pt"
    torch.save({"model": nn.Linear(1, 1), "evil": Evil()}, path)
    assert "return" in readers.read(path).load()
    assert not marker.exists()
    torch.load(path, weights_only=False)
    assert marker.exists()


def test_a_large_checkpoint_costs_what_its_objects_cost(tmp_path):
    """Two gigabytes of weights: a hole in the file, which nobody looks at."""
    small, path = tmp_path / "small.pt", tmp_path / "m.pt"
    model = nn.Linear(1, 1, bias=False)
    model.weight = nn.Parameter(torch.empty(1).expand(1 << 14, 1 << 15))
    torch.save(model, small)
    hole = 1 << 31
    with zipfile.ZipFile(small) as old, zipfile.ZipFile(path, "w") as new:
        for name in sorted(old.namelist(), key=lambda name: name.endswith("/data/0")):
            new.writestr(name, old.read(name))
        weights = new.infolist()[-1]
        assert weights.filename.endswith("/data/0")
        weights.file_size = weights.compress_size = weights.file_size + hole
        new.start_dir += hole  # the directory stands behind it
    assert path.stat().st_size > hole
    read = readers.read(path, timeout=5)
    assert "torch.empty([16384, 32768])" in read.load()
    assert read.data["peak_kib"] < 64 << 10
