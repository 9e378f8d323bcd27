"""Compressed adjacency says the same as plain lists of pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.arrays.rows import Adjacency, Rows, distinct, spread
from kgqa.errors import InputError
from kgqa.traversal.base import Graph

ROWS, COLUMNS = 7, 9
PAIRS = st.lists(st.tuples(st.integers(0, ROWS - 1), st.integers(0, COLUMNS - 1)), max_size=40)
Pairs = list[tuple[int, int]]


def rows(pairs: Pairs) -> Adjacency:
    columns = np.array(pairs, np.int32).reshape(-1, 2)
    return Adjacency.from_pairs(columns[:, 0], columns[:, 1], ROWS)


def lists(made: Rows) -> list[list[int]]:
    return [made.targets[a:b].tolist() for a, b in zip(made.offsets[:-1], made.offsets[1:], strict=True)]


def plain(pairs: Pairs, count: int = ROWS) -> list[list[int]]:
    return [sorted({b for a, b in pairs if a == row}) for row in range(count)]


@given(pairs=PAIRS)
def test_rows_hold_each_pair_once_and_in_order(pairs: Pairs) -> None:
    made = rows(pairs)
    assert lists(made) == plain(pairs)
    assert made.counts().tolist() == [len(row) for row in plain(pairs)]
    assert list(zip(made.sources().tolist(), made.targets.tolist(), strict=True)) == sorted(set(pairs))


@given(pairs=PAIRS)
def test_reversed_rows_hold_the_same_pairs_from_the_other_side(pairs: Pairs) -> None:
    turned = rows(pairs).reversed(COLUMNS)
    assert lists(turned) == plain([(b, a) for a, b in pairs], COLUMNS)
    assert lists(turned.reversed(ROWS)) == plain(pairs)


@given(pairs=PAIRS, order=st.lists(st.integers(0, ROWS - 1), max_size=12))
def test_take_gives_the_rows_asked_for_in_that_order(pairs: Pairs, order: list[int]) -> None:
    assert lists(rows(pairs).take(np.array(order, np.int64))) == [plain(pairs)[row] for row in order]


@given(pairs=PAIRS, salt=st.integers(0, 3))
def test_keep_drops_entries_and_no_rows(pairs: Pairs, salt: int) -> None:
    made = rows(pairs)
    kept = (made.sources() + made.targets + salt) % 3 > 0
    assert lists(made.keep(kept)) == [[t for t in row if (i + t + salt) % 3 > 0] for i, row in enumerate(plain(pairs))]


@given(pairs=PAIRS, asked=PAIRS)
def test_contains_answers_for_each_pair(pairs: Pairs, asked: Pairs) -> None:
    columns = np.array(asked, np.int32).reshape(-1, 2)
    assert rows(pairs).contains(columns[:, 0], columns[:, 1]).tolist() == [pair in pairs for pair in asked]


@given(parts=st.lists(st.lists(st.integers(0, 99), max_size=4), max_size=8))
def test_rows_from_counts_keep_the_order_that_they_have(parts: list[list[int]]) -> None:
    made = Rows.from_counts(np.array([len(part) for part in parts], np.int64), np.array([n for part in parts for n in part], np.int32))
    assert lists(made) == parts


@given(parts=st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=8))
def test_what_can_be_searched_is_in_order_or_refused(parts: list[list[int]]) -> None:
    counts, targets = np.array([len(part) for part in parts], np.int64), np.array([n for part in parts for n in part], np.int32)
    if any(part != sorted(set(part)) for part in parts):
        with pytest.raises(AssertionError, match="do not ascend"):
            Adjacency.from_counts(counts, targets)
        return
    made = Adjacency.from_counts(counts, targets)
    asked = np.array([(row, n) for row in range(len(parts)) for n in range(10)], np.int64).reshape(-1, 2)
    assert made.contains(asked[:, 0], asked[:, 1]).tolist() == [n in parts[row] for row, n in asked]
    assert not hasattr(Rows.from_counts(counts, targets), "contains")


@given(pairs=PAIRS, order=st.lists(st.integers(0, ROWS - 1), max_size=12), salt=st.integers(0, 3))
def test_parts_of_what_can_be_searched_can_be_searched(pairs: Pairs, order: list[int], salt: int) -> None:
    taken = rows(pairs).take(np.array(order, np.int64))
    kept = rows(pairs).keep((np.arange(len(rows(pairs).targets)) + salt) % 3 > 0)
    assert isinstance(taken, Adjacency)
    assert isinstance(kept, Adjacency)


@given(counts=st.lists(st.integers(0, 5), max_size=9))
def test_numbering_rows_hold_the_numbers_in_turn(counts: list[int]) -> None:
    made = Rows.numbering(np.array(counts, np.int64), "things", "have fewer")
    assert made.targets.tolist() == list(range(sum(counts)))
    assert made.counts().tolist() == counts


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_more_numbers_than_fit_are_refused_before_they_are_made(dtype: type) -> None:
    with pytest.raises(InputError, match=r"^2,147,483,648 chains are more than the 2,147,483,647 that can be numbered; have fewer\.$"):
        Rows.numbering(np.array([1 << 30, 1 << 30], dtype), "chains", "have fewer")


def test_more_rows_than_fit_are_refused_before_they_are_made() -> None:
    none = np.zeros(0, np.int32)
    with pytest.raises(InputError, match="2,147,483,648 rows are more"):
        Adjacency.from_pairs(none, none, 1 << 31)
    with pytest.raises(InputError, match="2,147,483,648 rows are more"):
        Adjacency.from_pairs(np.zeros(1, np.int64), np.full(1, 1 << 31), 1)
    with pytest.raises(InputError, match="2,147,483,648 rows are more"):
        Rows(offsets=np.broadcast_to(np.int64(0), (1 << 31) + 1), targets=none).sources()


@given(ranges=st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), max_size=10))
def test_spread_lists_the_positions_of_all_ranges(ranges: Pairs) -> None:
    starts, counts = np.array(ranges, np.int64).reshape(-1, 2).T
    assert spread(starts, counts).tolist() == [start + i for start, count in ranges for i in range(count)]


def test_a_graph_knows_how_many_entities_and_documents_it_has() -> None:
    graph = Graph(documents_of=rows([(0, 1)]), entities_of=rows([(0, 1)]).reversed(COLUMNS))
    assert (graph.entities, graph.documents) == (ROWS, COLUMNS)


@given(values=st.lists(st.integers(-9, 9), max_size=30))
def test_distinct_values_ascend_and_are_there_once(values: list[int]) -> None:
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))
