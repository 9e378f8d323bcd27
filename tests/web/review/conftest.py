"""Sessions to read in, a client as the page is one, and the page served for a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import kgqa
from kgqa.collection.draw import draw
from kgqa.collection.reading import readings
from kgqa.collection.tables.book import Book
from kgqa.web.review.app import create_app
from kgqa.web.review.session import Session
from tests.web.explore.awkward import awkward_source
from tests.web.explore.conftest import HERE, Window, browser, served_app

__all__ = ["browser"]
Look = Callable[..., Window]


def opened(dataset: Path, table: Path, *, sample: int = 6, reader: str = "ann") -> Session:
    """Somebody reads ``sample`` samples drawn with seed 7."""
    result = draw(dataset, sample=sample, seed=7)
    return Session(readings=readings(dataset, result), book=Book(table, result, reader=reader), origin=result.origin)


def client(session: Session, *, origin: str | None = HERE) -> TestClient:
    """A client of the page of ``session``, which says that it is at ``origin``."""
    headers = {} if origin is None else {"Origin": origin}
    return TestClient(create_app(session), base_url=HERE, raise_server_exceptions=False, headers=headers)


@pytest.fixture(scope="session")
def wikihop(seed_wikidata: Path) -> Path:
    """The dataset of the seed workspace."""
    return seed_wikidata / "datasets" / "wikihop"


@pytest.fixture
def session(wikihop: Path, tmp_path: Path) -> Session:
    """Nothing was read yet."""
    return opened(wikihop, tmp_path / "table.tsv")


@pytest.fixture(scope="session")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with names and texts that would do harm."""
    folder = tmp_path_factory.mktemp("awkward")
    return kgqa.generate("wikidata", source=awkward_source(folder / "source"), workspace=folder / "workspace").dataset


@pytest.fixture
def look(browser: Any) -> Iterator[Look]:
    """``look(session)``: a window on its page; options go to the browser's context."""
    windows: list[Window] = []
    with ExitStack() as servers:

        def make(session: Session, **options: Any) -> Window:
            windows.append(Window(browser, servers.enter_context(served_app(create_app(session))), **options))
            return windows[-1]

        yield make
        for window in windows:
            window.close()
