"""Nodes that are moved and pinned, by pointer and by keys, and pictures that are saved: in a real browser."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import expect

from kgqa.web.explore.project import Project
from tests.web.explore.awkward import ENTITY, LABEL
from tests.web.explore.conftest import Window

pytestmark = pytest.mark.slow
Look = Callable[..., Window]
SVG = "{http://www.w3.org/2000/svg}"


def place(window: Window, key: str) -> tuple[int, int]:
    """Where a node is, in the graph's own measure."""
    x, y = window.page.evaluate(
        "key => { const p = document.getElementById('graph')._cyreg.cy.getElementById(key).position(); return [p.x, p.y]; }", key
    )
    return round(x), round(y)


def pins(window: Window) -> list[str]:
    """What the address says about moved nodes."""
    return parse_qs(urlsplit(window.page.url).query).get("pin", [])


def drag(window: Window, key: str, by: tuple[int, int]) -> None:
    """Draw a node to another place with the mouse."""
    box = window.page.locator("#graph").bounding_box()
    assert box
    script = "key => { const p = document.getElementById('graph')._cyreg.cy.getElementById(key).renderedPosition(); return [p.x, p.y]; }"
    x, y = window.page.evaluate(script, key)
    mouse = window.page.mouse
    mouse.move(box["x"] + x, box["y"] + y)
    mouse.down()
    mouse.move(box["x"] + x + by[0] / 2, box["y"] + y + by[1] / 2, steps=4)
    mouse.move(box["x"] + x + by[0], box["y"] + y + by[1], steps=4)
    mouse.up()


def test_a_moved_node_stays_while_others_come(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/entity?id=Q597")
    window.nodes()
    before = place(window, "e:Q45")
    drag(window, "e:Q45", (60, 90))
    moved = place(window, "e:Q45")
    assert moved[1] > before[1] + 50
    assert pins(window) == [f"{moved[0]}.{moved[1]}~e:Q45"]
    assert window.graph("cy.nodes('.pinned').map(n => n.id())") == ["e:Q45"]
    expect(page.locator("#graph-state")).to_contain_text("pinned")
    window.click_node("e:Q45")
    window.expanded("e:Q45")
    assert place(window, "e:Q45") == moved
    page.reload()
    window.nodes()
    assert place(window, "e:Q45") == moved
    page.get_by_role("button", name="All nodes back in their places").click()
    assert pins(window) == []
    assert place(window, "e:Q45") != moved
    assert window.graph("cy.nodes('.pinned').length") == 0


def test_a_double_click_pins_and_lets_go(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/entity?id=Q597")
    window.nodes()
    box = page.locator("#graph").bounding_box()
    assert box
    for expected in (1, 0):
        x, y = window.graph("(p => [p.x, p.y])(cy.getElementById('e:Q597').renderedPosition())")
        page.mouse.dblclick(box["x"] + x, box["y"] + y)
        window.until("n => document.getElementById('graph')._cyreg.cy.nodes('.pinned').length === n", expected)
        page.wait_for_timeout(400)  # two double clicks are not four clicks


def test_keys_move_pin_and_put_back(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/entity?id=Q597")
    window.nodes()
    keys = page.keyboard
    keys.press("g")
    keys.press("ArrowRight")
    result = window.graph("cy.nodes('.at')[0].id()")
    x, y = place(window, result)
    for key in ("Shift+ArrowDown", "Shift+ArrowDown", "Shift+ArrowRight"):
        keys.press(key)
    assert place(window, result) == (x + 12, y + 24)
    expect(page.locator("#graph-state")).to_contain_text("pinned, f lets it go")
    keys.press("f")
    assert place(window, result) == (x, y)
    assert pins(window) == []
    keys.press("f")
    assert pins(window) == [f"{x}.{y}~{result}"]
    keys.press("r")
    assert pins(window) == []
    expect(page.locator("#graph-state")).to_have_text("All nodes are back in their places.")
    described = page.locator("#graph").get_attribute("aria-describedby") or ""
    assert "Shift and an arrow key move it" in " ".join(page.locator(f"#{name}").inner_text() for name in described.split())


def test_an_outline_has_no_places_to_move_to(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    window.page.set_viewport_size({"width": 390, "height": 800})
    page = window.open("/entity?id=Q597&pin=900.900~e:Q45")
    window.nodes()
    assert place(window, "e:Q45") != (900, 900)
    page.keyboard.press("g")
    page.keyboard.press("f")
    expect(page.locator("#graph-state")).to_contain_text("widen the window")


@pytest.mark.parametrize(
    "word",
    [
        "pin=9999999.1~e:Q45",
        *(pytest.param(word, marks=pytest.mark.thorough) for word in ("pin=x", "pin=1.2", "pin=1.2~e:nothing", "pin=~")),
    ],
)
def test_a_place_that_is_none_is_not_used(word: str, wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    window.open(f"/entity?id=Q597&{word}")
    assert "e:Q45" in window.nodes()
    assert window.graph("cy.nodes('.pinned').length") == 0


def saved(window: Window, kind: str, folder: Path) -> Path:
    """Press the button and keep what the browser saves."""
    with window.page.expect_download() as waiting:
        window.page.get_by_role("button", name=kind, exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_is_saved_as_svg_and_png(scheme: Any, wikidata: Project, look: Look, tmp_path: Path) -> None:
    window = look(wikidata, color_scheme=scheme, accept_downloads=True)
    for address in ("/entity?id=Q46", "/bridges?from=Q45&to=Q29", "/entity?id=Q45&open=4.6.4.8~e:Q46&pin=10.300~e:Q46"):
        window.open(address)
        result = window.nodes()
        labels = window.graph("cy.nodes().map(n => n.data('label'))")
        path = saved(window, "SVG", tmp_path)
        assert path.suffix == ".svg"
        picture = ET.parse(path).getroot()
        texts = [entry.text for entry in picture.iter(f"{SVG}text")]
        assert set(labels) <= set(texts)
        assert len(list(picture.iter(f"{SVG}path"))) == window.graph("cy.edges().filter(e => e.numericStyle('opacity') > 0).length")
        text = path.read_text("utf-8")
        assert not any(word in text for word in ("var(", "url(", "href", "<style", "<script", "NaN", "undefined", "null"))
        paper = window.page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--canvas').trim()")
        assert picture.find(f"{SVG}rect").get("fill") == paper  # type: ignore[union-attr]
        assert len(result) <= len(list(picture.iter(f"{SVG}g")))
        data = saved(window, "PNG", tmp_path).read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", data[16:24]) == (2 * int(picture.get("width", "0")), 2 * int(picture.get("height", "0")))


def test_a_saved_picture_holds_names_that_would_do_harm_as_text(awkward: Project, look: Look, tmp_path: Path) -> None:
    window = look(awkward, accept_downloads=True)
    window.open(f"/entity?{urlencode({'id': ENTITY})}")
    window.nodes()
    window.graph("cy.nodes('.root').data('full', cy.nodes('.root').data('full') + String.fromCharCode(1, 0xD800))")
    picture = ET.parse(saved(window, "SVG", tmp_path)).getroot()
    titles = [entry.text for entry in picture.iter(f"{SVG}title")]
    assert f"{LABEL}\ufffd\ufffd" in titles
    assert {entry.tag.removeprefix(SVG) for entry in picture.iter()} <= {"svg", "title", "rect", "g", "path", "polygon", "text"}
