"""The page of a result: complete in itself, legible in both colour schemes, and deaf to what user code puts into names."""
from __future__ import annotations

import json
import re

import graph_models as models
import pytest
import torch
from pages import CONTRAST, DARK, Elements, ask

HOSTILE = "<img src=x onerror=\"document.title='taken'\"> \u202e 'quoted' & \"more\" </script><script>document.title='taken'</script>"


def graph_break(gb_id, kind, *places):
    stack = [{"file": file, "line": line, "function": function} for file, line, function in places]
    return {"id": gb_id, "type": kind, "explanation": f"{kind} is not traced. {HOSTILE}", "kind": "partial", **stack[-1],
            "stack": stack, "count": 1}


FLAG = graph_break("GB0206", "setattr() on Tensor.requires_grad", ("model.py", 31, "Model.forward"),
                   ("encoder.py", 58, "Encoder.forward"), ("encoder.py", 40, "Features.forward"))
MODULES = [{"name": "", "type": "Speech", "count": 1, "depth": 0}, {"name": "encoder", "type": "Encoder", "count": 1, "depth": 1},
           {"name": "encoder.features", "type": "Features", "count": 1, "depth": 2},
           {"name": "decoder", "type": "Decoder", "count": 1, "depth": 1}, {"name": "decoder.layers.0", "type": "Layer", "count": 5, "depth": 2}]
HOOK = graph_break("GB0083", "Module-level backwards hooks", ("model.py", 31, "Model.forward"),
                   ("decoder.py", 23, "Layer.forward"))
NAMES = ["encoder.conv.weight", *[f"decoder.layers.{index}.weight" for index in range(5)], HOSTILE]


def duration(median):
    return {"median_s": median, "low_s": median * 0.9, "high_s": median * 1.2, "runs": 11}


def comparison(lost=()):
    return {"tensors": [{"name": "output.logits", "gradient": False, "equality": "equal", "largest": 0.0, "allowed": 1e-5}] + [
        {"name": "grad " + name, "gradient": True, "equality": "lost" if name in lost else "equal"} for name in NAMES]}


def side(breaks, seconds, memory, missing=()):
    return {"capture": {"breaks": breaks, "graphs": len(breaks) + 1, "fullgraph": not breaks},
            "gradients": [{"name": name, "norm": None if name in missing else 0.5} for name in NAMES],
            "compiled": comparison(), "eager_time": duration(seconds), "compiled_time": duration(seconds / 2),
            "peak_memory_bytes": memory}


RESULT = {
    "schema": 1, "version": "0.1.0", "torch": "2.13.0", "python": "3.11.2", "before": "speech", "after": "speech, repaired",
    "cases": [
        {"name": "speech:example", "kind": "python", "device": "cpu", "processes": 1, "notes": [HOSTILE], "runs": [
            {"mode": "train", "checkpointing": "none", "before": side([FLAG, HOOK], 0.04, 600 << 20),
             "after": side([HOOK], 0.03, 590 << 20, missing=NAMES[:1]), "change": comparison(lost=NAMES[:1])},
            {"mode": "eval", "checkpointing": "none", "before": side([], 0.01, 300 << 20), "after": side([], 0.01, 300 << 20),
             "change": comparison()}],
         "findings": [{"code": "FG101", "name": "requires-grad-assignment", "severity": "error", "message": HOSTILE,
                       "file": "encoder.py", "line": 40, "verdict": "confirmed", "why": "Dynamo reports it", "runs": ["train"]}]},
        {"name": HOSTILE, "kind": "python", "device": "cpu", "processes": 2,
         "failure": {"kind": "raised", "stage": "eager", "message": HOSTILE, "where": "a.py:3", "output": "</pre>" + HOSTILE}},
    ],
}


@pytest.fixture(scope="module")
def page(fullgraph, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    (folder / "result.json").write_text(json.dumps(RESULT))
    done = fullgraph("validate", "--merge", "result.json", "--output-format", "html", "-o", "page.html", cwd=folder)
    assert done.code == 2 and done.stdout == ""
    return folder / "page.html"


def test_the_page_needs_nothing_else(page):
    text = page.read_text()
    elements = Elements(text)
    for tag, attributes in elements.tags:
        assert "src" not in attributes, tag
        assert attributes.get("href", "#").startswith("#"), tag
        assert not any(name.startswith("on") for name in attributes), tag
    assert not re.search(r"url\(|@import|https?:", text)
    [policy] = [one["content"] for tag, one in elements.tags if tag == "meta" and "http-equiv" in one]
    assert "default-src 'none'" in policy


def test_names_are_text(page):
    elements = Elements(page.read_text())
    assert [tag for tag, _ in elements.tags].count("script") == 1
    assert "img" not in [tag for tag, _ in elements.tags]
    shown = "".join(elements.text)
    assert HOSTILE.replace("\u202e", "[U+202E]") in shown
    assert "\u202e" not in shown


def test_what_the_page_says(page):
    shown = " ".join(" ".join(Elements(page.read_text()).text).split())
    assert "Could not be run to the end" in shown
    assert "the change makes a difference: grad encoder.conv.weight is lost" in shown
    # The tree: the break that is gone stands below its callers, the other one at its own place.
    assert re.search(r"Model.forward model.py:31 Encoder.forward encoder.py:58 Features.forward encoder.py:40 GB0206.* gone", shown)
    assert re.search(r"Layer.forward decoder.py:23 GB0083.* still there", shown)
    assert re.search(r"2 → 1 ?graph breaks", shown)
    assert "−25 %" in shown  # 40 ms, then 30


def test_breaks_stand_at_their_modules(fullgraph, tmp_path):
    """A second break of the same kind in one module is one of its own: of two, one is gone."""
    result = json.loads(json.dumps(RESULT))
    [run, _], result["cases"] = result["cases"][0]["runs"], result["cases"][:1]
    for one in (run["before"], run["after"]):
        one["modules"] = MODULES
    again = {**FLAG, "line": 44}
    run["before"]["capture"]["breaks"] = [{**one, "module": "encoder.features"} for one in (FLAG, again)]
    run["after"]["capture"]["breaks"] = [{**again, "line": 41, "module": "encoder.features"}, {**HOOK, "module": "decoder.layers.0"}]
    (tmp_path / "result.json").write_text(json.dumps(result))
    page = fullgraph("validate", "--merge", "result.json", "--output-format", "html", cwd=tmp_path).stdout
    shown = " ".join(" ".join(Elements(page).text).split())
    tree = shown[shown.index("and the modules"):]
    assert re.search(r"Speech encoder Encoder features Features GB0206 .* still there .* GB0206 .* gone .* decoder Decoder "
                     r"layers.0 Layer, 5 alike GB0083 .* new", tree), tree[:1500]


def test_both_colour_schemes_are_legible(page):
    background = "return getComputedStyle(document.body).backgroundColor;"
    assert ask(page, background) != ask(page, background, DARK)
    assert ask(page, CONTRAST) == []
    assert ask(page, CONTRAST, DARK) == []


def test_it_fits_and_the_table_can_be_filtered(page):
    found = ask(page, """
        const table = document.querySelector("details.run[open]");
        const shown = () => [...table.querySelectorAll("tbody tr")].filter(x => x.offsetParent).map(x => x.cells[0].textContent);
        const [search, only] = table.querySelectorAll("input");
        const out = {all: shown().length, overflow: document.documentElement.scrollWidth - innerWidth};
        search.value = "LAYERS.3"; search.dispatchEvent(new Event("input", {bubbles: true})); out.named = shown();
        search.value = ""; only.click(); out.off = shown();
        document.querySelector(".theme").click(); out.theme = document.documentElement.dataset.theme;
        return out;""", "--window-size=500,900")
    assert found == {"all": 8, "overflow": found["overflow"], "named": ["decoder.layers.3.weight"], "off": ["encoder.conv.weight"],
                     "theme": "dark"}
    assert found["overflow"] <= 0
    assert ask(page, "return [document.title, document.images.length, document.scripts.length];")[1:] == [0, 2]


def test_the_page_of_archives(fullgraph, tmp_path):
    torch.manual_seed(0)
    encoder, detached = models.Encoder(), models.Detached()
    detached.load_state_dict(encoder.state_dict())
    torch.jit.save(torch.jit.script(encoder), tmp_path / "before.pt")
    torch.jit.save(torch.jit.script(detached), tmp_path / "after.pt")
    done = fullgraph("validate", "before.pt", "after.pt", "--output-format", "html", "--repeat", "3", cwd=tmp_path)
    assert done.code == 1
    shown = " ".join(" ".join(Elements(done.stdout).text).split())
    assert "2 problems" in shown and "before.pt → after.pt" in shown
    assert "gradients are missing" in shown and "Graph breaks" not in shown
