"""The page of a report: complete in itself, quick with thousands of findings, usable with keys, legible in both colour schemes,
and deaf to what sources say."""
from __future__ import annotations

import json
import os
import re

import pytest
from conftest import run_fullgraph
from pages import CONTRAST, DARK, Elements, ask

PATHS = ("fixtures/quickstart", "fixtures/rules/FG101", "fixtures/rules/FG401", "--roots", "modules", "--no-cache")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    done = run_fullgraph("check", *PATHS, "--output-format", "html", "--output-file", path)
    assert done.code == 1 and done.stdout == ""
    return path


@pytest.fixture(scope="module")
def findings():
    return run_fullgraph("check", *PATHS, "--output-format", "json").ok().findings()


def data_of(text: str) -> dict:
    [data] = re.findall(r'<script type="application/json" id=data>(.*?)</script>', text, re.S)
    return json.loads(data)


def test_the_page_needs_nothing_else(page):
    text = page.read_text()
    elements = Elements(text)
    for tag, attributes in elements.tags:
        assert not {"src", "href"} & attributes.keys(), tag
        assert not any(name.startswith("on") for name in attributes), tag
    assert [tag for tag, _ in elements.tags].count("script") == 2  # the data, and what draws it
    [policy] = [one["content"] for tag, one in elements.tags if tag == "meta" and "http-equiv" in one]
    assert "default-src 'none'" in policy
    assert text == run_fullgraph("check", *PATHS, "--output-format", "html").ok().stdout


def test_it_says_what_json_says(page, findings):
    data = data_of(page.read_text())
    assert len(findings) > 30
    for shown, finding in zip(data["findings"], findings, strict=True):
        assert [shown[key] for key in ("code", "severity", "message", "line", "column", "fingerprint")] == \
            [finding[key] for key in ("code", "severity", "message", "line", "column", "fingerprint")]
        assert (data["paths"][shown["path"]], data["functions"][shown["function"]], shown.get("when", "")) == \
            (finding["file"], finding["function"], finding["condition"])
        assert [data["roots"][way[0]] for way in shown["ways"]] == finding["roots"]
        # One of the ways is the path of the other formats.
        calls = [[data["calls"][call] for call in way[1:]] for way in shown["ways"]]
        path = [[step["file"], step["line"], step["function"]] for step in finding["path"]]
        assert not finding["roots"] or path in [[[data["paths"][call[0]], call[1], data["functions"][call[2]]] for call in way] for way in calls]
        marked = [row for row in shown["frame"] if len(row) == 4]
        assert marked[0][0] == finding["line"] and len(marked[0][1]) == finding["column"] - 1


def test_ways_come_from_their_roots(page):
    """The layer is called by the decoder, which the model calls: from each of them there is one call less."""
    data = data_of(page.read_text())
    [hooked] = [one for one in data["findings"] if one["code"] == "FG201" and data["paths"][one["path"]].endswith("decoder.py")]
    ways = {data["roots"][root]: [data["functions"][data["calls"][call][2]] for call in calls] for root, *calls in hooked["ways"]}
    assert ways == {"speech.decoder.Decoder.forward": ["Decoder.forward"],
                    "speech.model.SpeechModel.forward": ["SpeechModel.forward", "Decoder.forward"]}


def test_ways_end_where_a_finding_of_an_installed_package_is_shown(tmp_path):
    package = tmp_path / "env" / "lib" / "python3.11" / "site-packages" / "marker"
    package.mkdir(parents=True)
    (tmp_path / "env" / "pyvenv.cfg").write_text("home = /usr\n")
    (package / "__init__.py").write_text("def mark(x):\n    x.requires_grad = True\n    return x\n")
    (tmp_path / "model.py").write_text("""import marker
from torch import nn


class Inner(nn.Module):
    def forward(self, x):
        return marker.mark(x * 2)


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x)


class Other(nn.Module):
    def forward(self, x):
        return later(x)


def later(x):
    return marker.mark(x * 3)
""")
    data = data_of(run_fullgraph("check", ".", "--output-format", "html", "--python-path", "env", cwd=tmp_path).ok().stdout)
    [finding] = data["findings"]
    assert (data["paths"][finding["path"]], finding["line"]) == ("model.py", 7)
    ways = {data["roots"][root]: [data["calls"][call][1] if call is not None else None for call in calls] for root, *calls in finding["ways"]}
    # The other one gets into the package by another line.
    assert ways == {"model.Outer.forward": [16], "model.Other.forward": [None]}


def test_without_a_script_there_is_a_table(page, findings):
    table = re.search(r"<noscript>(.*?)</noscript>", page.read_text(), re.S)[1]
    elements = Elements(table)
    assert [tag for tag, _ in elements.tags].count("tr") == len(findings) + 1
    for finding in findings:
        assert finding["message"] in "".join(elements.text)


def test_search_filters_and_the_overview(page, findings):
    seen = ask(page, """
        const shown = () => [...document.querySelectorAll("#findings .item")].map(x => x.finding.code);
        const type = text => { by("search").value = text; search(); return shown(); };
        const press = (title, label) => [...document.querySelectorAll(".facet")].find(x => x.textContent.startsWith(title))
          .querySelectorAll("button").forEach(x => { if (x.textContent.startsWith(label)) x.click(); });
        const out = {ready: performance.now(), all: shown().length, code: type("fg401 TENSOR"), nothing: type("no such thing").length,
          said: by("findings").textContent};
        clearFilters();
        press("Severity", "hazard"); out.hazards = shown(); press("Severity", "hazard");
        press("Rules", "FG201"); out.rule = shown(); out.active = by("active").textContent;
        press("Folders", "quickstart/"); clearFilters();
        press("Folders", "quickstart/"); out.folder = shown().length; press("Folders", "all");
        out.again = shown().length;
        return out;""")
    codes = [finding["code"] for finding in findings]
    assert seen["all"] == seen["again"] == len(findings)
    assert seen["code"] == [code for code in codes if code == "FG401"]
    assert (seen["nothing"], "Nothing matches" in seen["said"]) == (0, True)
    assert seen["hazards"] == [finding["code"] for finding in findings if finding["severity"] == "hazard"]
    assert seen["rule"] == ["FG201"] * codes.count("FG201") and seen["active"].startswith(f"{codes.count('FG201')} of {len(codes)} ")
    assert seen["folder"] == sum(finding["file"].startswith("fixtures/quickstart/") for finding in findings)


def test_keys_and_clicks(page, findings):
    seen = ask(page, """
        const key = name => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
        const heads = () => [...document.querySelectorAll("#findings .head")];
        const at = () => heads().indexOf(document.activeElement);
        const out = {steps: []};
        for (const name of ["j", "j", "j", "k"]) { key(name); out.steps.push(at()); }
        document.activeElement.click();
        const item = document.activeElement.parentElement;
        const body = item.querySelector(".body");
        out.open = [document.activeElement.getAttribute("aria-expanded"), body.offsetHeight > 0, location.hash.slice(1)];
        out.marked = [...item.querySelector(".frame").querySelectorAll("mark")].map(x => x.textContent);
        out.gutter = [...item.querySelector(".frame").querySelectorAll(".hit .gutter")].map(x => x.textContent);
        key("Escape"); out.closed = [item.classList.contains("open"), body.offsetHeight, at()];
        key("/"); out.search = document.activeElement.id;
        by("search").value = "FG201"; by("search").dispatchEvent(new Event("input")); search();
        key("j"); out.typing = document.activeElement.id;
        key("Enter"); out.first = at();
        key("/"); key("Escape"); out.cleared = [by("search").value, heads().length];
        key("Escape"); out.left = document.activeElement.id;
        key("t"); out.roots = [...document.querySelectorAll(".root > summary .name")].map(x => x.textContent).sort();
        key("j"); out.root = document.activeElement.parentElement.className;
        showRoot(report.roots.indexOf("speech.model.SpeechModel.forward"));
        out.tree = [...document.querySelectorAll(".root[open] .node > summary .call > code:first-child")].map(x => x.textContent);
        out.leaves = document.querySelectorAll(".root[open] .item").length;
        show("findings"); clearFilters();
        history.replaceState(null, "", "#" + report.findings[20].fingerprint); showAddressed();
        out.addressed = [...document.querySelectorAll("#findings .item.open")].map(x => x.finding.fingerprint);
        return out;""")
    finding = findings[1]
    assert seen["steps"] == [0, 1, 2, 1]
    assert seen["open"] == ["true", True, finding["fingerprint"]]
    line = open(finding["file"], encoding="utf-8").read().split("\n")[finding["line"] - 1]
    assert finding["line"] == finding["end_line"]
    assert seen["marked"] == [line[finding["column"] - 1:finding["end_column"] - 1]] and seen["gutter"] == [str(finding["line"])]
    assert seen["closed"] == [False, 0, 1]
    assert (seen["search"], seen["typing"], seen["first"], seen["cleared"], seen["left"]) == ("search", "search", 0, ["", len(findings)], "")
    assert seen["roots"] == sorted({root for one in findings for root in one["roots"]})
    assert seen["root"] == "root"
    # The model calls its encoder and its decoder, the decoder its layer, and the layer its attention.
    assert {"AudioEncoder.forward", "Decoder.forward", "Layer.forward", "SelfAttention.forward"} <= set(seen["tree"])
    assert seen["leaves"] == sum("speech.model.SpeechModel.forward" in one["roots"] for one in findings)
    assert seen["addressed"] == [findings[20]["fingerprint"]]


OPENED = """
document.querySelectorAll(".head").forEach((head, at) => { if (at % 3 === 0) head.click(); });
document.querySelectorAll(".more > summary").forEach(x => { x.parentElement.open = true; });
"""


def test_it_is_legible_and_fits(page):
    background = "return getComputedStyle(document.body).backgroundColor;"
    contrast = "const look = () => {" + CONTRAST + "}; by('overview').open = true; "
    roots = "const out = look(); show('roots'); document.querySelectorAll('.root > summary').forEach(x => { x.parentElement.open = true; });"
    fits = " return [out.concat(look()), document.documentElement.scrollWidth <= innerWidth, getComputedStyle(document.body).backgroundColor];"
    light = ask(page, OPENED + contrast + roots + fits)
    dark = ask(page, OPENED + contrast + roots + fits, DARK, "--window-size=400,900")
    assert light[:2] == dark[:2] == [[], True]
    assert light[2] != dark[2]


TAKEN = "</script><script>document.title='taken'</script><img src=x onerror=\\\"document.title='taken'\\\"><!--"
HOSTILE = f"""import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        # \u202e turned around \u2066 \x1b[31m red {TAKEN}
        if x.sum() > len("{TAKEN} `"):
            x = x + 1
        print("\u2028 \u061c {TAKEN}")
        return x
"""


def test_what_sources_say_is_text(tmp_path):
    folder = tmp_path / "<b onclick=alert(1)>'\"&amp;"
    folder.mkdir()
    (folder / "a\u202e.py").write_text(HOSTILE, encoding="utf-8")
    with open(os.fsencode(tmp_path) + b"/b\xff\xe2\x1b.py", "w", encoding="utf-8") as file:  # no name in UTF-8
        file.write(HOSTILE)
    (tmp_path / "c.py").write_bytes(b"x = '\xff</script>'\n")  # no text in UTF-8
    (tmp_path / "d.py").write_text("def (</script>\n")
    done = run_fullgraph("check", ".", "--roots", "modules", "--output-format", "html", "-o", "report.html", cwd=tmp_path)
    assert done.code == 1
    raw = (tmp_path / "report.html").read_bytes().decode("utf-8")  # which it is
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\x00-\x08\x0b-\x1f\x7f-\x9f]", raw)
    data = data_of(raw)
    assert {"FG401", "FG501"} <= {one["code"] for one in data["findings"]}
    assert {data["paths"][one["path"]].split(".py")[0][-3:] for one in data["findings"]} >= {"c", "d"}
    elements = Elements(raw)
    assert [tag for tag, _ in elements.tags].count("script") == 2
    seen = ask(tmp_path / "report.html", OPENED.replace("% 3", "% 1") + """
        const out = {images: document.images.length, scripts: document.scripts.length, bold: document.querySelectorAll("[onclick], [onerror]").length,
          title: document.title, frames: [...document.querySelectorAll(".frame")].map(x => x.textContent).join("\\n"),
          names: [...document.querySelectorAll(".file")].map(x => x.textContent)};
        show("roots"); out.roots = document.querySelectorAll(".root").length;
        return out;""")
    assert (seen["images"], seen["scripts"], seen["bold"]) == (0, 3, 0)  # the third script asks
    assert seen["title"].startswith("fullgraph: ")
    assert TAKEN in seen["frames"] and "\ufffd turned around \ufffd \u241b[31m red" in seen["frames"]
    assert any("<b onclick=alert(1)>'\"&amp;/a\ufffd.py" in name for name in seen["names"])
    assert seen["roots"] >= 2


def test_thousands_of_findings_are_drawn_when_they_are_looked_at(tmp_path):
    lines = "".join(f"        x{at}.requires_grad = True\n" if at % 2 else f"        x{at + 1} = x + {at}\n" for at in range(4000))
    (tmp_path / "model.py").write_text(f"from torch import nn\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n{lines}        return x\n")
    done = run_fullgraph("check", ".", "--roots", "modules", "--output-format", "html", "-o", "report.html", cwd=tmp_path)
    assert done.code == 1
    assert (tmp_path / "report.html").stat().st_size < 4e6
    seen = ask(tmp_path / "report.html", """
        const drawn = () => document.querySelectorAll(".item").length;
        const out = {said: by("headline").textContent, first: drawn()};
        findingList.drawUpTo(500);
        out.then = drawn();
        const heads = [...document.querySelectorAll(".head")];
        heads.at(-1).focus(); step(1);
        out.stepped = drawn();
        out.named = document.activeElement.querySelector(".line").textContent === String(report.findings[heads.length].line);
        return out;""")
    assert seen["said"] == "2,000 findings"
    assert 20 < seen["first"] < 200 and 500 < seen["then"] < 700 and seen["stepped"] > seen["then"] and seen["named"]


def test_a_run_without_findings_has_a_page(tmp_path):
    (tmp_path / "model.py").write_text("x = 1\n")
    done = run_fullgraph("check", ".", "--output-format", "html", cwd=tmp_path)
    assert done.code == 0
    (tmp_path / "report.html").write_text(done.stdout)
    assert ask(tmp_path / "report.html", "return [by('headline').textContent, by('findings').textContent];") == ["No findings", "No findings."]
