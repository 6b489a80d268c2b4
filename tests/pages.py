"""Pages of reports: their elements, and what a browser makes of them."""
from __future__ import annotations

import html.parser
import json
import pathlib
import re
import shutil
import subprocess

import pytest


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text.append(data)


def browser() -> str:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("Chromium is not installed: pages are not looked at")
    return found


def ask(page: pathlib.Path, script: str, *flags) -> object:
    """What `script`, run in the page when it is there, returns. The page must have nothing to complain about."""
    copy = page.with_name("asked.html")
    ask_it = f"document.title = 'answer:' + JSON.stringify((() => {{ {script} }})());"
    copy.write_text(page.read_text().replace("</body>", f"<script>{ask_it}</script></body>"))
    done = subprocess.run([browser(), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", f"--user-data-dir={page.parent}/profile",
                           "--enable-logging=stderr", *flags, copy.as_uri()], capture_output=True, text=True, timeout=120)
    assert "CONSOLE" not in done.stderr, done.stderr[-2000:]
    title = re.search(r"<title>answer:(.*?)</title>", done.stdout, re.S)
    assert title, done.stdout[:500] + done.stderr[-2000:]
    return json.loads(html.unescape(title[1]))


DARK = "--blink-settings=preferredColorScheme=0"
CONTRAST = """
const luminance = color => {
  const parts = color.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
  return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2];
};
const background = element => {
  for (let at = element; at; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    if (!/, 0\\)$|^transparent$/.test(color)) return color;
  }
  return "rgb(255, 255, 255)";
};
const out = [];
for (const element of document.body.querySelectorAll("*")) {
  if (!["SCRIPT", "STYLE"].includes(element.tagName) && [...element.childNodes].some(x => x.nodeType === 3 && x.data.trim())) {
    const [a, b] = [luminance(getComputedStyle(element).color), luminance(background(element))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) out.push([element.className, element.textContent.slice(0, 40), (a + .05) / (b + .05)]);
  }
}
return out;
"""
