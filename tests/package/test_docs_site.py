"""The documentation as a site: builds without a warning, has a page for each rule, and no link within it is dead."""
from __future__ import annotations

import html.parser
import json
import os
import pathlib
import subprocess
import sys
import urllib.parse

import pytest
from conftest import PROGRAM, ROOT


class Page(html.parser.HTMLParser):
    """Where a page leads to, and the places in it that can be led to."""

    def __init__(self, file: pathlib.Path):
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.words: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.places.add(value)

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> dict[pathlib.Path, Page]:
    folder = tmp_path_factory.mktemp("docs") / "site"
    environment = {**os.environ, "FULLGRAPH_BIN": str(PROGRAM)}
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)], cwd=ROOT,
                          env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return {file.relative_to(folder): Page(file) for file in folder.rglob("*.html")} | {pathlib.Path(): folder}


def pages_of(site) -> dict[pathlib.Path, Page]:
    return {name: page for name, page in site.items() if isinstance(page, Page)}


def test_each_rule_has_its_page(site, fullgraph):
    pages, rules = pages_of(site), fullgraph("rule", "--all", "--output-format", "json").json()
    assert len(rules) > 30
    for rule in rules:
        page = pages[pathlib.Path(f"rules/{rule['code']}.html")]
        text = " ".join(" ".join(page.words).split())
        assert f"{rule['name']} ({rule['code']})" in text
        # The first heading of its own documentation.
        assert rule["documentation"].split("\n")[0].removeprefix("## ") in text
        assert f"rules/{rule['code']}.html" in pages[pathlib.Path("rules.html")].links
    assert len(list(site[pathlib.Path()].glob("rules/*.html"))) == len(rules)


def test_no_link_is_dead(site):
    folder, pages, checked, dead = site[pathlib.Path()], pages_of(site), 0, []
    for name, page in pages.items():
        # A page that is shown in the place of any missing one has links from the root.
        if name.name == "404.html":
            continue
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (folder / name).parent / urllib.parse.unquote(parts.path) if parts.path else folder / name
            target = target.resolve() / "index.html" if target.is_dir() else target.resolve()
            known = pages.get(target.relative_to(folder.resolve())) if target.suffix == ".html" else None
            checked += 1
            if not target.is_file():
                dead.append(f"{name}: {link}")
            elif parts.fragment and known and parts.fragment not in known.places and parts.fragment != "__skip":
                dead.append(f"{name}: {link}")
    assert checked > 1000 and not dead, dead


def test_every_document_is_in_the_navigation(site):
    links = pages_of(site)[pathlib.Path("index.html")].links
    for document in (ROOT / "docs").glob("*.md"):
        assert f"{document.stem}.html" in links


def test_search_knows_the_rules(site):
    index = json.loads((site[pathlib.Path()] / "search" / "search_index.json").read_text())
    assert any(entry["location"].startswith("rules/FG101.html") for entry in index["docs"])


def test_pages_ask_no_other_server(site):
    """Links to other places are fine; what a browser loads by itself comes with the site."""
    for name, page in pages_of(site).items():
        loaded = [link for link in page.links if "fonts." in link or link.endswith((".js", ".css"))]
        assert not [link for link in loaded if urllib.parse.urlsplit(link).netloc], name
