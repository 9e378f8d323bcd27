"""Every page, examined by axe-core in a real browser: narrow and wide, light and dark, with names of any script and length."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

import pytest

from kgqa.web.explore.project import Project
from tests.conftest import unavailable
from tests.web.explore.awkward import ARABIC, CHINESE, LONG, UNBROKEN
from tests.web.explore.conftest import Window
from tests.web.explore.test_chromium import ADDRESSES, first_sample

pytestmark = pytest.mark.slow
Look = Callable[..., Window]
SERIOUS = {"serious", "critical"}
RUN = """async () => {
    const found = await axe.run(document, {resultTypes: ["violations"]});
    return found.violations.map(v => [v.impact, v.id, v.nodes.map(n => [n.html.slice(0, 160), n.failureSummary])]);
}"""


@cache
def axe() -> str:
    """The script of axe-core, which a package for tests holds."""
    try:
        return (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
    except ModuleNotFoundError:
        unavailable("no axe-core here; pip install --group test")
        raise


def found(window: Window, path: str) -> list[Any]:
    """What axe-core complains about at an address."""
    page = window.open(path)
    page.wait_for_load_state("networkidle")
    page.evaluate(axe())  # by the browser's debugger, which the page's policy does not bind
    return list(page.evaluate(RUN))


# Colours depend on the scheme, and what is shown on the width.
@pytest.mark.parametrize(
    ("width", "scheme"),
    [(390, "light"), (1600, "dark"), *(pytest.param(*both, marks=pytest.mark.thorough) for both in ((390, "dark"), (1024, "light")))],
)
def test_nothing_serious_is_found(scheme: Any, width: int, worldly: Project, look: Look) -> None:
    window = look(worldly, color_scheme=scheme)
    window.page.set_viewport_size({"width": width, "height": 900})
    sample = first_sample(worldly)
    wrong = {}
    for address in (
        *ADDRESSES,
        "/find?q=zzzz",
        "/bridges?from=Q45",
        "/entity?id=Q46&relation=in:P30",
        "/cypher?q=CREATE+(n)",
        sample,
        f"{sample}&every=true&masked=true",
    ):
        serious = [entry for entry in found(window, address) if entry[0] in SERIOUS]
        if serious:
            wrong[address] = serious
        assert window.overflow() <= 0, address
    assert wrong == {}
    window.allowed.append("status of 40[04]")


def test_what_opens_is_examined_too(worldly: Project, look: Look) -> None:
    window = look(worldly)
    page = window.page
    found(window, "/entity?id=Q46")
    # What opens → the keys that open it, a text to type and what is then there.
    steps: dict[str, tuple[tuple[str, ...], str, str]] = {
        "suggestions": (("/",), "a", "#suggestions [data-item]"),
        "dialog": (("Escape", "?"), "", "dialog[open]"),
        "node": (("Escape", "g", "ArrowRight", "f"), "", "body"),
    }
    for name, (keys, text, there) in steps.items():
        for key in keys:
            page.keyboard.press(key)
        page.keyboard.type(text)
        page.wait_for_selector(there)
        assert [entry for entry in page.evaluate(RUN) if entry[0] in SERIOUS] == [], name


def test_suggestions_while_cypher_is_written_are_examined_too(worldly: Project, look: Look) -> None:
    window = look(worldly)
    page = window.page
    for text, key in (("MATCH (e:", "ArrowDown"), ("MATCH (e:Entity)-[:", "ArrowUp")):
        found(window, "/cypher")
        page.keyboard.type(text)
        page.wait_for_selector("#completions [role=option]")
        for pressed in ("", key):
            if pressed:
                page.keyboard.press(pressed)
            assert [entry for entry in page.evaluate(RUN) if entry[0] in SERIOUS] == []
    page = window.open("/query?name=facts_about")
    page.evaluate(axe())
    page.locator("#p-entity").press_sequentially("a", delay=20)
    page.wait_for_selector("#p-entity-suggestions [data-item]")
    assert [entry for entry in page.evaluate(RUN) if entry[0] in SERIOUS] == []


def test_labels_of_any_script_and_length_have_room(worldly: Project, look: Look) -> None:
    window = look(worldly)
    for width in (390, 1024, 1600):
        window.page.set_viewport_size({"width": width, "height": 900})
        for entity, label in (("Q45", ARABIC), ("Q29", CHINESE), ("Q142", UNBROKEN), ("Q597", LONG)):
            page = window.open(f"/entity?id={entity}")
            window.nodes()
            assert page.locator("h1").inner_text() == label
            assert window.overflow() <= 0
            assert window.graph("cy.nodes('.root').data('full')") == label
            assert window.graph("cy.nodes('.root').width()") <= max(280, width - 40)
            assert page.locator("h1").bounding_box()["width"] <= width  # type: ignore[index]
            for address in (f"/find?q={label[:20]}", f"/bridges?from={entity}&to=Q183", f"/query?name=facts_about&p.entity={entity}"):
                window.open(address)
                assert window.overflow() <= 0, address


TEXTS = "main td, main th, main a, main h1, main h2, main code, main p, main label, main dt"
WORDS = """texts => [...document.querySelectorAll(texts)].flatMap(element => {
    const range = document.createRange(), broken = [];
    const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const text = walk.currentNode.textContent;
        for (const word of text.matchAll(/[\\p{L}\\p{N}]+/gu)) {
            range.setStart(walk.currentNode, word.index);
            range.setEnd(walk.currentNode, word.index + word[0].length);
            const lines = new Set([...range.getClientRects()].filter(r => r.width > 0.5).map(r => Math.round(r.top)));
            if (lines.size > 1) broken.push(word[0]);
        }
    }
    return broken;
})"""


def test_no_word_is_broken_in_a_narrow_window(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    window.page.set_viewport_size({"width": 390, "height": 900})
    for address in (*ADDRESSES[:-1], first_sample(wikidata), "/query?name=relation_counts&run=1", "/query?name=why_wikihop_candidate"):
        page = window.open(address)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(WORDS, TEXTS) == [], address
