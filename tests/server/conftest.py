from __future__ import annotations

import pathlib

import pytest

import server_models as models
from bare_client import BareClient


@pytest.fixture
def project(tmp_path) -> pathlib.Path:
    folder = tmp_path / "my project é"
    folder.mkdir()
    (folder / "helper.py").write_text(models.HELPER)
    (folder / "model.py").write_text(models.MODEL)
    return folder


@pytest.fixture
def client(project):
    with BareClient(project) as one:
        yield one
