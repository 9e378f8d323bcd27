"""The page in a real browser: with the mouse, with keys alone, narrow and wide, dark and light; and nothing in the data runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Route, expect

from kgqa.web.explore.datasets import datasets, samples
from kgqa.web.explore.project import Project
from tests.web.explore.awkward import ENTITY, LABEL, RELATION, TEXT, TITLE
from tests.web.explore.conftest import Window

pytestmark = pytest.mark.slow
Look = Callable[..., Window]
expect.set_options(timeout=60_000)  # as long as for the page's other waits
DRAWN = "((document.getElementById('graph')._cyreg || {}).cy || {nodes: () => []}).nodes().filter(n => !n.hasClass('more')).length"
SAME, MORE = f"n => {DRAWN} === n", f"n => {DRAWN} > n"


def first_sample(project: Project, split: str = "test") -> str:
    """The address of the first sample of a split."""
    dataset = datasets(project.workspace.path)[0]
    line = samples(dataset, split).samples[0]
    return "/sample?" + urlencode({"dataset": dataset.name, "split": split, "id": line.id})


def query_of(window: Window) -> dict[str, list[str]]:
    """The parameters in the address."""
    return parse_qs(urlsplit(window.page.url).query)


def test_an_entity_is_found_while_typing_and_its_neighbourhood_drawn(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/")
    page.get_by_role("combobox", name="Find an entity or document").press_sequentially("lisb", delay=20)
    option = page.locator("#suggestions [role=option]").first
    expect(option).to_contain_text("Lisbon")
    option.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Lisbon")
    assert query_of(window)["id"] == ["Q597"]
    keys = window.nodes()
    assert keys[0] == "e:Q597"
    assert "e:Q45" in keys
    assert "d:seed:75" in keys


def test_a_click_expands_and_the_way_back_works(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/entity?id=Q597")
    before = window.nodes()
    window.click_node("e:Q45")
    window.expanded("e:Q45")
    after = window.nodes()
    assert set(before) < set(after)
    assert query_of(window)["open"] == ["4.6.4.8~e:Q45"]
    expect(page.locator("#card h1")).to_have_text("Portugal")
    page.reload()
    assert sorted(window.nodes()) == sorted(after)
    page.go_back()
    page.wait_for_url(lambda url: "open" not in url)
    page.wait_for_selector("#graph[data-drawn]")
    window.until(SAME, len(before))
    assert sorted(window.nodes()) == sorted(before)
    page.go_forward()
    page.wait_for_url(lambda url: "open" in url)
    window.until(SAME, len(after))


def test_a_graph_that_is_gone_draws_no_more(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/entity?id=Q597")
    window.nodes()
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/api/neighbours*", hold)
    with page.expect_request("**/api/neighbours*"):
        window.click_node("e:Q45")
    page.evaluate(
        """() => {
            const old = document.getElementById("graph"), box = old.cloneNode(false);
            window.gone = old._cyreg.cy;
            delete box.dataset.begun;
            delete box.dataset.drawn;
            old.replaceWith(box);
            document.dispatchEvent(new Event("htmx:afterSettle"));
        }"""
    )
    before = window.nodes()
    assert page.evaluate("window.gone.destroyed()")
    state = page.locator("#graph-state").inner_text()
    with page.expect_response("**/api/neighbours*"):
        waiting[0].continue_()
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 400)))")
    assert window.nodes() == before
    assert page.locator("#graph-state").inner_text() == state


def test_what_is_hidden_is_said_and_can_be_shown(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/entity?id=Q46")
    shown = len(window.nodes())
    expect(page.locator("#graph-state")).to_contain_text("Hidden:")
    chip = window.graph("cy.nodes('.more').map(n => [n.id(), n.data('full')])")[0]
    assert re.fullmatch(r"\+ [\d,]+ (facts?|documents?)", chip[1])
    window.click_node(chip[0])
    window.until(MORE, shown)
    assert "open" in query_of(window)


def test_bridges_between_two_entities(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/bridges")
    page.get_by_label("From").press_sequentially("portug", delay=20)
    option = page.locator("#from-suggestions [role=option]").first
    expect(option).to_contain_text("Portugal")
    option.click()
    page.wait_for_url("**/bridges?from=Q45")
    page.get_by_label("To", exact=True).press_sequentially("spain", delay=20)
    page.keyboard.press("Enter")
    page.wait_for_url("**to=Q29")
    keys = window.nodes()
    assert {"e:Q45", "e:Q29"} <= set(keys)
    rows = page.locator("table.bridges tbody tr")
    assert rows.count() > 0
    assert window.graph("cy.nodes('.bridge').length") == min(rows.count(), 7)
    window.click_node(window.graph("cy.nodes('.bridge')[0].id()"))
    expect(page.locator("#card h1")).not_to_be_empty()


def test_suggestions_do_not_change_under_the_pointer(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/bridges")
    page.get_by_label("From").press_sequentially("portug", delay=20)
    option = page.locator("#from-suggestions [role=option]").first
    expect(option).to_contain_text("Portugal")
    box = option.bounding_box()
    assert box
    page.mouse.move(box["x"] + 20, box["y"] + 8)
    page.mouse.down()
    with page.expect_response("**/suggest*"):
        page.evaluate("const f = document.getElementById('from'); f.value = 'spain'; f.dispatchEvent(new Event('input'))")
    window.until("!document.querySelector('.htmx-request')")
    page.mouse.up()
    page.wait_for_url("**/bridges?from=Q45")


def test_enter_waits_for_the_suggestions_of_what_is_written(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/bridges")
    page.get_by_label("From").press_sequentially("portug", delay=20)
    expect(page.locator("#from-suggestions [role=option]").first).to_contain_text("Portugal")
    page.get_by_label("From").fill("spain")
    page.keyboard.press("Enter")
    page.wait_for_url("**/bridges?from=Q29")


def test_enter_takes_nothing_that_was_not_written_then(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/bridges")
    with page.expect_response("**/suggest*zzzzqq*"):
        page.get_by_label("From").press_sequentially("zzzzqq", delay=20)
        page.keyboard.press("Enter")
    window.until("!document.querySelector('.htmx-request')")
    page.get_by_label("From").fill("spain")
    expect(page.locator("#from-suggestions [role=option]").first).to_contain_text("Spain")
    page.evaluate("() => new Promise(done => setTimeout(done, 300))")
    assert page.url.endswith("/bridges")


def test_a_sample_shows_its_chain_and_marks_its_documents(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/datasets")
    page.get_by_role("link", name="test").click()
    page.locator("#listed [data-item]").first.click()
    window.nodes()
    chain = window.graph("cy.edges('.chain').map(e => [e.source().id(), e.target().id()])")
    assert len(chain) in {2, 4, 6}
    assert all(one[1] == other[0] for one, other in pairwise(chain))
    documents = [key for _, key in chain if key.startswith("d:")]
    steps = page.locator(".paper.on-chain .step").all_inner_texts()
    assert steps == [str(number) for number in range(1, len(documents) + 1)]
    assert page.locator(".paper.on-chain .mention.answer").count() > 0
    answer = page.locator(".candidates .answer").inner_text()
    assert window.graph("cy.nodes('.answer').map(n => n.data('full'))")[0] in answer
    window.click_node(documents[-1])
    expect(page.locator(".paper.at")).to_have_attribute("data-document", documents[-1])
    page.get_by_role("link", name="masked").click()
    expect(page.locator(".candidates")).to_contain_text("___MASK")
    page.keyboard.press("n")
    page.wait_for_url(lambda url: "masked=true" in url and first_sample(wikidata).split("id=")[1] not in url)


def test_a_named_query_gives_rows_and_a_graph(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/queries")
    page.get_by_role("link", name=re.compile("^facts_about")).click()
    page.locator("#p-entity").fill("Q45")
    page.get_by_role("button", name="Run").click()
    page.wait_for_selector("table.rows")
    assert query_of(window)["p.entity"] == ["Q45"]
    rows = page.locator("table.rows tbody tr").count()
    assert rows > 2
    assert "e:Q45" in window.nodes()
    page.locator("#p-limit").fill("2")
    page.keyboard.press("Enter")
    expect(page.locator("table.rows tbody tr")).to_have_count(2)
    page.go_back()
    expect(page.locator("table.rows tbody tr")).to_have_count(rows)
    page.locator("table.rows a").first.click()
    expect(page).to_have_url(re.compile("/entity"))


def test_keys_alone_are_enough(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/")
    keys = page.keyboard
    keys.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    keys.press("/")
    expect(page.locator("#search")).to_be_focused()
    keys.type("lisb", delay=20)
    page.locator("#suggestions [role=option]").first.wait_for()
    keys.press("ArrowDown")
    expect(page.locator("#suggestions [role=option]").first).to_be_focused()
    keys.press("ArrowUp")
    expect(page.locator("#search")).to_be_focused()
    keys.press("Escape")
    expect(page.locator("#suggestions")).to_be_hidden()
    keys.press("/")
    keys.press("Enter")
    page.wait_for_url("**/find?q=lisb")
    keys.press("j")
    expect(page.locator("main [data-item]").first).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    keys.press("j")
    keys.press("k")
    keys.press("Enter")
    page.wait_for_url("**/entity?id=Q597")
    window.nodes()
    keys.press("g")
    expect(page.locator("#graph")).to_be_focused()
    keys.press("ArrowRight")
    result = window.graph("cy.nodes('.at')[0].id()")
    assert result != "e:Q597"
    assert window.graph("cy.nodes('.at')[0].position('x') > cy.getElementById('e:Q597').position('x')")
    for _ in range(8):
        if result.startswith("e:"):
            break
        keys.press("ArrowDown")
        result = window.graph("cy.nodes('.at')[0].id()")
    before = len(window.nodes())
    keys.press("Enter")
    window.expanded(result)
    assert len(window.nodes()) >= before
    keys.press("Enter")
    window.until("key => !document.getElementById('graph')._cyreg.cy.getElementById(key).hasClass('opened')", result)
    assert len(window.nodes()) == before
    for key in ("+", "-", "0"):
        keys.press(key)
    keys.press("o")
    page.wait_for_url(lambda url: "Q597" not in url)
    keys.press("s")
    page.wait_for_url(re.compile(r":\d+/$"))


BOX = "/cypher?" + urlencode(
    {"q": "MATCH (e:Entity)-[f:FACT]->(o:Entity) WHERE e.id = $id RETURN e, f, o, o.label AS label", "params": "id=Q45"}
)
ADDRESSES = (
    "/", "/find?q=o", "/entity?id=Q45", "/entity?id=Q46&open=4.6.4.8~e:Q45", "/document?id=seed:1", "/bridges", "/bridges?from=Q45&to=Q29",
    "/datasets", "/dataset?name=wikihop", "/queries", "/query?name=facts_about&run=1&p.entity=Q45", "/cypher", BOX, "/nothing",
)  # fmt: skip


@pytest.mark.parametrize(
    ("scheme", "size"),
    [
        ("light", (400, 800)),
        ("dark", (1280, 800)),
        *(pytest.param(*both, marks=pytest.mark.thorough) for both in (("light", (1280, 800)), ("dark", (400, 800)))),
    ],
)
def test_narrow_and_wide_dark_and_light(scheme: Any, size: tuple[int, int], wikidata: Project, look: Look) -> None:
    window = look(wikidata, color_scheme=scheme)
    window.page.set_viewport_size({"width": size[0], "height": size[1]})
    for address in (*ADDRESSES, first_sample(wikidata), first_sample(wikidata) + "&every=true"):
        page = window.open(address)
        page.wait_for_load_state("networkidle")
        assert window.overflow() <= 0, address
        if page.locator("#graph").count():
            window.nodes()
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number).reduce((a, b) => a + b) < 200")
        assert dark == (scheme == "dark")
    # A page that says 404 is what was asked for.
    window.allowed.append("404")


def test_the_colours_can_be_turned_and_stay(wikidata: Project, look: Look) -> None:
    window = look(wikidata, color_scheme="light")
    page = window.open("/entity?id=Q45")
    window.nodes()
    light = window.graph("cy.nodes('.document')[0].style('background-color')")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert window.graph("cy.nodes('.document')[0].style('background-color')") != light
    window.open("/datasets")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("button", name="Dark or light").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


BOXES = """cy.nodes().map(n => {
    const b = n.boundingBox({includeLabels: false, includeUnderlays: false});
    return [b.x1, b.y1, b.x2, b.y2];
})"""


def test_labels_do_not_lie_on_one_another(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    for size in ((1280, 800), (400, 800)):
        window.page.set_viewport_size({"width": size[0], "height": size[1]})
        for address in (
            "/entity?id=Q46",
            "/entity?id=Q45&open=4.6.4.8~e:Q46&open=4.6.4.8~e:Q597",
            "/bridges?from=Q45&to=Q29",
            first_sample(wikidata),
        ):
            window.open(address)
            window.nodes()
            boxes = window.graph(BOXES)
            for at, one in enumerate(boxes):
                for other in boxes[at + 1 :]:
                    assert one[2] <= other[0] + 1 or other[2] <= one[0] + 1 or one[3] <= other[1] + 1 or other[3] <= one[1] + 1, (
                        address,
                        one,
                        other,
                    )


def test_an_outline_names_the_fact_that_leads_to_a_node(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    window.page.set_viewport_size({"width": 390, "height": 900})
    window.open("/entity?id=Q45")
    window.nodes()
    said = dict(window.graph("cy.nodes().map(n => [n.id(), n.data('label')])"))
    leads = window.graph("cy.edges('.fact').map(e => [e.data('branch'), e.data('full')])")
    named = {key: label.rpartition(" · ")[2].rstrip("…") for key, label in said.items() if " · " in label}
    assert named
    for key, relation in named.items():
        assert any(branch == key and full.startswith(relation) for branch, full in leads), (key, relation)


def test_names_and_texts_run_nothing(awkward: Project, look: Look) -> None:
    window = look(awkward)
    entity = urlencode({"id": ENTITY})
    for address in (
        f"/entity?{entity}", "/find?q=onerror", "/document?id=seed:1", "/", f"/bridges?{urlencode({'from': ENTITY, 'to': 'Q29'})}",
        f"/query?name=facts_about&run=1&{urlencode({'p.entity': ENTITY})}",
    ):  # fmt: skip
        page = window.open(address)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.owned") is None, address
        assert page.locator("img, main svg, main script:not([type='application/json'])").count() == 0
    page = window.open(f"/entity?{entity}")
    expect(page.get_by_role("heading", level=1)).to_have_text(LABEL)
    window.nodes()
    assert window.graph("cy.nodes('.root').data('full')") == LABEL
    assert RELATION in window.graph("cy.edges().map(e => e.data('full'))")
    window.click_node("d:seed:1")
    expect(page.locator("#card h1")).to_have_text(TITLE)
    page = window.open("/document?id=seed:1")
    expect(page.locator(".text")).to_have_text(TEXT)
    page.locator("#search").press_sequentially("<img", delay=20)
    expect(page.locator("#suggestions .name").first).to_have_text(LABEL)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/entity?id=*")
    expect(page.get_by_role("heading", level=1)).to_have_text(LABEL)
    # Opened by a click in somebody else's graph, its key goes through the address and back.
    window.open("/entity?id=Q46")
    window.nodes()
    if f"e:{ENTITY}" in window.nodes():
        window.click_node(f"e:{ENTITY}")
        window.expanded(f"e:{ENTITY}")
        items = sorted(window.nodes())
        window.page.reload()
        assert sorted(window.nodes()) == items
    assert window.page.evaluate("window.owned") is None


def test_a_server_that_has_gone_is_said(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/entity?id=Q597")
    window.nodes()
    page.route("**/api/**", lambda route: route.abort())
    window.click_node("e:Q45")
    expect(page.locator("#graph-state")).to_have_text("The server does not answer; is kgqa explore still running?")
    window.allowed.append("ERR_FAILED")


def test_it_works_on_the_server_too(on_server: Project, look: Look) -> None:
    window = look(on_server)
    page = window.open("/find?q=portugal")
    page.locator("main [data-item]").first.click()
    assert "e:Q597" in window.nodes()
    window.click_node("e:Q597")
    window.expanded("e:Q597")
    window.open(first_sample(on_server))
    assert len(window.nodes()) >= 3
