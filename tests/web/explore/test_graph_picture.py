"""Nodes and relationships of an answer as a picture: every shape that a store returns, and what cannot be drawn."""

from __future__ import annotations

from typing import Any

from kgqa.web.explore.graph_picture import graph_picture, picture_of


def node(name: str, of: str = "Entity", /, **properties: Any) -> dict[str, Any]:
    return {"labels": [of], "properties": {"id": name, **properties}}


def relationship(kind: str, start: str | None, end: str | None, **properties: Any) -> dict[str, Any]:
    return {"type": kind, "start": start, "end": end, "properties": properties}


def test_a_path_is_drawn_layer_by_layer() -> None:
    path = {
        "nodes": [node("Q1", label="Gabon"), node("7", "Document", title="Libreville"), node("Q2", label=None)],
        "relationships": [relationship("MENTIONS", "7", "Q1"), relationship("MENTIONS", "7", "Q2")],
    }
    picture = picture_of([{"p": path, "length": 2}])
    assert picture is not None
    assert [(entry.key, entry.label, entry.layer) for entry in picture.nodes.values()] == [
        ("e:Q1", "Gabon", 0),
        ("d:7", "Libreville", 1),
        ("e:Q2", "Q2", 2),
    ]
    assert {(edge.source, edge.target, edge.kind) for edge in picture.edges.values()} == {
        ("d:7", "e:Q1", "mention"),
        ("d:7", "e:Q2", "mention"),
    }


def test_an_entity_and_a_document_that_share_an_id_are_told_apart() -> None:
    picture = graph_picture(
        [node("5"), node("5", "Document"), node("6")],
        [relationship("ABOUT", "5", "5"), relationship("FACT", "5", "6", label="capital"), relationship("FACT", "6", "9")],
    )
    assert [(edge.source, edge.target, edge.label) for edge in picture.edges.values()] == [
        ("e:5", "d:5", "article"),
        ("e:5", "e:6", "capital"),
    ]
    assert picture.hidden == "1 relationships whose ends the rows do not hold are not drawn."


def test_samples_chains_and_steps_have_places_and_pages() -> None:
    rows: list[dict[str, Any]] = [
        {"s": node("WH_1", "Sample", dataset="wikihop", split="dev", question="capital of Gabon?"), "t": None},
        {"c": node("1.1", "Chain", dataset="wikihop"), "l": [node("Q1"), node("7", "Document")]},
        {
            "r": [
                relationship("HAS_CHAIN", "WH_1", "1.1"),
                relationship("STEP", "1.1", "Q1", position=0),
                relationship("STEP", "1.1", "7", position=1),
            ]
        },
    ]
    picture = picture_of(rows)
    assert picture is not None
    sample = picture.nodes["s:wikihop/WH_1"]
    assert (sample.label, sample.link) == ("capital of Gabon?", "/sample?dataset=wikihop&split=dev&id=WH_1")
    assert [edge.label for edge in picture.edges.values()] == ["has chain", "step 0", "step 1"]
    assert {key: entry.layer for key, entry in picture.nodes.items()} == {
        "s:wikihop/WH_1": 0,
        "c:wikihop/1.1": 1,
        "e:Q1": 2,
        "d:7": 2,
    }


def test_a_star_is_drawn_around_its_middle() -> None:
    ends = [f"Q{n}" for n in range(1, 6)]
    picture = graph_picture([node("Q1"), node("Q9"), *map(node, ends)], [relationship("FACT", end, "Q9") for end in ends])
    assert (picture.root, picture.layout) == ("e:Q9", "tree")


def test_much_is_cut_and_said() -> None:
    picture = graph_picture([node(f"Q{n}") for n in range(100)], [], most=60)
    assert (len(picture.nodes), picture.hidden) == (60, "40 more nodes are not drawn.")


def test_rows_without_nodes_are_no_picture() -> None:
    assert picture_of([{"count": 3, "map": {"a": [1, None]}}]) is None
    assert picture_of([{"n": {"labels": ["Other"], "properties": {"name": "x"}}}]) is None
    assert picture_of([{"r": relationship("FACT", None, None)}]) is None
