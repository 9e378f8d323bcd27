"""The pages of a project: people as clients, and the server for a browser."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from starlette.testclient import TestClient

from kgqa.collection.journal import Journal
from kgqa.collection.links import Access, sign
from kgqa.web.annotate.app import create_app
from tests.collection.conftest import clock, colours_task, make_journal
from tests.web.explore.conftest import HERE, Window, browser, served_app

__all__ = ["browser", "clock", "colours_task", "make_journal"]
Look = Callable[..., Window]


def key_of(journal: Journal, person: str, *, days: float = 1) -> str:
    """The key of a person's link."""
    access = Access(project=journal.project.settings.name, person=person, until=int(time.time() + days * 86400))
    return sign(journal.secret, access)


class Person:
    """Somebody with a link, who uses the routes as the page's script does."""

    def __init__(self, journal: Journal, name: str, app: Any = None) -> None:
        self.client = TestClient(app or create_app(journal), base_url=HERE, raise_server_exceptions=False, headers={"Origin": HERE})
        self.entered = self.client.get("/enter", params={"key": key_of(journal, name)})

    def page(self) -> str:
        """The page of the next item."""
        text = self.client.get("/").text
        self.client.headers["X-Kgqa-Form"] = text.split('name="kgqa-form" content="')[1].split('"')[0]
        return text

    def item(self) -> tuple[str, str]:
        """The next item's id and the token of its page."""
        text = self.page()
        return text.split('data-item="')[1].split('"')[0], text.split('data-token="')[1].split('"')[0]

    def post(self, path: str, **body: Any) -> Any:
        """A change."""
        return self.client.post(f"/api/{path}", json=body)


@pytest.fixture
def look(browser: Any) -> Iterator[Look]:
    """``look(journal, person)``: a window of a person; options go to the browser's context. One server per journal."""
    windows: list[Window] = []
    addresses: dict[int, str] = {}
    with ExitStack() as servers:

        def make(journal: Journal, person: str, **options: Any) -> Window:
            if id(journal) not in addresses:
                addresses[id(journal)] = servers.enter_context(served_app(create_app(journal)))
            windows.append(Window(browser, addresses[id(journal)], **options))
            windows[-1].page.goto(f"{addresses[id(journal)].rstrip('/')}/enter?key={key_of(journal, person)}")
            return windows[-1]

        yield make
        for window in windows:
            window.close()
