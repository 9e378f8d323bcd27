"""The Cypher box in a real browser: with keys alone, without scripts, and when the server goes away."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from kgqa.web.explore.project import Project
from tests.web.explore.awkward import ARABIC, CHINESE, ENTITY, LABEL, LONG, UNBROKEN
from tests.web.explore.conftest import Window
from tests.web.explore.test_chromium import Look, query_of

pytestmark = pytest.mark.slow
FACTS = "MATCH (e:Entity)-[f:FACT]->(o:Entity) WHERE e.id = $id RETURN e, f, o ORDER BY f.row"


def address(query: str, **more: str) -> str:
    """Where the page runs a query."""
    return f"/cypher?{urlencode({'q': query, **more})}"


def suggested(window: Window) -> list[str]:
    """The words of the list, once it is there."""
    window.page.locator("#completions [role=option]").first.wait_for()
    return window.page.locator("#completions [role=option] .mono").all_inner_texts()


def said_no(window: Window) -> None:
    """What the browser complains about where the page answers with 400, 409 or 503 is what was asked for."""
    window.allowed.append("status of (400|404|503)")


def test_a_query_is_written_with_keys_alone_and_run(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page, keys = window.open("/"), window.page.keyboard
    keys.press("c")
    page.wait_for_url("**/cypher")
    box = page.get_by_role("textbox", name="Query")
    expect(box).to_be_focused()
    keys.type("mat")
    assert suggested(window)[0] == "MATCH"
    keys.press("Tab")
    expect(box).to_have_value("MATCH")
    keys.type(" (e:En")
    assert suggested(window) == ["Entity"]
    keys.press("Tab")
    expect(box).to_be_focused()
    keys.type(")-[f:")
    assert suggested(window)[:3] == ["FACT", "MENTIONS", "ABOUT"]
    assert box.get_attribute("aria-activedescendant") is None
    for key, chosen in (
        ("ArrowDown", "FACT"),
        ("ArrowDown", "MENTIONS"),
        ("ArrowUp", "FACT"),
        ("ArrowUp", "DEPENDS_ON"),
        ("ArrowDown", "FACT"),
    ):
        keys.press(key)
        active = page.locator(f"#{box.get_attribute('aria-activedescendant')}")
        expect(active.locator(".mono")).to_have_text(chosen)
        expect(active).to_have_attribute("aria-selected", "true")
        assert page.locator("#completions [aria-selected=true]").count() == 1
    keys.press("Enter")
    keys.type("]->(o:Entity)\nWHERE e.la")
    assert suggested(window) == ["label"]
    keys.press("Escape")
    expect(page.locator("#completions")).to_be_hidden()
    expect(box).to_be_focused()
    keys.type("bel = $na")
    keys.press("Tab")  # nothing is suggested, so Tab goes on
    expect(page.get_by_role("textbox", name="Parameters")).to_be_focused()
    keys.type("name=Portugal")
    keys.press("Shift+Tab")
    keys.press("Control+End")
    keys.press("Control+Space")
    assert suggested(window) == ["name"]
    keys.press("Tab")
    keys.type("\nRETURN e, f, o")
    expect(box).to_have_value("MATCH (e:Entity)-[f:FACT]->(o:Entity)\nWHERE e.label = $name\nRETURN e, f, o")
    keys.press("Control+Enter")
    page.wait_for_selector("table.rows")
    assert query_of(window)["params"] == ["name=Portugal"]
    assert "e:Q45" in window.nodes()
    expect(box).to_be_focused()
    keys.press("Control+z")
    assert "RETURN e, f, o" not in box.input_value() or box.input_value().count("\n") < 2
    keys.press("Escape")
    keys.press("g")
    expect(page.locator("#graph")).to_be_focused()
    keys.press("c")
    expect(box).to_be_focused()


def test_enter_ends_a_line_unless_a_suggestion_was_chosen(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/cypher")
    page.keyboard.type("ret")
    assert "RETURN" in suggested(window)
    page.keyboard.press("Enter")
    expect(page.locator("#cypher")).to_have_value("ret\n")
    page.keyboard.press("Backspace")
    page.keyboard.press("Control+Space")
    suggested(window)
    page.locator("#completions [role=option]", has_text="RETURN").click()
    expect(page.locator("#cypher")).to_have_value("RETURN")
    expect(page.locator("#cypher")).to_be_focused()


def test_a_word_behind_signs_of_two_units_is_completed_in_its_place(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/cypher")
    page.locator("#cypher").fill("MATCH (e:Entity) WHERE e.label = '😀😀国' AND e.la")
    page.keyboard.press("Control+End")
    page.keyboard.press("Control+Space")
    assert suggested(window) == ["label"]
    page.keyboard.press("Tab")
    expect(page.locator("#cypher")).to_have_value("MATCH (e:Entity) WHERE e.label = '😀😀国' AND e.label")


def test_a_named_query_is_opened_changed_and_run(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/cypher")
    page.keyboard.type("facts_ab")
    assert suggested(window) == ["facts_about"]
    page.keyboard.press("Tab")
    page.wait_for_url("**/cypher?name=facts_about")
    expect(page.get_by_role("textbox", name="Parameters")).to_have_value("entity=\nlimit=50")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#trouble [role=alert]")).to_contain_text("The parameter 'entity' has no value")
    page.get_by_role("textbox", name="Parameters").fill("entity=Q45\nlimit=2")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("table.rows tbody tr")).to_have_count(2)
    expect(page.locator("#trouble [role=alert]")).to_have_count(0)
    window.open("/query?name=facts_about&p.entity=Q45&p.limit=3&run=1")
    page.get_by_role("link", name="Change it in the Cypher box").click()
    expect(page.get_by_role("textbox", name="Parameters")).to_have_value("entity=Q45\nlimit=3")
    window.open("/queries")
    page.get_by_role("link", name="Change hubs in the Cypher box").click()
    expect(page.get_by_role("textbox", name="Query")).to_have_value(re.compile(r"^MATCH \(e:Entity\)"))
    said_no(window)


def test_a_mistake_stands_above_the_query_which_stays(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open(address(FACTS, params="id=Q45"))
    page.wait_for_selector("table.rows")
    page.locator("#cypher").fill("MATCH (e:Entity) SET e.label = 'x' RETURN e")
    page.get_by_role("textbox", name="Parameters").fill("")
    page.get_by_role("button", name="Run").click()
    trouble = page.locator("#trouble [role=alert]")
    expect(trouble).to_contain_text("only reading is allowed here")
    assert trouble.bounding_box()["y"] < page.locator("#cypher").bounding_box()["y"]  # type: ignore[index]
    expect(page.locator("#cypher")).to_have_value("MATCH (e:Entity) SET e.label = 'x' RETURN e")
    expect(page.locator("table.rows")).to_have_count(0)
    page.go_back()
    expect(page.locator("#cypher")).to_have_value(FACTS)
    page.wait_for_selector("table.rows")
    said_no(window)


HOSTILE = "MATCH (e:Entity) WHERE e.id <> '<img src=x onerror=alert(1)>' RETURN e.id LIMIT 1"


def test_queries_that_ran_are_kept_in_the_browser(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/cypher")
    earlier = page.locator("#earlier")
    expect(earlier).to_be_hidden()
    page = window.open(address(FACTS, params="id=Q45"))
    box, run = page.get_by_role("textbox", name="Query"), page.get_by_role("button", name="Run")
    expect(earlier).to_be_visible()
    page.get_by_role("textbox", name="Parameters").fill("")
    box.fill(HOSTILE)
    run.click()
    earlier.locator("summary").click()
    result = earlier.locator("li button")
    expect(result).to_have_count(2)
    expect(result.first).to_have_text(HOSTILE)
    assert earlier.locator("img").count() == 0
    expect(result.last).to_have_text(f"{FACTS}  (id=Q45)")
    box.fill("MATCH (e:Nothing) RETURN e")
    run.click()
    page.locator("#trouble .trouble").wait_for()
    expect(result).to_have_count(2)
    result.last.click()
    expect(box).to_have_value(FACTS)
    expect(page.get_by_role("textbox", name="Parameters")).to_have_value("id=Q45")
    run.click()
    expect(result.first).to_have_text(f"{FACTS}  (id=Q45)")
    expect(result).to_have_count(2)
    # What somebody else put there is taken for nothing but text.
    for stored in ('[{"q": "<b>x</b>", "params": ""}, 7, {"q": 1}, null]', "{", '"x"'):
        page.evaluate("text => localStorage.setItem('kgqa-cypher', text)", stored)
        page = window.open("/cypher")
        assert page.locator("#earlier li").all_text_contents() == (["<b>x</b>"] if "b>" in stored else [])
    page = window.open(address(HOSTILE))
    page.locator("#earlier summary").click()
    page.get_by_role("button", name="Forget them").click()
    expect(page.locator("#earlier")).to_be_hidden()
    page = window.open("/cypher")
    expect(page.locator("#earlier")).to_be_hidden()
    said_no(window)


def test_a_link_reopens_it_and_files_are_saved(wikidata: Project, look: Look, tmp_path: Path) -> None:
    window = look(wikidata, accept_downloads=True)
    page = window.open("/cypher")
    page.locator("#cypher").fill("MATCH (e:Entity) RETURN e.id AS id, e.label AS label ORDER BY e.row")
    page.get_by_label("Rows").fill("7")
    page.get_by_label("Seconds").fill("5")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("table.rows tbody tr")).to_have_count(7)
    expect(page.locator("#answer [role=status]").first).to_contain_text("Cut: there are more")
    link = page.url
    result = page.locator("table.rows").inner_text()
    window.open("/")
    page.goto(link)
    assert page.locator("table.rows").inner_text() == result
    expect(page.get_by_label("Seconds")).to_have_value("5")
    for form in ("CSV", "JSON"):
        with page.expect_download() as waiting:
            page.get_by_role("link", name=form).click()
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        assert path.name == f"cypher-first-7-rows.{form.lower()}"
        text = path.read_text("utf-8")
        rows = json.loads(text) if form == "JSON" else list(csv.DictReader(text.splitlines()))
        assert len(rows) == 7
        assert rows[0].keys() == {"id", "label"}


@pytest.mark.parametrize("width", [390, 1024])
def test_it_works_without_scripts(width: int, worldly: Project, look: Look) -> None:
    window = look(worldly, java_script_enabled=False, color_scheme="dark")
    window.page.set_viewport_size({"width": width, "height": 900})
    page = window.open("/cypher")
    expect(page.locator("#cypher-help .scripts")).to_be_hidden()
    page.locator("#cypher").fill("MATCH (e:Entity)-[f:FACT]->(o:Entity)\nWHERE e.id = $id\nRETURN e, f, o")
    page.get_by_role("textbox", name="Parameters").fill("id=Q45")
    page.get_by_role("button", name="Run").click()
    page.wait_for_url("**/cypher?q=*")
    assert page.locator("table.rows tbody tr").count() > 1
    expect(page.locator("table.rows a").first).to_have_text(ARABIC)
    expect(page.locator(".still svg" if width > 860 else ".still .outline")).to_be_visible()
    page.locator("#cypher").fill("CREATE (n)")
    page.get_by_role("textbox", name="Parameters").fill("")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#trouble [role=alert]")).to_contain_text("only reading is allowed here")
    expect(page.locator("#cypher")).to_have_value("CREATE (n)")
    said_no(window)


def test_a_server_that_has_gone_is_said_once_and_not_any_more(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    for path, button in ((address(FACTS, params="id=Q45"), "Run"), ("/query?name=hubs", "Run")):
        page = window.open(path)
        page.wait_for_selector("table.rows")
        page.route("**/cypher?*", lambda route: route.abort())
        page.route("**/query?*", lambda route: route.abort())
        page.get_by_role("button", name=button).click()
        expect(page.locator("#gone")).to_have_text("The server does not answer; is kgqa explore still running?")
        page.unroute("**/cypher?*")
        page.unroute("**/query?*")
        page.get_by_role("button", name=button).click()
        expect(page.locator("#gone")).to_be_hidden()
    window.allowed.append("ERR_FAILED|htmx:(sendError|afterRequest)")


def test_names_and_queries_run_nothing(awkward: Project, look: Look) -> None:
    window = look(awkward)
    query = "MATCH (e:Entity)-[f:FACT]-(o:Entity) WHERE e.id = $id RETURN e, f, o, e.label AS `<img src=x onerror=owned=1>` // </textarea>"
    page = window.open(address(query, params=f"id={json.dumps(ENTITY)}"))
    window.nodes()
    assert window.graph("cy.nodes('.root').data('full')") == LABEL
    expect(page.locator("table.rows td").first).to_have_text(LABEL)
    expect(page.locator("#cypher")).to_have_value(query)
    page.locator("#cypher").fill("MATCH (`<img src=x onerror=window.owned=1>`:Entity) RETURN e.")
    page.keyboard.press("Control+End")
    page.keyboard.press("Control+Space")
    suggested(window)
    assert page.evaluate("window.owned") is None
    assert page.locator("main img").count() == 0


@pytest.mark.parametrize("width", [390, *(pytest.param(width, marks=pytest.mark.thorough) for width in (1024, 1600))])
def test_names_of_any_script_and_length_have_room(width: int, worldly: Project, look: Look) -> None:
    window = look(worldly)
    window.page.set_viewport_size({"width": width, "height": 900})
    query = "MATCH (e:Entity) WHERE e.label IN $names RETURN e, e.label AS label, [e.label, e.id] AS both ORDER BY e.row"
    page = window.open(address(query, params=f"names={json.dumps([ARABIC, CHINESE, UNBROKEN, LONG], ensure_ascii=False)}"))
    window.nodes()
    labels = page.locator("table.rows td:nth-child(2)").all_inner_texts()
    assert set(labels) == {ARABIC, CHINESE, UNBROKEN, LONG}
    assert window.overflow() <= 0
    page.locator("#cypher").fill(f"MATCH ({UNBROKEN}:Entity) RETURN Llan")
    page.keyboard.press("Control+End")
    page.keyboard.press("Control+Space")
    assert suggested(window) == [UNBROKEN]
    assert window.overflow() <= 0
    box: Any = page.locator("#completions").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


def test_the_field_of_a_named_query_suggests_names(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page, keys = window.open("/query?name=bridges_between"), window.page.keyboard
    page.locator("#p-entity").press_sequentially("portug", delay=20)
    expect(page.locator("#p-entity-suggestions [role=option]").first).to_contain_text("Portugal")
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(page.locator("#p-entity")).to_have_value("Q45")
    expect(page.locator("#p-entity")).to_be_focused()
    assert page.url.endswith("/query?name=bridges_between")
    page.locator("#p-other").press_sequentially("spa", delay=20)
    page.locator("#p-other-suggestions [role=option]", has_text="Spain").first.click()
    page.get_by_role("button", name="Run").click()
    page.wait_for_selector("table.rows")
    assert query_of(window)["p.other"] == ["Q29"]


def test_it_works_on_the_server_too(on_server: Project, look: Look) -> None:
    window = look(on_server)
    page = window.open(address(FACTS, params="id=Q45"))
    assert "e:Q45" in window.nodes()
    page.get_by_role("button", name="Run").click()
    page.wait_for_selector("table.rows")
    expect(page.locator("#trouble [role=alert]")).to_have_count(0)
