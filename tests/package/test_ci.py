"""The files for CI systems: of the form that these systems publish, and what they run does what it says."""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
import yaml
from conftest import PROGRAM, ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
EXAMPLES = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(), re.DOTALL)
MODEL = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x * x.max().item()\n"


def schema_of(example: str) -> str:
    keys = yaml.safe_load(example).keys()
    return "vendor.github-workflows" if "jobs" in keys else "vendor.gitlab-ci" if "fullgraph" in keys else ""


def is_valid(path, schema):
    done = subprocess.run([sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, path], text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_action_is_one():
    is_valid(ROOT / "action.yml", "vendor.github-actions")


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_are_of_the_systems_form(number, tmp_path):
    schema = schema_of(EXAMPLES[number])
    if schema:
        (tmp_path / "example.yml").write_text(EXAMPLES[number])
        is_valid(tmp_path / "example.yml", schema)
    else:  # the hooks that it names are there
        hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
        assert {hook["id"] for repo in yaml.safe_load(EXAMPLES[number])["repos"] for hook in repo["hooks"]} <= hooks


def test_examples_of_all_systems():
    assert sorted(map(schema_of, EXAMPLES)) == ["", "vendor.github-workflows", "vendor.github-workflows", "vendor.gitlab-ci"]


def run_step(name, folder, inputs, outputs=""):
    """A step of the action as a runner runs it, with fullgraph on the way to programs."""
    (step,) = [one for one in ACTION["runs"]["steps"] if one["name"] == name]
    values = {**{key: one["default"] for key, one in ACTION["inputs"].items()}, **inputs}
    expand = re.compile(r"\$\{\{ (inputs|steps\.check\.outputs)\.([\w-]+) \}\}")
    fill = lambda text: expand.sub(lambda m: values[m[2]] if m[1] == "inputs" else outputs, text)
    environment = {key: fill(text) for key, text in step["env"].items()}
    temporary = folder.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    output = temporary / "output"
    output.write_text("")
    path = f"{PROGRAM.parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], text=True, timeout=120,
                          cwd=folder / fill(step.get("working-directory", ".")), capture_output=True,
                          env={**os.environ, **environment, "PATH": path, "RUNNER_TEMP": str(temporary),
                               "GITHUB_OUTPUT": str(output), "XDG_CONFIG_HOME": "/nonexistent"})
    return done, output.read_text()


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "net.py").write_text(MODEL)
    return folder


def test_action(project):
    done, output = run_step("Check", project, {"paths": "src", "args": "--select FG4 --isolated"})
    assert done.returncode == 0 and output == "status=1\n", done.stderr
    assert re.search(r"^::error .*file=src/net\.py,.*line=6", done.stdout, re.MULTILINE)
    (run,) = json.loads((project / "fullgraph.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["FG402"]
    assert run_step("Result", project, {}, "1")[0].returncode == 1
    assert run_step("Result", project, {}, "0")[0].returncode == 0


def test_action_elsewhere(project):
    """In a folder below, with nothing to find there; and with what is wrong told as such."""
    done, output = run_step("Check", project.parent, {"working-directory": "project", "args": "--ignore FG4 --isolated",
                                                      "sarif-file": "out.sarif"})
    assert done.returncode == 0 and output == "status=0\n" and (project / "out.sarif").is_file()
    assert run_step("Check", project, {"args": "--selct FG4"})[0].returncode == 2
    assert run_step("Check", project, {"paths": "not there"})[0].returncode == 2


def test_gitlab(project):
    """The script of the example, line by line."""
    (example,) = [yaml.safe_load(text) for text in EXAMPLES if schema_of(text) == "vendor.gitlab-ci"]
    script = "\n".join(example["fullgraph"]["script"])
    path = f"{PROGRAM.parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=project, timeout=120, capture_output=True,
                          env={**os.environ, "PATH": path, "XDG_CONFIG_HOME": "/nonexistent"})
    assert done.returncode == 1
    (finding,) = json.loads((project / "gl-code-quality.json").read_text())
    assert finding["check_name"] == "FG402" and finding["location"]["path"] == "src/net.py"
    for name in ("junit.xml", "fullgraph.html"):
        assert "FG402" in (project / name).read_text()
