"""The programs that the real Dynamo decides: one for each look-alike and each break of a rule, and the corpus."""
from __future__ import annotations

import json
import re

from conftest import ROOT

THRESHOLDS = json.loads((ROOT / "tests" / "differential" / "thresholds.json").read_text())


def rule_cases():
    for path in sorted((ROOT / "fixtures" / "rules").glob("FG*/*")):
        main = path / "main.py" if path.is_dir() else path
        if main.suffix == ".py" and main.exists() and re.search(r"^def case\(", main.read_text(encoding="utf-8"), re.M):
            yield path


RULE_CASES = list(rule_cases())
CORPUS = sorted({path.parent if path.name == "main.py" else path
                 for folder in THRESHOLDS
                 for path in [*(ROOT / "fixtures" / "cases" / folder).glob("*.py"),
                              *(ROOT / "fixtures" / "cases" / folder).glob("*/main.py")]})


def name_of(path):
    return f"{path.parent.name}/{path.name}"
