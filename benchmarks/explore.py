"""How long a person waits on the page of ``kgqa explore``: for the first graph, for the neighbours of a hub, for suggested names.

``python -m benchmarks.explore``. Measured in a headless Chromium against the real command, on the graph of the real Wikidata files.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from benchmarks.measure import Section, Table, absent, data_folder, spread
from benchmarks.process import ROOT, python

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TITLE = "The page: kgqa explore"
ROUNDS = 15
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync")
ANSWERED = "(([n]) => n.responseEnd - n.requestStart)(performance.getEntriesByType('navigation'))"
DRAWN = "Number(document.getElementById('graph').dataset.drawn)"
FETCHED = "(e => e.responseEnd - e.requestStart)(performance.getEntriesByType('resource').filter(e => e.name.includes('/api/')).at(-1))"
TYPED = ("pa", "par", "united st", "gabon", "zzzz")


def main(*, rounds: int = ROUNDS) -> Section:
    """Make the workspace, start the command, and look."""
    data, program = data_folder("wikidata"), chromium()
    if data is None:
        return Section(title=TITLE, skipped=absent("wikidata"))
    if program is None:
        return Section(title=TITLE, skipped="Skipped: there is no Chromium here; install it, or set KGQA_CHROMIUM to its program.")
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "workspace"
        python(["-m", "kgqa", "generate", "--domain", "wikidata", "--source", str(data), "--workspace", str(workspace)])
        with explored(workspace) as address, browser(program) as started:
            rows = measured(started, address, workspace, rounds=rounds)
    table = Table(
        title="Milliseconds in the browser",
        columns=("", "server answers", "until drawn"),
        rows=rows,
        notes=[
            f"{rounds} rounds; median and range. Until drawn: from the click that opens the page, or expands the node, to the first frame "
            "with the graph. Unless noted otherwise, the browser has already shown a graph."
        ],
    )
    return Section(title=TITLE, tables=[table])


def measured(started: Browser, address: str, workspace: Path, *, rounds: int) -> list[tuple[str, str, str]]:
    """One row for each thing that a person waits for."""
    import kgqa

    hub, total = biggest_hub(workspace)
    beside = kgqa.query("page_facts_from", {"entity": hub, "limit": "1"}, workspace=workspace)["entity"][0].as_py()
    dataset = next((workspace / "datasets").iterdir())
    sample = urlencode({"dataset": dataset.name, "split": "train", "id": kgqa.show(dataset).id})
    one, other = kgqa.query("hubs", {"limit": "2"}, workspace=workspace).to_pylist()
    ends, named = urlencode({"from": one["entity"], "to": other["entity"]}), f"{one['label']} and {other['label']}"
    pages = {
        "first graph, after the start page": f"/entity?{urlencode({'id': beside})}",
        "first graph, in a browser with an empty cache": f"/entity?{urlencode({'id': beside})}",
        "entity page": f"/entity?{urlencode({'id': beside})}",
        f"entity page of the hub ({total:,} neighbours)": f"/entity?{urlencode({'id': hub})}",
        "sample with its chain": f"/sample?{sample}",
        f"bridges of {named}": f"/bridges?{ends}",
        f"paths over documents between {named}": f"/paths/documents?{ends}",
        f"paths over facts between {named}": f"/paths/facts?{ends}",
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in [*pages, f"expanding the hub ({total:,} neighbours)"]}
    times |= {f"suggestions for “{text}”": [] for text in TYPED}
    context = started.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(address)
    for _ in range(rounds):
        for name, path in pages.items():
            if name.startswith("first graph"):
                with started.new_context(viewport={"width": 1280, "height": 800}) as fresh:
                    new = fresh.new_page()
                    if name.endswith("start page"):  # it fetches the scripts of the graph ahead
                        new.goto(address)
                        new.wait_for_load_state("networkidle")
                    times[name].append(opened(new, address + path))
            else:
                times[name].append(opened(page, address + path))
        times[f"expanding the hub ({total:,} neighbours)"].append(expanded(page, f"{address}{pages['entity page']}", f"e:{hub}"))
        for text in TYPED:
            script = "async a => { const b = performance.now(); await (await fetch(a)).text(); return performance.now() - b; }"
            times[f"suggestions for “{text}”"].append((page.evaluate(script, f"/suggest?{urlencode({'q': text})}"), 0.0))
    context.close()
    return [(name, *(spread(values, 0) if any(values) else "" for values in zip(*pairs, strict=True))) for name, pairs in times.items()]  # type: ignore[misc]


def opened(page: Page, address: str) -> tuple[float, float]:
    """Open a page with a graph: how long the server took, and how long until the graph was drawn."""
    page.goto(address)
    page.wait_for_selector("#graph[data-drawn]")
    return page.evaluate(ANSWERED), page.evaluate(DRAWN)


def expanded(page: Page, address: str, key: str) -> tuple[float, float]:
    """Click a node that is drawn and wait for its neighbours."""
    opened(page, address)
    place = "k => { const p = document.getElementById('graph')._cyreg.cy.getElementById(k).renderedPosition(); return [p.x, p.y]; }"
    x, y = page.evaluate(place, key)
    box = page.locator("#graph").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + x, box["y"] + y)
    page.wait_for_selector("#graph[data-expanded]")
    return page.evaluate(FETCHED), float(page.locator("#graph").get_attribute("data-expanded") or "nan")


def biggest_hub(workspace: Path) -> tuple[str, int]:
    """Of the entities that most documents mention, the one with most neighbours, and how many these are."""
    import kgqa

    def facts(entity: str) -> int:
        names = ("page_relations_from", "page_relations_to")
        return sum(sum(kgqa.query(name, {"entity": entity}, workspace=workspace)["facts"].to_pylist()) for name in names)

    rows = kgqa.query("hubs", {"limit": "5"}, workspace=workspace).to_pylist()
    total, hub = max((row["documents"] + facts(row["entity"]), row["entity"]) for row in rows)
    return hub, total


@contextmanager
def explored(workspace: Path) -> Iterator[str]:
    """The command, running; its address."""
    command = [sys.executable, "-m", "kgqa", "explore", "--workspace", str(workspace), "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[0].rstrip("/")
        finally:
            process.send_signal(signal.SIGINT)


@contextmanager
def browser(program: str) -> Iterator[Any]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


def chromium() -> str | None:
    """The browser's program, if there is one and the package that drives it is there."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return None
    return os.environ.get("KGQA_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


if __name__ == "__main__":
    print(main().plain())
