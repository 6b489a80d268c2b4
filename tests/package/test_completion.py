"""Completion in real shells, and the manual page as real formatters read it. What must be offered is asked from the
program itself: its help and its errors."""
from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest
from conftest import PROGRAM

COMMANDS = {"check", "fix", "validate", "rule", "config", "dump", "version", "clean", "server", "lsp", "completion", "man"}


def needs(program: str):
    return pytest.mark.skipif(not shutil.which(program), reason=f"there is no {program}")


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    for shell in ("bash", "zsh", "fish"):
        done = subprocess.run([str(PROGRAM), "completion", shell], capture_output=True, text=True, check=True)
        (folder / shell).write_text(done.stdout)
    return folder


@pytest.fixture
def scratch(tmp_path):
    """A folder in which there is something to complete."""
    (tmp_path / "models").mkdir()
    (tmp_path / "model one.py").write_text("")
    return tmp_path


BASH = r"""
source "$1"; shift
complete -p fullgraph >&2
# Outside of a completion there are no options of it to set.
compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_fullgraph
if [ ${#COMPREPLY[@]} -gt 0 ]; then printf '%s\n' "${COMPREPLY[@]}"; fi
"""


def in_bash(scripts, scratch, *words: str) -> set[str]:
    done = subprocess.run(["bash", "--norc", "-uc", BASH, "bash", str(scripts / "bash"), "fullgraph", *words], cwd=scratch,
                          capture_output=True, text=True, timeout=20)
    assert done.returncode == 0 and done.stderr == "complete -F _fullgraph fullgraph\n", done.stderr
    return set(done.stdout.splitlines())


def in_fish(scripts, scratch, *words: str) -> set[str]:
    line = " ".join(["fullgraph", *words])
    done = subprocess.run(["fish", "--no-config", "-c", f'source {scripts / "fish"}; complete -C "{line}"'], cwd=scratch,
                          capture_output=True, text=True, timeout=20, env={**os.environ, "HOME": str(scratch)})
    assert done.returncode == 0 and not done.stderr, done.stderr
    return {reply.split("\t")[0] for reply in done.stdout.splitlines()}


ZSH = r"""
PS1='READY>' ; unsetopt beep prompt_sp
autoload -Uz compinit; compinit -u -D
zstyle ':completion:*' list-prompt '' ; zstyle ':completion:*' menu no; LISTMAX=10000
source SCRIPT
# What is completed is noted in the place of being shown.
compadd_all() { local -a found; builtin compadd -A found "$@"; (( $#found )) && print -rl -- $found >> OUT; builtin compadd "$@" }
functions[compadd]='[[ "$*" == *" -O "* || "$*" == *" -A "* || "$*" == *" -D "* || "$1" == -[OAD] ]] && { builtin compadd "$@"; return }; compadd_all "$@"'
"""


def in_zsh(scripts, scratch, *words: str) -> set[str]:
    """A terminal with a person who presses the tab key."""
    out = scratch / "out"
    out.write_text("")
    setup = scratch / "setup"
    setup.write_text(ZSH.replace("SCRIPT", str(scripts / "zsh")).replace("OUT", str(out)))
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(scratch)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "COLUMNS": "200", "LINES": "500"})

    def read_until(wanted: bytes, seconds: float = 10) -> bytes:
        seen, end = b"", time.monotonic() + seconds
        while wanted not in seen and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 65536)
        assert wanted in seen, seen
        return seen

    try:
        os.write(terminal, f"source {setup}; print DO'NE'\n".encode())
        read_until(b"DONE\r")
        os.write(terminal, " ".join(["fullgraph", *words]).encode() + b"\t")
        time.sleep(0.2)
        # Read when the completion is over: the line is thrown away and a command runs.
        os.write(terminal, b"\x15print EN'D'\n")
        read_until(b"END\r")
        os.write(terminal, b"exit\n")
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
    return set(out.read_text().splitlines())


SHELLS = [
    pytest.param(in_bash, id="bash", marks=needs("bash")),
    pytest.param(in_zsh, id="zsh", marks=needs("zsh")),
    pytest.param(in_fish, id="fish", marks=needs("fish")),
]


def long_options(fullgraph, command: str) -> set[str]:
    """Of the help: `  -j,--jobs N` and `  --fix,--no-fix{false}`."""
    said = fullgraph(command, "--help").stdout
    heads = re.findall(r"^  (-\S+)", said, re.M)
    return {name for head in heads for name in re.findall(r"--[a-z][a-z-]*", head)}


@pytest.mark.parametrize("complete", SHELLS)
def test_commands(complete, scripts, scratch):
    assert COMMANDS <= complete(scripts, scratch, "")
    assert complete(scripts, scratch, "che") == {"check"}


@pytest.mark.parametrize("complete", SHELLS)
@pytest.mark.parametrize("command", ["check", "validate", "rule", "server", "fix"])
def test_options_are_those_of_the_help(complete, command, scripts, scratch, fullgraph):
    wanted = long_options(fullgraph, command)
    assert len(wanted) > 1
    if command == "fix":
        wanted.add("--validate")
    offered = {name.rstrip("=") for name in complete(scripts, scratch, command, "--") if name.startswith("--")}
    assert offered == wanted


@pytest.mark.parametrize("complete", SHELLS)
@pytest.mark.parametrize("command, option", [("check", "--output-format"), ("check", "--mode"), ("check", "--roots"), ("check", "--color"),
                                             ("validate", "--device"), ("validate", "--output-format"), ("rule", "--output-format")])
def test_values_are_those_that_the_program_takes(complete, command, option, scripts, scratch, fullgraph):
    offered = complete(scripts, scratch, command, option, "")
    said = fullgraph(command, option, "nonsense")
    named = re.search(r"one of: ([^)]*)\)", said.stderr)
    assert said.code == 2 and named, said.stderr
    assert offered == set(re.split(r", (?:or )?| or ", named[1]))


@pytest.mark.parametrize("complete", SHELLS)
def test_rules(complete, scripts, scratch, fullgraph):
    codes = {rule["code"] for rule in fullgraph("rule", "--all", "--output-format", "json").json()}
    assert complete(scripts, scratch, "rule", "") == codes
    assert {code for code in complete(scripts, scratch, "check", "--select", "FG10") if code.startswith("FG10")} == {
        code for code in codes if code.startswith("FG10")}
    second = complete(scripts, scratch, "check", "--select", "FG101,FG20")
    assert {name.split(",")[-1] for name in second} == {code for code in codes if code.startswith("FG20")}


@pytest.mark.parametrize("complete", SHELLS)
def test_files_and_folders(complete, scripts, scratch):
    plain = {name.rstrip("/").replace("\\", "") for name in complete(scripts, scratch, "check", "mod")}
    assert plain == {"models", "model one.py"}
    folders = {name.rstrip("/") for name in complete(scripts, scratch, "validate", "--before", "mod")}
    assert folders == {"models"}
    assert not {name for name in complete(scripts, scratch, "check", "--torch-version", "mod") if name.startswith("mod")}


@needs("bash")
def test_bash_values_behind_an_equals_sign(scripts, scratch):
    assert in_bash(scripts, scratch, "check", "--mode", "=", "tr") == {"train"}
    assert in_bash(scripts, scratch, "check", "--mode", "=") == {"any", "train", "eval"}


@needs("zsh")
def test_zsh_finds_no_mistake(scripts):
    subprocess.run(["zsh", "-n", str(scripts / "zsh")], check=True)


def test_no_other_shell(fullgraph):
    said = fullgraph("completion", "fis")
    assert said.code == 2 and "did you mean `fish`" in said.stderr


# ---- the manual page


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    file = tmp_path_factory.mktemp("manual") / "fullgraph.1"
    file.write_text(subprocess.run([str(PROGRAM), "man"], capture_output=True, text=True, check=True).stdout)
    return file


@needs("mandoc")
def test_mandoc_finds_no_mistake(page):
    done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", str(page)], capture_output=True, text=True)
    said = [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]
    assert not said, said


@needs("groff")
def test_groff_finds_no_mistake(page):
    done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", str(page)], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


@needs("groff")
@pytest.mark.parametrize("command", ["check", "validate", "rule", "server"])
def test_page_names_each_option(command, page, fullgraph):
    shown = subprocess.run(["groff", "-man", "-Tascii", "-P-c", str(page)], capture_output=True, text=True, check=True).stdout
    plain = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", shown)
    section = re.search(rf"^ +fullgraph {command}$(.*?)(?=^ +fullgraph \w+$|^[A-Z])", plain, re.M | re.S)
    assert section, plain
    assert long_options(fullgraph, command) <= set(re.findall(r"--[a-z][a-z-]*", section[1].replace("\xad", "-")))
