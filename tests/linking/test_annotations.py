"""Marked mentions join those found by names."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from kgqa.errors import EmptyResult
from kgqa.linking.annotations import marked_mentions, verdicts_of, with_marked
from kgqa.linking.link import Linked, link_mentions
from kgqa.linking.matcher import Spans
from kgqa.settings.linking import LinkingSettings
from kgqa.settings.source import DocumentSettings
from kgqa.sources.tables import arrow

PLACE = st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(1, 5), st.integers(0, 3))


def spans(rows: list[tuple[int, int, int, int]]) -> Spans:
    document, start, length, entity = (np.array(column, np.int32) for column in (zip(*rows, strict=True) if rows else [[]] * 4))
    return Spans(document=document, start=start, end=start + length, entity=entity)


def rows(places: Spans) -> list[tuple[int, int, int, int]]:
    return [tuple(map(int, row)) for row in zip(places.document, places.start, places.end, places.entity, strict=True)]  # type: ignore[misc]


def marked(places: list[tuple[int, int, int, int]]) -> Spans:
    columns = [("document", pl.String), ("entity", pl.String), ("start", pl.Int64), ("end", pl.Int64)]
    table = [(f"d{document}", f"e{entity}", start, start + length) for document, start, length, entity in places]
    annotations = arrow(pl.DataFrame(table, schema=columns, orient="row"))
    known = {name: arrow(pl.DataFrame({"id": [f"{name[0]}{n}" for n in range(3)]})) for name in ("documents", "entities")}
    return marked_mentions({**known, "annotations": annotations})


@given(st.lists(PLACE, max_size=8), st.lists(PLACE, max_size=8))
def test_no_two_overlap_and_marked_ones_come_first(first: list[tuple[int, int, int, int]], second: list[tuple[int, int, int, int]]) -> None:
    one = rows(marked(first))
    for a, b in pairwise(one):
        assert a[0] < b[0] or a[2] <= b[1]
    assert {row[3] for row in one} <= {0, 1, 2}
    both = rows(with_marked(marked(first), spans(sorted(second))))
    expected = set(one)
    for document, start, length, entity in second:
        if all(row[0] != document or row[2] <= start or start + length <= row[1] for row in one):
            expected.add((document, start, start + length, entity))
    assert both == sorted(expected)


def linked(annotations: str, places: list[tuple[str, str, int, int]]) -> Linked:
    entities = {"id": ["a", "b"], "kind": "entity", "label": ["Ada", "Bob"], "description": ["a person", "another person"]}
    document = {"id": ["1"], "title": [""], "about": [None], "text": ["Ada met Bob, and he greeted Ada."]}
    columns = [("document", pl.String), ("entity", pl.String), ("start", pl.Int64), ("end", pl.Int64)]
    tables = {
        "entities": arrow(pl.DataFrame(entities)),
        "names": arrow(pl.DataFrame({"entity": ["a", "b"], "name": ["Ada", "Bob"], "source": ["label", "label"]})),
        "documents": arrow(pl.DataFrame(document, schema_overrides={"about": pl.String})),
        "facts": arrow(pl.DataFrame({"head": ["a"], "tail": ["b"]})),
        "annotations": arrow(pl.DataFrame(places, schema=columns, orient="row")),
    }
    settings = LinkingSettings.model_validate({"annotations": annotations, "belief": 0})
    return link_mentions(tables, settings, DocumentSettings(), candidates=np.array([True, True]))


def test_the_setting_takes_marked_mentions_with_others_alone_or_not_at_all() -> None:
    places = [("1", "b", 17, 19), ("1", "b", 28, 31)]
    texts = {name: [tuple(row.values())[1:3] for row in linked(name, places).mentions.to_pylist()] for name in ("with", "only", "without")}
    assert texts == {
        "with": [("a", 0), ("b", 8), ("b", 17), ("b", 28)],
        "only": [("b", 17), ("b", 28)],
        "without": [("a", 0), ("b", 8), ("a", 28)],
    }
    both = linked("with", places)
    assert both.annotated == 2
    assert ("b", 17) in [(row["entity"], row["start"]) for row in both.occurrences.to_pylist()]
    with pytest.raises(EmptyResult, match="has no marked mentions"):
        linked("only", [])


@pytest.mark.parametrize(("right", "wrong"), [("a", "b"), ("b", "a")])
def test_marked_mentions_teach_what_a_shared_name_means(right: str, wrong: str) -> None:
    text = "Walkers follow the Avon for a day."
    names = [str(number) for number in range(12)]
    documents = {"id": names, "title": "", "about": None, "text": text}
    entities = {"id": ["a", "b"], "kind": "entity", "label": ["Avon", "Avon"], "description": ["a river", "a town"]}
    tables = {
        "entities": arrow(pl.DataFrame(entities)),
        "names": arrow(pl.DataFrame({"entity": ["a", "b"], "name": ["Avon", "Avon"], "source": ["label", "label"]})),
        "documents": arrow(pl.DataFrame(documents, schema_overrides={"about": pl.String})),
        "facts": arrow(pl.DataFrame({"head": ["a"], "tail": ["b"]})),
    }

    def linked_in_last(places: list[tuple[str, str, int, int]]) -> list[str]:
        columns = [("document", pl.String), ("entity", pl.String), ("start", pl.Int64), ("end", pl.Int64)]
        annotations = {"annotations": arrow(pl.DataFrame(places, schema=columns, orient="row"))}
        result = link_mentions({**tables, **annotations}, LinkingSettings(), DocumentSettings(), candidates=np.array([True, True]))
        return [row["entity"] for row in result.mentions.to_pylist() if row["document"] == names[-1]]

    start, end = text.index("Avon"), text.index("Avon") + 4
    assert linked_in_last([(name, right, start, end) for name in names[:-1]]) == [right]
    assert linked_in_last([(name, right if number < 6 else wrong, start, end) for number, name in enumerate(names[:-1])]) == []
    assert linked_in_last([("0", right, 0, 7)]) == []  # a marked place elsewhere teaches nothing


@given(st.lists(PLACE, max_size=8), st.lists(PLACE, max_size=8))
def test_a_marked_place_speaks_of_the_same_place_alone(
    first: list[tuple[int, int, int, int]], second: list[tuple[int, int, int, int]]
) -> None:
    one, places = rows(marked(first)), spans(sorted(second))
    meant = {row[:3]: row[3] for row in one}
    expected = [0 if row[:3] not in meant else 1 if meant[row[:3]] == row[3] else -1 for row in rows(places)]
    assert verdicts_of(marked(first), places).tolist() == expected
