"""What the site has beyond docs/: hooks of MkDocs (mkdocs.yml).

The first page is README.md, and each rule has a page made of what the program says about it, so that no text is kept twice.
The program is $FULLGRAPH_BIN, or build/bin/fullgraph.
"""
from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import re
import subprocess

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("FULLGRAPH_BIN") or str(ROOT / "build" / "bin" / "fullgraph")


def _index_module():
    specification = importlib.util.spec_from_file_location("rules_index", ROOT / "tools" / "rules_index.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


INDEX = _index_module()


def rules() -> list[dict]:
    said = subprocess.run([PROGRAM, "rule", "--all", "--output-format", "json"], check=True, capture_output=True, text=True)
    return sorted(json.loads(said.stdout), key=lambda rule: rule["code"])


def in_site(text: str) -> str:
    """Links of a page in the repository's root, as from docs/. What is no page of the site is named without a link."""
    def link(match: re.Match) -> str:
        label, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        if target == "CONTRIBUTING.md":
            return f"[{label}](contributing.md)"
        if target.startswith("docs/"):
            return f"[{label.removeprefix('docs/')}]({target.removeprefix('docs/')})"
        return label

    return re.sub(r"\[([^\]\n]+)\]\(([^)\s]+)\)", link, text)


def rule_page(rule: dict) -> str:
    ids = [f"[{gb}]({INDEX.PAGE.format(gb.lower())})" for gb in INDEX.ids_of(rule)]
    facts = [f"Severity: {rule['severity']}", f"fix: {rule['fix']}", f"since {rule['since']}"]
    lines = [f"# {rule['name']} ({rule['code']})", "", f"{rule['summary']}.", "", ", ".join(facts) + "."]
    if ids:
        lines += ["", "Dynamo: " + ", ".join(ids) + "."]
    return "\n".join([*lines, "", rule["documentation"].strip(), ""])


def rules_page(all_rules: list[dict]) -> str:
    lines = ["# Rules", "", "`fullgraph rule CODE` shows one of them in the terminal.", ""]
    for prefix, title in INDEX.GROUPS.items():
        group = [rule for rule in all_rules if rule["code"].startswith(prefix)]
        if group:
            lines += [f"## {prefix}xx: {title}", "", "| code | name | severity | what |", "|---|---|---|---|"]
            lines += [f"| [{r['code']}](rules/{r['code']}.md) | {r['name']} | {r['severity']} | {r['summary']} |" for r in group]
            lines.append("")
    return "\n".join(lines)


def on_config(config):
    config["rules"] = rules()
    for entry in config.nav:
        for title, pages in entry.items() if isinstance(entry, dict) else ():
            if title == "Rules":
                pages += [{f"{rule['code']} {rule['name']}": f"rules/{rule['code']}.md"} for rule in config["rules"]]
    return config


def on_files(files, config):
    def add(name: str, text: str) -> None:
        if (known := files.get_file_from_path(name)) is not None:
            files.remove(known)
        files.append(File.generated(config, name, content=text))

    add("index.md", in_site((ROOT / "README.md").read_text(encoding="utf-8")))
    add("contributing.md", in_site((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    add("rules.md", rules_page(config["rules"]))
    for rule in config["rules"]:
        add(f"rules/{rule['code']}.md", rule_page(rule))
    return files
