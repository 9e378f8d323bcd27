"""Pictures in a real browser: labels that can be read, relations by colour, and the steps of a composed question."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import expect

from kgqa.records import Instance
from kgqa.runs.workspace import Workspace
from kgqa.web.explore.chains import steps_picture
from kgqa.web.explore.project import Project, open_project
from tests.collection.composed import composed
from tests.store.steps_truth import SHAPES, composed_set
from tests.web.explore.conftest import Window
from tests.web.explore.test_chromium import first_sample

Look = Callable[..., Window]
LEAST = {"nodes": 10.0, "edges": 8.5}
"""Pixels of letters that everybody can read."""


@pytest.fixture(scope="module")
def with_steps(seed_wikidata: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The seed workspace with a set of composed questions of all shapes."""
    folder = Path(shutil.copytree(seed_wikidata, tmp_path_factory.mktemp("steps") / "w"))
    composed_set(folder / "datasets" / "steps", Workspace(folder))
    project = open_project(folder)
    yield project
    project.close()


def letters(window: Window, kind: str) -> float:
    """The size of the smallest label that is drawn, in pixels of the window."""
    labels = "['label', 'source-label', 'target-label'].some(name => one.style(name))"
    return float(
        window.graph(f"Math.min(99, ...cy.{kind}().filter(one => {labels}).map(one => one.numericStyle('font-size') * cy.zoom()))")
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        "/entity?id=Q45&open=4.6.4.8~e:Q97",
        "/paths/facts?from=Q45&to=Q17",
        "sample",
        *(
            pytest.param(path, marks=pytest.mark.thorough)
            for path in (
                "/entity?id=Q142",
                "/document?id=seed:75",
                "/bridges?from=Q45&to=Q29",
                "/query?name=facts_about&p.entity=Q142&run=1",
            )
        ),
    ],
)
def test_labels_can_be_read_in_a_window_of_1024_pixels(wikidata: Project, look: Look, path: str) -> None:
    window = look(wikidata)
    window.page.set_viewport_size({"width": 1024, "height": 768})
    window.open(first_sample(wikidata) if path == "sample" else path)
    assert len(window.nodes()) > 2
    assert letters(window, "nodes") >= LEAST["nodes"]
    assert letters(window, "edges") >= LEAST["edges"]
    assert window.overflow() <= 0
    # Whatever is too large to be read as a whole can be seen as a whole.
    window.page.locator("[data-graph=fit]").click()
    box = window.graph("(b => [b.x1, b.y1, b.x2 - cy.width(), b.y2 - cy.height()])(cy.elements().renderedBoundingBox())")
    assert box[0] >= -1
    assert box[1] >= -1
    assert box[2] <= 1
    assert box[3] <= 1


@pytest.mark.slow
def test_each_relation_has_a_colour_that_the_legend_names(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/entity?id=Q45")
    window.nodes()
    drawn = dict(window.graph("cy.edges('.fact').map(e => [e.data('full'), e.style('line-color')])"))
    assert len(drawn) > 2
    assert len(set(drawn.values())) == len(drawn)
    buttons = page.locator("#relations button")
    assert sorted(buttons.all_inner_texts()) == sorted(drawn)
    for relation, colour in drawn.items():
        swatch = page.locator(f"#relations [data-relation='{relation}'] i")
        assert swatch.evaluate("one => getComputedStyle(one).backgroundColor").replace(" ", "") == colour.replace(" ", "")
    # Others have their own in the dark.
    page.keyboard.press("t")
    dark = dict(window.graph("cy.edges('.fact').map(e => [e.data('full'), e.style('line-color')])"))
    assert not set(dark.values()) & set(drawn.values())
    assert window.graph("cy.edges('.mention').filter(e => e.className().join(' ').includes('tone')).length") == 0


@pytest.mark.slow
def test_a_relation_can_be_hidden_and_shown_again(wikidata: Project, look: Look) -> None:
    window = look(wikidata)
    page = window.open("/entity?id=Q45")
    before = window.nodes()
    assert "e:Q597" in before
    capital = page.locator("#relations [data-relation='capital']")
    expect(capital).to_have_attribute("aria-pressed", "true")
    capital.click()
    expect(capital).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#graph-state")).to_have_text("capital: hidden.")
    assert set(before) - set(window.nodes()) == {"e:Q597"}
    assert window.graph("cy.edges().filter(e => e.data('full') === 'capital').length") == 0
    assert parse_qs(urlsplit(page.url).query)["hide"] == ["capital"]
    page.reload()
    assert set(before) - set(window.nodes()) == {"e:Q597"}
    # With the keyboard alone.
    page.locator("#relations [data-relation='capital']").focus()
    page.keyboard.press("Enter")
    assert sorted(window.nodes()) == sorted(before)
    assert "hide" not in parse_qs(urlsplit(page.url).query)


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape", [pytest.param(shape, marks=() if shape in {"2hop", "4hop3"} else pytest.mark.thorough) for shape in SHAPES]
)
def test_the_steps_of_a_composed_question_are_drawn(with_steps: Project, look: Look, shape: str) -> None:
    window = look(with_steps)
    window.page.set_viewport_size({"width": 1024, "height": 768})
    page = window.open("/sample?" + urlencode({"dataset": "steps", "split": "train", "id": f"{shape}__0"}))
    keys, needs = window.nodes(), SHAPES[shape]
    assert [key for key in keys if key.startswith("u:")] == [f"u:{number}" for number in range(1, len(needs) + 1)]
    edges = [tuple(edge) for edge in window.graph("cy.edges().map(e => [e.data('full'), e.data('source'), e.data('target')])")]
    # From the answer of a step an edge leads to each step that needs it.
    answers = {number: [edge[1] for edge in edges if edge[0] == f"#{number}"] for number in range(1, len(needs) + 1)}
    expected = sorted((f"#{need}", f"u:{number}") for number, needed in enumerate(needs, start=1) for need in needed)
    assert sorted((label, target) for label, _, target in edges if label.startswith("#")) == expected
    assert all(key.startswith("e:") for sources in answers.values() for key in sources)
    places = dict(window.graph("cy.nodes().map(n => [n.id(), n.position('y')])"))
    for label, _, target in (edge for edge in edges if edge[0].startswith("#")):
        assert places[f"u:{label[1:]}"] < places[target]
    assert window.graph("cy.nodes('.answer').length") == 1
    assert letters(window, "nodes") >= LEAST["nodes"]
    assert letters(window, "edges") >= LEAST["edges"]
    paper = next(key for key in keys if key.startswith("d:"))
    window.click_node(paper)
    expect(page.locator(".paper.at")).to_have_attribute("data-document", paper)
    expect(page.locator(".toggles").first).to_be_hidden()


def test_steps_without_entities_are_drawn_too() -> None:
    instance: Instance = composed(0)
    picture = steps_picture(instance)
    assert [(node.key, node.layer, node.role) for node in picture.nodes.values()] == [
        ("u:1", 0, ""),
        ("d:p0", 1, "chain"),
        ("a:1", 2, "bridge"),
        ("u:2", 3, ""),
        ("d:p1", 4, "chain"),
        ("a:2", 5, "answer"),
    ]
    assert [(edge.source, edge.target, edge.label) for edge in picture.edges.values()] == [
        ("u:1", "d:p0", "stated in"),
        ("d:p0", "a:1", "answer"),
        ("u:2", "d:p1", "stated in"),
        ("d:p1", "a:2", "answer"),
        ("a:1", "u:2", "#1"),
    ]
