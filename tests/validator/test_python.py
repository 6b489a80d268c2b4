"""`fullgraph validate` of small projects, run by the real Dynamo: what is measured, and what is said of findings."""
from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT, run_fullgraph

PYTHON = ["--isolated", "--python", sys.executable, "--repeat", "0"]

MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(4, 4)
        self.unused = nn.Linear(2, 2)
        self.used.register_forward_hook(noted)

    def forward(self, x, flag=False):
        hidden = self.used(x)
        if self.training:
            print("training")
        if hidden.sum() > 1e9:
            hidden = hidden + 1
        if flag:
            print("never")
        return {"hidden": hidden * 2}


def noted(module, args, output):
    return None


def example():
    return Model(), (torch.ones(2, 4),), {}


def with_loss():
    return Model(), (torch.ones(2, 4),), {}, lambda output: output["hidden"][0].sum()
"""


def lines_with(text, source=MODEL):
    return [number for number, line in enumerate(source.splitlines(), 1) if text in line]


@pytest.fixture
def project(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path


def validate(folder, *arguments, entry="model.py:example"):
    return run_fullgraph("validate", *PYTHON, "--entry", entry, "--output-format", "json", *arguments, cwd=folder, timeout=300)


def the_case(done):
    assert done.code in (0, 1), done.stdout[-3000:] + done.stderr
    [case] = done.json()["cases"]
    return case


def sites(side):
    return sorted((one["line"], one["id"]) for one in side["capture"]["breaks"])


@pytest.fixture(scope="module")
def as_it_is(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "model.py").write_text(MODEL)
    done = validate(folder, "--repeat", "3", "--output-file", "result.json")
    assert done.code == 1
    return folder, json.loads((folder / "result.json").read_text())


def test_what_is_measured(as_it_is):
    [case] = as_it_is[1]["cases"]
    train, evaluation = case["runs"]
    assert (train["mode"], evaluation["mode"]) == ("train", "eval")
    [printed], [branch] = lines_with('print("training")'), lines_with("hidden.sum()")
    lines = [line for line, _ in sites(train["before"])]
    assert set(lines) == {printed, branch}
    assert [line for line, _ in sites(evaluation["before"])] == [branch]
    assert train["before"]["capture"]["graphs"] == 3 and evaluation["before"]["capture"]["graphs"] == 2
    assert not train["before"]["capture"]["fullgraph"]
    norms = {one["name"]: one["norm"] for one in train["before"]["gradients"]}
    # The weights of the sum are cos(0), cos(1), … and every input is 1: each row of the weight's gradient is the bias's.
    assert norms["used.weight"] == pytest.approx(norms["used.bias"] * 2)
    assert norms["unused.weight"] is norms["unused.bias"] is None
    assert {one["name"] for one in train["before"]["compiled"]["tensors"]} == {"output.hidden", "grad used.weight", "grad used.bias"}
    assert all(one["equality"] == "equal" for one in train["before"]["compiled"]["tensors"])
    assert train["before"]["hooks"] == [{"kind": "forward", "module": "used", "place": f"model.py:{lines_with('def noted')[0]}", "calls": 1}]
    for time in (train["before"]["eager_time"], train["before"]["compiled_time"]):
        assert time["runs"] == 3 and 0 < time["low_s"] <= time["median_s"] <= time["high_s"]
    assert train["before"]["peak_memory_bytes"] > 50 << 20


def test_verdicts(as_it_is):
    folder, result = as_it_is
    verdicts = {one["line"]: one for one in result["cases"][0]["findings"]}
    [printed], [branch], [never] = lines_with('print("training")'), lines_with("hidden.sum()"), lines_with('print("never")')
    assert (verdicts[printed]["verdict"], verdicts[printed]["runs"]) == ("confirmed", ["train"])
    assert (verdicts[branch]["verdict"], verdicts[branch]["runs"]) == ("confirmed", ["train", "eval"])
    assert never not in verdicts or verdicts[never]["verdict"] == "not reached"


def test_nothing_is_written_beside_the_sources(as_it_is):
    assert sorted(path.name for path in as_it_is[0].iterdir()) == ["model.py", "result.json"]


def test_a_loss_of_its_own(project):
    """Only the first row counts: the gradient of each bias is 2."""
    case = the_case(validate(project, "--modes", "train", entry="model.py:with_loss"))
    norms = {one["name"]: one["norm"] for one in case["runs"][0]["before"]["gradients"]}
    assert norms["used.bias"] == pytest.approx(4)  # the norm of (2, 2, 2, 2)


def test_a_fix(project):
    done = validate(project, "--fix", "--select", "FG5", "--modes", "train")
    case = the_case(done)
    [run] = case["runs"]
    [printed] = lines_with('print("training")')
    assert printed in [line for line, _ in sites(run["before"])]
    assert len(sites(run["after"])) == len(sites(run["before"])) - 1
    assert all(one["equality"] == "equal" for one in run["change"]["tensors"]) and run["change"]["tensors"]
    assert (project / "model.py").read_text() == MODEL
    assert done.code == 0, case["problems"]


def test_a_patch_that_loses_a_gradient(project):
    """The outputs are equal. The lost gradients are named, and the exit status is 1."""
    changed = MODEL.replace("hidden = self.used(x)", "hidden = self.used(x).detach()")
    (project / "after.py").write_text(changed)
    patch = subprocess.run(["diff", "-u", "--label", "a/model.py", "--label", "b/model.py", "model.py", "after.py"], cwd=project,
                           capture_output=True, text=True).stdout
    (project / "change.patch").write_text(patch)
    done = validate(project, "--patch", "change.patch", "--modes", "train")
    [run] = the_case(done)["runs"]
    lost = [one["name"] for one in run["change"]["tensors"] if one["equality"] == "lost"]
    assert lost == ["grad used.weight", "grad used.bias"]
    assert [one["equality"] for one in run["change"]["tensors"] if not one["gradient"]] == ["equal"]
    assert done.code == 1
    assert any("grad used.weight is lost" in problem for problem in the_case(done)["problems"])


HELPED = """\
import torch
from torch import nn

from helper import scaled


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))

    def forward(self, x):
        return scaled(self.layers(x))


def example():
    return Model(), (torch.ones(2, 4),), {}
"""
HELPER = "def scaled(x):\n    return x * 2\n"
DETACHED = HELPER.replace("x *", "x.detach() *")


@pytest.fixture
def helped(tmp_path):
    (tmp_path / "model.py").write_text(HELPED)
    (tmp_path / "helper.py").write_text(HELPER)
    return tmp_path


def patch(old, new, before, after):
    """A patch of git's form; None: /dev/null."""
    removed, added = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = f"--- {'a/' + old if old else '/dev/null'}\n+++ {'b/' + new if new else '/dev/null'}\n"
    first = lambda lines: f"{1 if lines else 0},{len(lines)}"
    return head + f"@@ -{first(removed)} +{first(added)} @@\n" + "".join(["-" + line for line in removed] + ["+" + line for line in added])


@pytest.mark.parametrize("entry", ["model.py:example", "model:example"])
def test_a_change_beside_the_entry(entry, helped):
    """The file of the entry is as it was, and imports what was changed."""
    (helped / "change.patch").write_text(patch("helper.py", "helper.py", HELPER, DETACHED))
    case = the_case(validate(helped, "--patch", "change.patch", "--modes", "train", entry=entry))
    [run] = case["runs"]
    assert {one["equality"] for one in run["change"]["tensors"] if one["gradient"]} == {"lost"}


def test_files_that_a_patch_deletes_are_gone(helped):
    (helped / "change.patch").write_text(patch("helper.py", None, HELPER, ""))
    failure = validate(helped, "--patch", "change.patch", "--modes", "eval").json()["cases"][0]["runs"][0]["after"]["failure"]
    assert failure["kind"] == "raised" and "No module named 'helper'" in failure["message"]
    assert (helped / "helper.py").exists()


def test_files_that_a_patch_moves(helped):
    (helped / "change.patch").write_text(
        patch("model.py", "model.py", HELPED, HELPED.replace("from helper", "from hülfe"))
        + "diff --git a/helper.py b/hülfe.py\nsimilarity index 100%\nrename from helper.py\nrename to hülfe.py\n")
    done = validate(helped, "--patch", "change.patch", "--modes", "eval")
    case = the_case(done)
    assert done.code == 0, case["problems"]
    assert case["notes"] == ["deleted: helper.py", "changed: hülfe.py", "changed: model.py"]


@pytest.mark.parametrize("text, message", [
    (patch("model.py", "model.py", "nothing\n", "like that\n"), "patch failed"),
    (patch("../outside.py", "../outside.py", "X = 1\n", "X = 2\n"), "outside of the working folder"),
    (patch("model.py", "model.py", HELPED, "").replace("+++ b/model.py", "+++ b/../model.py"), "patch"),
    ("", "No valid patches"),
], ids=["does not apply", "outside", "into outside", "empty"])
def test_a_patch_that_cannot_be_made(text, message, helped):
    """It shows before anything is run."""
    (helped.parent / "outside.py").write_text("X = 1\n")
    (helped / "change.patch").write_text(text)
    done = validate(helped, "--patch", "change.patch")
    assert done.code == 2 and done.json()["cases"][0]["runs"] == []
    assert message in done.json()["errors"][0]["message"]
    assert (helped.parent / "outside.py").read_text() == "X = 1\n"


def test_an_entry_in_the_folder_before(helped):
    """The side after has its own; an entry of neither side sees the modules of each."""
    (helped / "old").mkdir()
    for name in ("model.py", "helper.py"):
        (helped / name).rename(helped / "old" / name)
    (helped / "new").mkdir()
    (helped / "new" / "model.py").write_text(HELPED)
    (helped / "new" / "helper.py").write_text(DETACHED)
    (helped / "model.py").write_text("raise RuntimeError('neither of the sides')\n")
    (helped / "entry.py").write_text("def example():\n    import model\n    return model.example()\n")
    for entry in ("old/model.py:example", "entry.py:example"):
        done = validate(helped, "--before", "old", "--after", "new", "--modes", "train", entry=entry)
        [run] = the_case(done)["runs"]
        assert {one["equality"] for one in run["change"]["tensors"] if one["gradient"]} == {"lost"}, entry


def test_where_in_the_model_a_break_is(tmp_path):
    """Layers that are alike are one node. A break in a function belongs to the module that calls it."""
    (tmp_path / "model.py").write_text(HELPED.replace("nn.Linear(4, 4), nn.Linear(4, 4)", "Noisy(), Noisy(), nn.Linear(4, 4)").replace(
        "class Model", "class Noisy(nn.Linear):\n    def __init__(self):\n        super().__init__(4, 4)\n\n"
        "    def forward(self, x):\n        noise()\n        return super().forward(x)\n\n\n"
        "def noise():\n    print('noise')\n\n\nclass Model"))
    (tmp_path / "helper.py").write_text(HELPER.replace("    return", "    print('scaled')\n    return"))
    [run] = the_case(validate(tmp_path, "--modes", "eval"))["runs"]
    side = run["before"]
    assert [(one["name"], one["type"], one["count"], one["depth"]) for one in side["modules"]] == [
        ("", "Model", 1, 0), ("layers", "Sequential", 1, 1), ("layers.0", "Noisy", 2, 2), ("layers.2", "Linear", 1, 2)]
    assert {(one["function"], one["module"]) for one in side["capture"]["breaks"]} == {("noise", "layers.0"), ("scaled", "")}


HAZARDS = """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


def halved(gradient):
    return gradient * 0.5


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.head = nn.Linear(4, 4)
        self.head.weight.register_hook(halved)
        self.head.weight = nn.Parameter(torch.ones(4, 4))

    def forward(self, x):
        hidden = checkpoint(self.body, x, use_reentrant=True)
        if not torch.compiler.is_compiling():
            hidden.register_hook(halved)
        return self.head(hidden)


def example():
    return Model(), (torch.ones(2, 4, requires_grad=True),), {}
"""


def test_verdicts_on_hazards(tmp_path):
    """A hook on a parameter that is replaced, a reentrant checkpoint, and gradients that only eager code halves."""
    (tmp_path / "model.py").write_text(HAZARDS)
    case = the_case(validate(tmp_path, "--modes", "train"))
    verdicts = {one["code"]: (one["verdict"], one["line"]) for one in case["findings"]}
    line = lambda text: lines_with(text, HAZARDS)[0]
    assert verdicts["FG203"] == ("confirmed", line("weight.register_hook"))
    assert verdicts["FG301"] == ("confirmed", line("checkpoint(self.body"))
    assert verdicts["FG504"][0] == "confirmed"


SELECTIVE = """\
import functools

import torch
from torch import nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts


def policy(ctx, op, *args, **kwargs):
    return CheckpointPolicy.MUST_SAVE if op is torch.ops.aten.addmm.default else CheckpointPolicy.PREFER_RECOMPUTE


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = INSIDE(nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)))
        self.context = functools.partial(create_selective_checkpoint_contexts, policy)

    def forward(self, x):
        return checkpoint(self.block, x, use_reentrant=False, context_fn=self.context)


def example():
    return OUTSIDE(Net()), (torch.randn(2, 4),), {}
"""


def test_compiled_code_under_a_selective_checkpoint(tmp_path):
    """Before: a compiled block inside of the checkpoint, whose policy is asked about nothing in it. After: compiled outside."""
    for name, inside, outside in (("before", "torch.compile", ""), ("after", "", "torch.compile")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.py").write_text(SELECTIVE.replace("INSIDE", inside).replace("OUTSIDE", outside))
    done = validate(tmp_path, "--before", "before", "--after", "after", "--backend", "inductor", "--modes", "train", entry="model:example")
    case = the_case(done)
    [run] = case["runs"]
    assert "aten.tanh.default" in run["before"]["capture"]["policy_bypassed"]
    assert run["after"]["capture"]["policy_bypassed"] == []
    assert run["after"]["capture"]["graphs"] == 1 and run["after"]["capture"]["never_called"] == 0
    [finding] = [one for one in case["findings"] if one["code"] == "FG304"]
    assert (finding["verdict"], finding["after"]) == ("confirmed", False)
    assert done.code == 0, case["problems"]


CONFIGURED = """\
[[case]]
name = "plain"
entry = "model.py:example"
modes = ["eval"]

[[case]]
name = "checkpointed"
entry = "model:example"
modes = ["train"]
checkpointing = ["none", "reentrant"]
"""


@pytest.fixture
def configured(project):
    (project / "fullgraph.toml").write_text(CONFIGURED)
    return project


def run_configured(folder, *arguments):
    return run_fullgraph("validate", "--python", sys.executable, "--repeat", "0", "--output-format", "json", *arguments, cwd=folder, timeout=300)


def test_shards_and_their_merge(configured):
    assert run_configured(configured, "--list").stdout == "plain\ncheckpointed\n"
    for number in (1, 2):
        done = run_configured(configured, "--shard", f"{number}/2", "-o", f"{number}.json")
        assert done.code == 1
    merged = run_configured(configured, "--merge", "2.json", "1.json")
    assert [case["name"] for case in merged.json()["cases"]] == ["checkpointed", "plain"]
    assert merged.code == 1
    checkpointed = merged.json()["cases"][0]
    assert [run["checkpointing"] for run in checkpointed["runs"]] == ["none", "reentrant"]
    assert "gradient_checkpointing_enable" in checkpointed["runs"][1]["before"]["skipped"]


@pytest.mark.parametrize("text, message", [
    ("[[case]]\nentry = 'a.py:f'\ntransformers = 'bert'\n", "either `entry` or `transformers`"),
    ("[[case]]\nentri = 'a.py:f'\n", "did you mean `entry`"),
    ("[[case]]\nentry = 'a.py:f'\nprocesses = 0\n", "processes"),
])
def test_a_wrong_configuration(text, message, project):
    (project / "fullgraph.toml").write_text(text)
    done = run_configured(project)
    assert done.code == 2 and message in done.stderr and "fullgraph.toml:" in done.stderr


@pytest.mark.parametrize("arguments, message", [
    (["--after", "x", "--fix"], "exclude each other"), (["--shard", "3/2"], "--shard"), (["--modes", "trian"], "train"),
    (["--before", ".", "--after", "nowhere"], "--after: there is no folder"), (["--entry", "a.py:f", "--input", "f32[2]"], "--input is for archives"),
    (["model.pt", "--fix"], "--fix is for Python models"), (["model.pt", "--nproc", "2"], "--nproc is for Python models"),
    (["a.py"], "no such file"), (["--timeout", "0"], "--timeout"), (["--memory-limit", "8Q"], "--memory-limit"), ([], "nothing to validate"),
])
def test_wrong_options(arguments, message, tmp_path):
    (tmp_path / "model.pt").touch()
    done = run_fullgraph("validate", "--isolated", *arguments, cwd=tmp_path)
    assert done.code == 2 and message in done.stderr


def test_a_gpu_that_is_not_there(project):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    done = validate(project, "--device", "cuda")
    [case] = done.json()["cases"]
    assert all("no GPU" in run["before"]["skipped"] for run in case["runs"])


def test_the_pytest_plugin(configured, tmp_path):
    """Each case is a test: one that breaks the graph fails and says so; results can be merged."""
    options = f"--python {sys.executable} --repeat 0"
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "pytest_fullgraph", "--fullgraph", "--fullgraph-options", options,
                           "--fullgraph-results", "results", "-k", "plain", "fullgraph.toml"],
                          cwd=configured, capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "tools" / "pytest_plugin"),
                               "FULLGRAPH_BIN": str(os.environ.get("FULLGRAPH_BIN", ROOT / "build" / "bin" / "fullgraph"))})
    [branch] = lines_with("hidden.sum()")
    assert done.returncode == 1 and "1 failed" in done.stdout, done.stdout + done.stderr
    assert f"model.py:{branch}" in done.stdout
    assert [path.name for path in (configured / "results").iterdir()] == [f"{configured.name}_plain.json"]
