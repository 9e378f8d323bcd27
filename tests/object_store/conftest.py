"""The S3 server of the tests, empty for each of them, and a folder of copies of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.object_server import ObjectServer, moto, object_server


@pytest.fixture(scope="session")
def moto_port() -> Iterator[int]:
    with moto() as port:
        yield port


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """The folder of copies."""
    return tmp_path / "copies"


@pytest.fixture
def objects(moto_port: int, copies: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with object_server(moto_port) as server:
        for name in [name for name in os.environ if name.startswith(("AWS_", "KGQA_OBJECTS"))]:
            monkeypatch.delenv(name)
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(copies / "none"))
        monkeypatch.setenv("AWS_CONFIG_FILE", str(copies / "none"))
        monkeypatch.setenv("KGQA_OBJECTS", str(copies))
        yield server
