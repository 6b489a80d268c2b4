"""The extension of VS Code, from its lock file to the .vsix: what a person who builds it does, in a copy of its folder."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile

import pytest
from conftest import PROGRAM, ROOT

SOURCES = ROOT / "editors" / "vscode"
LEFT_OUT = shutil.ignore_patterns("node_modules", "dist", "out", "*.vsix")

# Loads the bundle as the editor does, where `vscode` is whatever one makes of it: each name of it is a class.
LOAD = """
const module_ = require("module");
const anything = () => new Proxy(class {}, { get: (made, name) => name in made ? made[name] : anything() });
const load = module_._load;
module_._load = (name, ...rest) => name === "vscode" ? anything() : load(name, ...rest);
console.log(Object.keys(require(process.argv[1])).sort().join(" "));
"""


def node_version() -> int:
    try:
        said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(said.strip().lstrip("v").split(".")[0])


pytestmark = pytest.mark.skipif(node_version() < 18 or not shutil.which("npm"), reason="there is no Node 18 with npm")


def run(*command: str, cwd, timeout: float = 180) -> str:
    environment = {**os.environ, "FULLGRAPH_BIN": str(PROGRAM), "NO_COLOR": "1", "XDG_CONFIG_HOME": "/nonexistent"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy with its packages installed, so that the checkout stays as it is."""
    copy = tmp_path_factory.mktemp("extension") / "vscode"
    shutil.copytree(SOURCES, copy, ignore=LEFT_OUT)
    run("npm", "ci", cwd=copy)
    return copy


@pytest.fixture(scope="module")
def package(folder):
    run("npm", "run", "package", "--", "--out", str(folder.parent / "fullgraph.vsix"), cwd=folder)
    with zipfile.ZipFile(folder.parent / "fullgraph.vsix") as archive:
        archive.extractall(folder.parent / "unpacked")
        return folder.parent / "unpacked", sorted(archive.namelist())


def test_types(folder):
    run("npm", "run", "check", cwd=folder)


def test_tests(folder):
    said = run("npm", "test", cwd=folder)
    # In a pipe Node's runner prints TAP or its own form, by version.
    counts = {name: int(count) for name, count in re.findall(r"^\S+ (pass|fail|skipped) (\d+)$", said, re.M)}
    assert counts["fail"] == 0 and counts["skipped"] == 0 and counts["pass"] >= 25, said


def test_package_holds_what_is_run_and_nothing_else(package):
    assert package[1] == [
        "[Content_Types].xml",
        "extension.vsixmanifest",
        "extension/LICENSE.txt",
        "extension/README.md",
        "extension/dist/extension.js",
        "extension/dist/third_party_licenses.txt",
        "extension/package.json",
    ]
    unpacked = package[0] / "extension"
    assert (unpacked / "LICENSE.txt").read_bytes() == (ROOT / "LICENSE").read_bytes()
    licences = (unpacked / "dist" / "third_party_licenses.txt").read_text()
    assert "vscode-languageclient" in licences and "Permission is hereby granted" in licences
    manifest = json.loads((unpacked / "package.json").read_text())
    assert (unpacked / manifest["main"]).is_file()


def test_bundle_loads(package):
    bundle = package[0] / "extension" / "dist" / "extension.js"
    assert run("node", "-e", LOAD, str(bundle), cwd=package[0]).split() == ["activate", "deactivate"]


def test_version_is_the_programs():
    manifest = json.loads((SOURCES / "package.json").read_text())
    said = subprocess.run([str(PROGRAM), "version", "--output-format", "json"], capture_output=True, check=True)
    assert manifest["version"] == json.loads(said.stdout)["version"]


def test_lock_file_names_no_host_and_every_exact_version():
    lock = json.loads((SOURCES / "package-lock.json").read_text())
    manifest = json.loads((SOURCES / "package.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert len(packages) > 50
    for name, entry in packages.items():
        assert "resolved" not in entry, name
        assert "integrity" in entry, name
    for name, version in manifest["devDependencies"].items():
        assert packages[f"node_modules/{name}"]["version"] == version
