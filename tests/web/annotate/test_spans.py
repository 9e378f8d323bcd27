"""Spans of texts, marked in a real browser by keys alone and by mouse: offsets are Python's, whatever the letters."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from kgqa.web.annotate.app import STATIC
from kgqa.web.guard import POLICY
from tests.web.explore.conftest import browser, served_app

__all__ = ["browser"]
pytestmark = pytest.mark.slow
PAGE = """<!doctype html><html lang="en">
<head><meta charset="utf-8"><title>Spans</title><link rel="stylesheet" href="/static/spans.css"></head>
<body><script type="application/json" id="texts">%s</script>
<div id="box" class="text spans" role="application" tabindex="0" aria-label="Text"></div>
<button type="button" id="mark">Mark</button><p id="status"></p><ul id="marks"></ul>
<script src="/static/spans.js"></script><script src="/page.js"></script></body></html>"""
SCRIPT = """
const get = (id) => document.getElementById(id), { text, links, marks } = JSON.parse(get("texts").textContent);
window.clicked = [];
window.marker = new kgqaSpans.Marker({
  kinds: [{ name: "context", label: "needed", key: "c", enter: true }], list: get("marks"), status: get("status"),
});
window.view = marker.show(get("box"), { document: "passage", text, links, onlink: (link) => clicked.push(link.title) });
marker.set(marks);
get("mark").addEventListener("click", () => marker.mark("context"));
"""
# An astral letter and a family of several joined ones, a letter with a combining accent, Hangul in parts, and Chinese, which has no spaces.
MIXED = "\U0001d538 \U0001f468‍\U0001f469‍\U0001f467 cafe\u0301 says \u1112\u1161\u11ab in 北京大学. Then “it’s” $5 — really! End."
LETTERS = "abcdefghijklmnop"


class Sheet:
    """A page with one text."""

    def __init__(self, page: Page, address: list[str]) -> None:
        self.page = page
        self._address = address
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def show(self, text: str, links: list[dict[str, Any]] | None = None, marks: list[dict[str, Any]] | None = None) -> None:
        """Show a text; the browser keeps nothing of the one before."""
        self._address[1] = json.dumps({"text": text, "links": links or [], "marks": marks or []}).replace("<", "\\u003c")
        self.text = text
        self.page.goto(self._address[0])
        self.page.locator("#box").focus()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def marks(self) -> list[str]:
        """The texts of the marks, each of which is at its place."""
        marks = self.page.evaluate("marker.of('context')")
        assert all(self.text[mark["start"] : mark["end"]] == mark["text"] for mark in marks), marks
        assert self.page.locator("#marks .go-to").all_text_contents() == [mark["text"] for mark in marks]
        return [mark["text"] for mark in marks]

    def selected(self) -> str:
        return self.page.locator("#status").text_content() or ""


@pytest.fixture(scope="module")
def sheet(browser: Any) -> Iterator[Sheet]:
    address = ["", ""]

    def page_of(_: Request) -> Response:
        return HTMLResponse(PAGE % address[1], headers={"Content-Security-Policy": POLICY})

    def script(_: Request) -> Response:
        return Response(SCRIPT, media_type="text/javascript")

    app = Starlette(routes=[Route("/", page_of), Route("/page.js", script), Mount("/static", StaticFiles(directory=STATIC))])
    with served_app(app) as address[0]:
        page = browser.new_page(viewport={"width": 700, "height": 700})
        sheet = Sheet(page, address)
        yield sheet
        page.close()
        assert sheet.errors == []


def test_words_are_marked_by_keys_whatever_their_letters(sheet: Sheet) -> None:
    sheet.show(MIXED)
    words = []
    for _ in range(40):
        words.append(sheet.selected())
        sheet.press("ArrowRight")
        if sheet.selected() == words[-1]:
            break
    assert words[:6] == ["\U0001d538", "\U0001f468‍\U0001f469‍\U0001f467", "cafe\u0301", "says", "\u1112\u1161\u11ab", "in"]
    assert "".join(words[6:-6]) == "北京大学"
    assert words[-6:] == ["Then", "it’s", "$", "5", "really", "End"]
    sheet.press("Home", "ArrowRight", "c", "ArrowRight", "Enter", "ArrowRight", "ArrowRight", "Shift+ArrowRight", "c", "End", "c")
    assert sheet.marks() == ["\U0001f468‍\U0001f469‍\U0001f467", "cafe\u0301", "\u1112\u1161\u11ab in", "End"]


def test_a_selection_is_extended_by_words_letters_lines_and_sentences(sheet: Sheet) -> None:
    sheet.show(MIXED)
    sheet.press("ArrowRight", "ArrowRight", "Shift+ArrowRight")
    assert sheet.selected() == "cafe\u0301 says"
    sheet.press("Shift+ArrowLeft", "Alt+Shift+ArrowLeft")
    assert sheet.selected() == "caf"
    sheet.press("Alt+Shift+ArrowRight", "Alt+Shift+ArrowRight")
    assert sheet.selected() == "cafe\u0301 "
    sheet.press("Shift+ArrowLeft")
    assert sheet.selected() == "\U0001f468‍\U0001f469‍\U0001f467 cafe\u0301"
    sheet.press("PageDown")
    assert sheet.selected() == "Then"
    sheet.press("Shift+PageDown", "Shift+ArrowLeft", "c")
    assert sheet.marks() == ["Then “it’s” $5 — really"]
    sheet.press("Control+ArrowLeft", "Control+ArrowLeft")
    assert sheet.selected() == "\U0001d538"
    lines = "\n".join(f"{letter * 3} {letter.upper() * 4} {letter * 5}" for letter in LETTERS)
    sheet.show(lines)
    sheet.press("ArrowRight", "ArrowDown", "ArrowDown")
    assert sheet.selected() == "CCCC"
    sheet.press("Shift+ArrowDown", "c", "ArrowUp")
    assert sheet.marks() == ["CCCC ccccc\nddd DDDD"]
    assert sheet.selected() == "CCCC"
    sheet.press(*["ArrowDown"] * 20)
    assert sheet.selected() in {"PPPP", "ppppp"}
    sheet.press(*["ArrowUp"] * 25)
    assert sheet.selected() in {"aaa", "AAAA"}


def test_marks_are_replaced_taken_back_and_removed(sheet: Sheet) -> None:
    sheet.show("one two three four five")
    sheet.press("Shift+ArrowRight", "c", "End", "c")
    assert sheet.marks() == ["one two", "five"]
    sheet.press("Home", "ArrowRight", "Shift+ArrowRight", "c")
    assert sheet.marks() == ["five", "two three"]
    sheet.press("c")
    assert sheet.marks() == ["five"]
    sheet.press("End", "Delete", "Delete")
    assert sheet.marks() == []
    sheet.press("Home", "c", "ArrowRight", "ArrowRight", "c", "End", "c")
    sheet.page.get_by_role("button", name="Remove: three").press("Enter")
    assert sheet.marks() == ["one", "five"]
    assert sheet.page.evaluate("document.activeElement.getAttribute('aria-label')") == "Remove: five"
    sheet.page.get_by_role("button", name="one", exact=True).press("Enter")
    sheet.press("Shift+ArrowRight", "c")
    assert sheet.marks() == ["five", "one two"]


def test_the_mouse_marks_whole_words_across_links(sheet: Sheet) -> None:
    text = "\U0001f30d one two three four"
    sheet.show(text, links=[{"title": "Two", "start": text.index("two"), "end": text.index("two") + 3}])
    places = sheet.page.evaluate(
        """() => [["one", 1], ["three", 3]].map(([word, letter]) => {
            const walk = document.createTreeWalker(document.getElementById("box"), NodeFilter.SHOW_TEXT);
            while (walk.nextNode()) {
                const at = walk.currentNode.textContent.indexOf(word);
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(walk.currentNode, at + letter);
                range.setEnd(walk.currentNode, at + letter + 1);
                const box = range.getBoundingClientRect();
                return [box.left + 1, box.top + box.height / 2];
            }
        })"""
    )
    mouse = sheet.page.mouse
    mouse.move(*places[0])
    mouse.down()
    mouse.move(*places[1], steps=4)
    mouse.up()
    sheet.page.wait_for_timeout(50)
    sheet.page.locator("#mark").click()
    assert sheet.marks() == ["one two three"]
    sheet.page.get_by_text("two", exact=True).first.click()
    assert sheet.page.evaluate("clicked") == []  # the selection is still there: it was no click on the link
    mouse.click(*places[0])
    sheet.page.locator("a").click()
    assert sheet.page.evaluate("clicked") == ["Two"]


def test_right_to_left_texts_go_on_to_the_left(sheet: Sheet) -> None:
    sheet.show("مدينة كبيرة على النهر")
    sheet.press("ArrowLeft", "Shift+ArrowLeft", "c", "ArrowRight")
    assert sheet.marks() == ["كبيرة على"]
    assert sheet.selected() == "كبيرة"


def test_marks_that_were_there_are_shown_and_an_empty_text_is_no_trouble(sheet: Sheet) -> None:
    at = MIXED.index("says")
    sheet.show(MIXED, marks=[{"kind": "context", "document": "passage", "start": at, "end": at + 4, "text": "says"}])
    assert sheet.marks() == ["says"]
    assert sheet.page.evaluate("[...CSS.highlights.get('kgqa-context')].map(String)") == ["says"]
    for text in ("", " \n "):
        sheet.show(text)
        sheet.press("ArrowRight", "Shift+ArrowDown", "c", "PageDown", "Delete", "Home", "End")
        assert sheet.marks() == []
    sheet.show("<script>window.owned = 1</script> &amp; done")
    assert sheet.page.locator("#box").inner_text() == "<script>window.owned = 1</script> &amp; done"
    assert sheet.page.evaluate("window.owned") is None


def test_a_long_text_with_many_links_answers_a_key_at_once(sheet: Sheet, record_property: Any) -> None:
    words = [f"word{number}" if number % 70 else f"Link{number} \U0001f30d" for number in range(2_500)]
    text = ""
    links: list[dict[str, Any]] = []
    for number, word in enumerate(words):
        if number % 60 == 0 and len(links) < 40:
            links.append({"title": word, "start": len(text), "end": len(text) + len(word)})
        text += word + (". " if number % 12 == 0 else " ")
    text = text[:20_000]
    assert (len(text), len(links)) == (20_000, 40)
    sheet.show(text, links=links)
    sheet.page.evaluate(
        """() => {
            window.times = [];
            document.addEventListener("keydown", (event) => {
                if (event.key === "Shift") return;
                const begin = performance.now();
                requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - begin)));
            }, true);
        }"""
    )
    medians = {}
    for name, keys in {
        "move": ["ArrowRight"],
        "extend": ["Shift+ArrowRight"],
        "mark": ["c"],
        "line": ["ArrowDown"],
        "sentence": ["PageDown"],
        "end": ["End", "Home"],
    }.items():
        sheet.page.evaluate("times.length = 0")
        for number in range(10):
            sheet.press(keys[number % len(keys)])
            while sheet.page.evaluate("times.length") <= number:
                sheet.page.wait_for_timeout(10)
        medians[name] = statistics.median(sheet.page.evaluate("times"))
    record_property("milliseconds from key to paint", {name: round(value, 1) for name, value in medians.items()})
