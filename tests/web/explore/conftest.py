"""Projects to look at, the page served in this process, and a browser that says what it was told and asked."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

import kgqa
from kgqa.runs.graph import tables_hash
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.graph import SOURCES, graph_rows
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import load
from kgqa.web.explore.app import create_app
from kgqa.web.explore.project import Project, open_project
from tests.conftest import unavailable
from tests.neo4j.browser import ARGUMENTS, chromium, missing
from tests.neo4j.server import Neo4jServer
from tests.web.explore.awkward import awkward_source, worldly_source

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page
    from starlette.types import ASGIApp

HERE = "http://127.0.0.1"
Client = Callable[[Project], TestClient]


@pytest.fixture(scope="session")
def wikidata(seed_wikidata: Path) -> Iterator[Project]:
    """The seed workspace in the embedded store."""
    yield from _opened(seed_wikidata)


@pytest.fixture(scope="session")
def medline(seed_medline: Path) -> Iterator[Project]:
    """The other one."""
    yield from _opened(seed_medline)


@pytest.fixture(scope="session")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A workspace with names and texts that would do harm."""
    folder = tmp_path_factory.mktemp("awkward")
    kgqa.generate("wikidata", source=awkward_source(folder / "source"), workspace=folder / "workspace")
    yield from _opened(folder / "workspace")


@pytest.fixture(scope="session")
def worldly(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A workspace with names in other scripts and of 300 characters."""
    folder = tmp_path_factory.mktemp("worldly")
    kgqa.generate("wikidata", source=worldly_source(folder / "source"), workspace=folder / "workspace")
    yield from _opened(folder / "workspace")


def _opened(workspace: Path) -> Iterator[Project]:
    project = open_project(workspace)
    yield project
    project.close()


@pytest.fixture
def on_server(seed_wikidata: Path, neo4j_database: Neo4jSettings) -> Iterator[Project]:
    """The seed workspace with its graph in the tests' Neo4j server."""
    with project_on_server(seed_wikidata, neo4j_database) as project:
        yield project


@pytest.fixture
def on_spare_server(seed_wikidata: Path, spare_server: Neo4jServer) -> Iterator[Project]:
    """The same in a server that the test may kill."""
    database = Neo4jSettings(uri=spare_server.uri, password=spare_server.password)
    with project_on_server(seed_wikidata, database) as project:
        yield project


@contextmanager
def project_on_server(folder: Path, database: Neo4jSettings) -> Iterator[Project]:
    """The workspace ``folder``, its graph loaded into ``database``."""
    workspace = Workspace(folder)
    with Neo4jStore(database) as store:
        load(store, tables_hash(workspace), graph_rows({name: workspace.read_table(name) for name in SOURCES}))
    project = open_project(folder, store="neo4j", neo4j=database)
    try:
        yield project
    finally:
        project.close()


@pytest.fixture(scope="module")
def app_of() -> Callable[[Project], ASGIApp]:
    """The page of a project, made once: making its routes takes longer than most answers."""
    made: dict[int, tuple[Project, ASGIApp]] = {}

    def app(project: Project) -> ASGIApp:
        if id(project) not in made:
            made[id(project)] = project, create_app(project)
        return made[id(project)][1]

    return app


@pytest.fixture
def client(app_of: Callable[[Project], ASGIApp]) -> Client:
    """A client of the page of a project, as a browser on this machine is one."""

    def make(project: Project) -> TestClient:
        return TestClient(app_of(project), base_url=HERE, raise_server_exceptions=False)

    return make


@contextmanager
def served_app(app: ASGIApp) -> Iterator[str]:
    """An application at a free port of this machine; its address."""
    import uvicorn

    from kgqa.web.serving import HEAD_BYTES, listening

    with listening(0) as taken:
        config = uvicorn.Config(
            app, log_level="critical", lifespan="off", ws="none", timeout_graceful_shutdown=1,
            http="h11", h11_max_incomplete_event_size=HEAD_BYTES,
        )  # fmt: skip
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        try:
            yield f"{HERE}:{taken.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=20)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium; of one module, because another one may not be driven while it is."""
    if reason := missing():
        unavailable(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield started
        started.close()


class Window:
    """A page of the browser at one address, which remembers everything that must not happen."""

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.address = address
        self.complaints: list[str] = []
        self.allowed: list[str] = []
        """Patterns of complaints that a test provokes; the browser may report them late."""
        self.asked: list[str] = []
        self.context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce", **options)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", self._dialog)
        self.page.on("request", lambda request: self.asked.append(request.url))

    def _dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, path: str) -> Page:
        """Go to ``path``."""
        self.page.goto(f"{self.address}{path}")
        return self.page

    def graph(self, expression: str) -> Any:
        """The value of a JavaScript ``expression`` over ``cy``, the drawn graph."""
        return self.page.evaluate(f"() => {{ const cy = document.getElementById('graph')._cyreg.cy; return {expression}; }}")

    def nodes(self) -> list[str]:
        """Keys of the nodes that are drawn, without the chips that say what is hidden."""
        self.page.wait_for_selector("#graph[data-drawn]")
        return list(self.graph("cy.nodes().map(n => n.id()).filter(id => !id.startsWith('m:'))"))

    def click_node(self, key: str) -> None:
        """Click a node where it is drawn."""
        self.page.wait_for_selector("#graph[data-drawn]")
        box = self.page.locator("#graph").bounding_box()
        assert box
        script = (
            "key => { const p = document.getElementById('graph')._cyreg.cy.getElementById(key).renderedPosition(); return [p.x, p.y]; }"
        )
        x, y = self.page.evaluate(script, key)
        self.page.mouse.click(box["x"] + x, box["y"] + y)

    def expanded(self, key: str) -> None:
        """Wait until the node is opened and nothing is being fetched."""
        calm = "box => !box.hasAttribute('aria-busy') && box._cyreg.cy.getElementById(key).hasClass('opened')"
        self.until(f"key => ({calm})(document.getElementById('graph'))", key)

    def until(self, script: str, arg: Any = None) -> None:
        """Wait until a JavaScript ``script`` is true.

        The page is asked again and again: ``wait_for_function`` asks within the page by ``eval``, which the
        page's security policy refuses wherever the first try is not true yet.
        """
        from playwright.sync_api import Error

        ends = time.monotonic() + 60
        while time.monotonic() < ends:
            with suppress(Error):  # the page is on its way to another address
                if self.page.evaluate(script, arg):
                    return
            self.page.wait_for_timeout(20)
        raise AssertionError(script)

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))

    def close(self) -> None:
        """Close it; nothing may have been complained about but for what is allowed, and nobody elsewhere asked."""
        self.context.close()
        assert [text for text in self.complaints if not any(re.search(pattern, text) for pattern in self.allowed)] == []
        assert self.asked
        assert [url for url in self.asked if not url.startswith((self.address, "data:"))] == []


@pytest.fixture
def look(browser: Browser) -> Iterator[Callable[..., Window]]:
    """``look(project)``: a window on the page of ``project``; options go to the browser's context."""
    from contextlib import ExitStack

    windows: list[Window] = []
    with ExitStack() as servers:

        def make(project: Project, **options: Any) -> Window:
            windows.append(Window(browser, servers.enter_context(served_app(create_app(project))), **options))
            return windows[-1]

        yield make
        for window in windows:
            window.close()
