"""Neo4j Browser in a headless Chromium, handled as a person does: connect, drop a file, click a favourite, look at the graph."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.neo4j.server import Neo4jServer

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip
DROP = """([name, data]) => {
    const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0));
    const files = new DataTransfer();
    files.items.add(new File([bytes], name));
    document.querySelector('[data-testid="main"]').dispatchEvent(
        new DragEvent("drop", {dataTransfer: files, bubbles: true, cancelable: true}));
}"""


def chromium() -> str | None:
    """The browser's program, if there is one."""
    given = os.environ.get("KGQA_CHROMIUM")
    return given or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def missing() -> str:
    """Why no browser can be started here; empty if one can."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "no playwright here; pip install --group test"
    return "" if chromium() else "no Chromium on this machine; install it, or set KGQA_CHROMIUM to its program"


class BrowserPage:
    """Neo4j Browser, opened."""

    def __init__(self, page: Page, server: Neo4jServer) -> None:
        self.page = page
        self._server = server
        page.goto(server.browser)
        page.get_by_test_id("boltaddress").wait_for()

    def connect(self, password: str | None = None) -> None:
        """Log in, with the server's own password unless another is given."""
        self.page.get_by_test_id("bolt-scheme-select").select_option("bolt://")
        self.page.get_by_test_id("boltaddress").fill(self._server.uri.removeprefix("bolt://"))
        self.page.get_by_test_id("username").fill("neo4j")
        self.page.get_by_test_id("password").fill(self._server.password if password is None else password)
        self.page.get_by_test_id("connect").click()

    def drop(self, path: Path) -> None:
        """Drop a file onto the page."""
        self.page.evaluate(DROP, [path.name, base64.b64encode(path.read_bytes()).decode()])

    def favourites(self) -> list[str]:
        """Open the drawer and the folder of our favourites; their titles."""
        if not self.page.get_by_test_id("savedScriptsFolder-kgqa").is_visible():
            self.page.get_by_test_id("navigationFavorites").click()
        self.page.get_by_test_id("savedScriptsFolder-kgqa").wait_for()
        if not self.page.get_by_test_id("scriptTitle-kgqa").count() and not self._titles().count():
            self.page.get_by_test_id("expandFolder-kgqa").click()
            self._titles().first.wait_for()
        return self._titles().all_inner_texts()

    def _titles(self) -> Locator:
        return self.page.get_by_test_id("savedScriptsFolder-kgqa").get_by_test_id("savedScriptListItem")

    def run_favourite(self, beginning: str) -> Locator:
        """Run the favourite whose title begins so; the frame with its result."""
        self.favourites()
        item = self._titles().filter(has_text=beginning)
        item.hover()
        item.get_by_test_id("savedScriptsButton-Run").click()
        return self.frame(beginning)

    def run(self, text: str) -> Locator:
        """Type a query and run it; the frame with its result."""
        self.page.locator("[data-testid=activeEditor] .monaco-editor[role=code]").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)
        self.page.keyboard.press("Control+Enter")
        return self.frame(text.splitlines()[0])

    def frame(self, command: str) -> Locator:
        """The newest frame, once it belongs to ``command`` and has its result."""
        frame = self.page.get_by_test_id("frame").first
        frame.get_by_test_id("frameCommand").filter(has_text=command[:30]).wait_for()
        frame.get_by_test_id("frameContents").wait_for()
        return frame


@contextmanager
def neo4j_browser(server: Neo4jServer, *, width: int = 1280, height: int = 900) -> Iterator[BrowserPage]:
    """Neo4j Browser of ``server`` in a new Chromium that can reach nothing else."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        page = started.new_page(viewport={"width": width, "height": height})
        # It asks for fonts and reports errors elsewhere; without these it must work as well.
        page.route(lambda url: not url.startswith(f"http://127.0.0.1:{server.http_port}/"), lambda route: route.abort())
        page.set_default_timeout(60_000)
        try:
            yield BrowserPage(page, server)
        finally:
            started.close()
