"""Nodes and relationships of an answer as a picture: every shape that a store returns, and what cannot be drawn."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from kgqa.web.explore.graph_picture import graph_picture, in_words, picture_of


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
    sample = node("WH_1", "Sample", key="wikihop/WH_1", dataset="wikihop", split="dev", question="capital of Gabon?")
    chain = {"labels": ["Chain"], "properties": {"key": "wikihop/WH_1/Q1/0", "candidate": "Q1", "number": 0, "dataset": "wikihop"}}
    rows: list[dict[str, Any]] = [
        {"s": sample, "t": None},
        {"c": chain, "l": [node("Q1"), node("7", "Document")]},
        {
            "r": [
                relationship("HAS_CHAIN", "wikihop/WH_1", "wikihop/WH_1/Q1/0"),
                relationship("STEP", "wikihop/WH_1/Q1/0", "Q1", position=0),
                relationship("STEP", "wikihop/WH_1/Q1/0", "7", position=1),
            ]
        },
    ]
    picture = picture_of(rows)
    assert picture is not None
    drawn = picture.nodes["s:wikihop/WH_1"]
    assert (drawn.label, drawn.link) == ("capital of Gabon?", "/sample?dataset=wikihop&split=dev&id=WH_1")
    assert picture.nodes["c:wikihop/WH_1/Q1/0"].label == "chain 1 to Q1"
    assert [edge.label for edge in picture.edges.values()] == ["has chain", "step 0", "step 1"]
    assert {key: entry.layer for key, entry in picture.nodes.items()} == {
        "s:wikihop/WH_1": 0,
        "c:wikihop/WH_1/Q1/0": 1,
        "e:Q1": 2,
        "d:7": 2,
    }


def test_a_node_of_paths_stands_where_it_first_is_on_one() -> None:
    def path(*names: str) -> dict[str, Any]:
        steps = [relationship("FACT", one, other) for one, other in pairwise(names)]
        return {"nodes": list(map(node, names)), "relationships": steps}

    picture = picture_of([{"p": path("Q1", "Q2", "Q3", "Q4")}, {"p": path("Q1", "Q3", "Q5", "Q1")}])
    assert picture is not None
    # By steps Q3 would be as near to Q1 as Q2.
    assert {key: entry.layer for key, entry in picture.nodes.items()} == {"e:Q1": 0, "e:Q2": 1, "e:Q3": 2, "e:Q4": 3, "e:Q5": 2}


def test_relationships_and_paths_are_told_as_cypher_draws_them() -> None:
    path = {
        "nodes": [node("Q1", label="Gabon"), node("7", "Document", title="Libreville"), {"labels": ["Other"], "properties": {}}],
        "relationships": [relationship("MENTIONS", "7", "Q1"), relationship("MENTIONS", "7", None)],
    }
    assert in_words(path) == "(Gabon)<-[:MENTIONS]-(Libreville)-[:MENTIONS]->(Other)"
    assert in_words(relationship("FACT", "a", "b", label="capital", row=3)) == '[:FACT {label: "capital"}]'
    assert in_words(relationship("ABOUT", "a", "b")) == "[:ABOUT]"
    assert in_words(node("Q1")) == in_words({"a": 1}) == in_words([path]) == ""


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
