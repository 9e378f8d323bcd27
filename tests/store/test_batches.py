"""What goes to a server in a batch is what the table holds, and the next batch is made in time."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pyarrow as pa
import pytest

from kgqa.store.neo4j.batches import ahead, by_place, listed

FACTS = pa.table(
    {
        "head": pa.chunked_array([["b", "a"], ["b"]]),
        "tail": pa.chunked_array([["a", "c"], ["b"]]),
        "row": [7, 8, 9],
        "names": pa.array([["x", "y"], [], None], pa.list_(pa.string())),
    }
)


def test_rows_are_lists_of_values() -> None:
    assert listed(FACTS) == [["b", "a", 7, ["x", "y"]], ["a", "c", 8, []], ["b", "b", 9, None]]
    assert listed(FACTS.slice(1, 0)) == []


def test_ids_are_places_in_a_list_that_has_each_once() -> None:
    table, lists = by_place(FACTS, {"head": "entities", "tail": "entities"})
    assert table.column_names == FACTS.column_names
    assert sorted(lists["entities"]) == ["a", "b", "c"]
    back = [[lists["entities"][head], lists["entities"][tail], *rest] for head, tail, *rest in listed(table)]
    assert back == listed(FACTS)


def test_columns_may_have_lists_of_their_own_or_none() -> None:
    table, lists = by_place(FACTS, {"head": "documents", "tail": "entities"})
    assert {name: set(ids) for name, ids in lists.items()} == {"documents": {"a", "b"}, "entities": {"a", "b", "c"}}
    assert [(lists["documents"][head], lists["entities"][tail]) for head, tail, *_ in listed(table)] == [("b", "a"), ("a", "c"), ("b", "b")]
    assert by_place(FACTS, {}) == (FACTS, {})


def test_the_next_item_is_made_while_the_last_is_in_use() -> None:
    made = [threading.Event() for _ in range(4)]

    def items() -> Iterator[int]:
        for number, event in enumerate(made):
            event.set()
            yield number

    seen = []
    for number in ahead(items()):
        seen.append(number)
        if number + 1 < len(made):
            assert made[number + 1].wait(10)
        assert not any(event.is_set() for event in made[number + 2 :])
    assert seen == [0, 1, 2, 3]


def test_what_goes_wrong_when_an_item_is_made_is_told_in_its_place() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    result = ahead(items())
    assert next(result) == 1
    with pytest.raises(ValueError, match="broken"):
        next(result)
