"""Pictures in layers, by scripts and by the server: all of one is in view, no label covers another, no line leads through a node."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from typing import Any

import pytest
from playwright.sync_api import expect

from kgqa.web.explore.layers import Area, Point, label_places, place
from kgqa.web.explore.picture import Edge, Node, Picture
from kgqa.web.explore.project import Project
from kgqa.web.explore.server_svg import server_svg
from tests.web.explore.conftest import Window

Look = Callable[..., Window]
BRIDGES = (
    "Louisiana Purchase", "European Commission", "Missile Technology Control Regime", "Nice", "Mississippi River", "The Straight Story",
    "Marathon Media",
)  # fmt: skip
WOVEN = ("Q45", "Q29", "Q142", "Q183", "Q38", "Q39")
MEASURED = """() => {
    const box = document.getElementById('graph'), cy = box._cyreg.cy, zoom = cy.zoom(), pan = cy.pan();
    const seen = ({x1, y1, x2, y2}) => [x1 * zoom + pan.x, y1 * zoom + pan.y, x2 * zoom + pan.x, y2 * zoom + pan.y];
    const at = ({x, y}) => [x * zoom + pan.x, y * zoom + pan.y];
    const nodes = Object.fromEntries(cy.nodes().map(n => [n.id(), seen(n.boundingBox({includeLabels: false, includeUnderlays: false}))]));
    const edges = cy.edges().filter(e => e.numericStyle('opacity') > 0).map(e => {
        e.boundingBox();
        return {
            ends: [e.data('source'), e.data('target')],
            line: [e.sourceEndpoint(), ...(e.segmentPoints() || []), e.targetEndpoint()].map(at),
            labels: [['main', 'label'], ['source', 'source-label']].filter(([, name]) => e.style(name))
                .map(([place]) => seen(e[0]._private.labelBounds[place])),
        };
    });
    return {room: [0, 0, box.clientWidth, box.clientHeight], nodes, edges};
}"""
STILL = """() => {
    const area = element => (b => [b.left, b.top, b.right, b.bottom])(element.getBoundingClientRect());
    return {
        room: area(document.querySelector('.still')),
        nodes: [...document.querySelectorAll('.still svg rect')].map(area),
        labels: [...document.querySelectorAll('.still svg .label')].map(area),
        lines: [...document.querySelectorAll('.still svg .line')].map(area),
    };
}"""


def crowded() -> Picture:
    """Two ends, what joins them over one bridge or a document, and facts between them in both directions."""
    picture = Picture(root="e:1", layout="flow")
    picture.add(Node(key="e:1", label="United States of America", layer=0, role="start"))
    for at, name in enumerate(BRIDGES):
        picture.add(Node(key=f"d:a{at}", label=f"{BRIDGES[-at]} and more", layer=1))
        picture.add(Node(key=f"e:b{at}", label=name, layer=2, role="bridge"))
        picture.add(Node(key=f"d:c{at}", label="x" * (at + 1), layer=3))
        for document, entity in ((f"d:a{at}", "e:1"), (f"d:a{at}", f"e:b{at}"), (f"d:c{at}", f"e:b{at}"), (f"d:c{at}", "e:2")):
            picture.connect(Edge(source=document, target=entity, kind="mention", label="" if entity == "e:1" else f"1 of {7**at:,}"))
    picture.add(Node(key="d:m", label="Douglas A-26 Invader", layer=2))
    picture.add(Node(key="e:2", label="France", layer=4, role="answer"))
    for document, entity in (("d:m", "e:1"), ("d:m", "e:2"), ("d:a1", "e:2"), ("d:a5", "e:2")):
        picture.connect(Edge(source=document, target=entity, kind="mention", label="1 of 113"))
    for source, target in (("e:1", "e:2"), ("e:2", "e:1")):
        picture.connect(Edge(source=source, target=target, kind="fact", label="military conflicts / combatants · diplomatic relation"))
    return picture


def woven() -> Picture:
    """Six entities of the domain in layers, with a labelled edge between any two of them.

    The keys are of entities that exist: a click on a node fetches its card.
    """
    keys = [f"e:{identifier}" for identifier in WOVEN]
    picture = Picture(root=keys[0], layout="flow")
    for at, key in enumerate(keys):
        picture.add(Node(key=key, label=BRIDGES[at], layer=(at + 1) // 2, role="start" if not at else ""))
    for one, other in [(keys[5], keys[5]), *combinations(picture.nodes, 2)]:
        picture.connect(Edge(source=one, target=other, kind="fact", label="release dates / film release region"))
    return picture


def apart(one: Sequence[float], other: Sequence[float], less: float = 1) -> bool:
    """Whether two areas have no more than ``less`` pixels in common."""
    return one[2] <= other[0] + less or other[2] <= one[0] + less or one[3] <= other[1] + less or other[3] <= one[1] + less


def within(area: Sequence[float], room: Sequence[float]) -> bool:
    return room[0] - 1 <= area[0] and room[1] - 1 <= area[1] and area[2] <= room[2] + 1 and area[3] <= room[3] + 1


def through(line: Sequence[Sequence[float]], area: Sequence[float]) -> bool:
    """Whether a line of straight parts leads through an area."""
    for (x1, y1), (x2, y2) in pairwise(line):
        for step in range(41):
            x, y = x1 + (x2 - x1) * step / 40, y1 + (y2 - y1) * step / 40
            if area[0] + 1 < x < area[2] - 1 and area[1] + 1 < y < area[3] - 1:
                return True
    return False


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("make", [crowded, woven])
def test_the_server_places_lines_and_labels_where_nothing_else_is(make: Callable[[], Picture], down: bool) -> None:
    result = server_svg([make().data()], lambda key: key, is_down=down)
    assert result is not None
    nodes = {box.key: (box.x - box.width / 2, box.y - 13, box.x + box.width / 2, box.y + 13) for box in result.boxes}
    room = (result.left, result.top, result.left + result.width, result.top + result.height)
    assert all(apart(one, other) for one, other in combinations(nodes.values(), 2))
    assert all(within(area, room) for area in nodes.values())
    assert any(line.label for line in result.lines)
    for line, edge in zip(result.lines, make().edges.values(), strict=True):
        points = [(float(x), float(y)) for x, y in re.findall(r"(-?\d+) (-?\d+)", line.path)]
        assert all(within((x, y, x, y), room) for x, y in points)
        for key, area in nodes.items():
            assert key in (edge.source, edge.target) or not through(points, area), (edge, key)
        assert line.full == edge.label


def test_nodes_of_one_layer_are_joined_beside_it_and_lines_with_the_same_ends_side_by_side() -> None:
    placed = place({"a": (0, 60), "b": (0, 90), "c": (1, 50)}, [("a", "b"), ("a", "c"), ("c", "a")], down=False, gap=80)
    beside, forth, back = placed.lines
    assert max(x for x, _ in beside) > 90
    assert [y for _, y in forth] != [y for _, y in back[::-1]]
    assert placed.nodes["c"][0] == 90 + 80 + 25


def test_a_label_that_has_no_room_takes_its_shorter_form_or_none() -> None:
    line: list[Point] = [(0, 0), (100, 0)]
    ends: list[Area] = [(-90, -5, 30, 5), (100, -5, 200, 5)]
    assert label_places([line], [[60.0]], ends) == [(0, (62, 0))]
    assert label_places([line], [[90.0, 20.0]], ends) == [(1, (50, 0))]
    assert label_places([line, line], [[60.0], [60.0]], ends) == [(0, (62, 0)), None]


@pytest.mark.slow
@pytest.mark.parametrize("make", [crowded, woven])
def test_all_of_a_picture_is_in_view_and_can_be_read(
    make: Callable[[], Picture], wikidata: Project, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgqa.web.explore.pages.pathing.paths_picture", lambda *_: make())
    window = look(wikidata)
    for width, height in ((390, 844), (1024, 768), (1600, 900)):
        window.page.set_viewport_size({"width": width, "height": height})
        window.open("/paths/facts?from=Q45&to=Q29")
        window.nodes()
        # What would be too small to read as a whole is shown in part until all of it is asked for.
        is_cut = "0 shows all of it" in window.page.locator("#graph-state").inner_text()
        assert is_cut == (make is crowded and width == 1024)
        if is_cut:
            assert window.graph("cy.zoom()") > 0.8
            window.page.locator("[data-graph=fit]").click()
            expect(window.page.locator("#graph-state")).not_to_contain_text("0 shows all of it")
        result: dict[str, Any] = window.page.evaluate(MEASURED)
        outlined = make is crowded and width == 390
        nodes, labels = result["nodes"], [label for edge in result["edges"] for label in edge["labels"]]
        assert nodes.keys() == make().nodes.keys()
        assert all(within(area, result["room"]) for area in [*nodes.values(), *labels]), width
        assert [pair for pair in combinations([*nodes.values(), *labels], 2) if not apart(*pair)] == [], width
        assert outlined or labels
        for edge in () if outlined else result["edges"]:
            for key, area in nodes.items():
                assert key in edge["ends"] or not through(edge["line"], area), (width, edge, key)
    if make is woven:
        # A chosen node shows the labels that had no room.
        unsaid = window.graph("cy.edges('.unsaid').map(e => [e.data('source'), e.data('full')]).filter(([, full]) => full)")
        key, full = unsaid[0]
        window.click_node(key)
        assert full in window.graph("cy.edges('.lit.unsaid').map(e => e.style('label'))")
        window.page.wait_for_selector("#card > *")


@pytest.mark.slow
@pytest.mark.parametrize("make", [crowded, woven])
def test_without_scripts_too(make: Callable[[], Picture], wikidata: Project, look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.web.explore.pages.pathing.paths_picture", lambda *_: make())
    window = look(wikidata, java_script_enabled=False)
    for width, height in ((1024, 768), (1600, 900)):
        window.page.set_viewport_size({"width": width, "height": height})
        result = window.open("/paths/facts?from=Q45&to=Q29").evaluate(STILL)
        assert len(result["nodes"]) == len(make().nodes)
        assert all(within(area, result["room"]) for area in (*result["nodes"], *result["labels"], *result["lines"])), width
        assert [pair for pair in combinations([*result["nodes"], *result["labels"]], 2) if not apart(*pair)] == [], width
    window.page.set_viewport_size({"width": 390, "height": 844})
    page = window.open("/paths/facts?from=Q45&to=Q29")
    last, following = page.locator(".still li").last.bounding_box(), page.locator(".panel").bounding_box()
    assert last
    assert following
    assert last["y"] + last["height"] <= following["y"]
