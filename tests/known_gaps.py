"""Fixtures that are known to disagree with what is found, from known_gaps.txt. They may fail, and a pass is worth a word."""
from __future__ import annotations

import pathlib
import warnings

import pytest

FILE = pathlib.Path(__file__).with_suffix(".txt")


def read_known_gaps(file: pathlib.Path = FILE) -> dict[str, str]:
    """Reasons by fixture."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    gaps = {name.strip(): reason.strip() for name, _, reason in (line.partition(":") for line in lines)}
    assert all(gaps.values()), f"{file.name}: each line is a fixture, a colon and the reason"
    return gaps


def judge(name: str, wrong: list[str], gaps: dict[str, str]) -> None:
    """Fails the running test on what is wrong with a fixture, unless it is a known gap."""
    if name not in gaps:
        assert not wrong, "\n".join(wrong)
    elif wrong:
        pytest.xfail(gaps[name])
    else:
        warnings.warn(f"{name} passes: its line can leave tests/known_gaps.txt", stacklevel=2)
