"""Every way to divide the facts is there once, in the same order each time."""

from __future__ import annotations

import pytest

from kgqa.recipes.contrasts.partitions import bipartitions, proper_subsets


@pytest.mark.parametrize("count", range(2, 9))
def test_every_proper_bipartition_is_there_once(count: int) -> None:
    found = bipartitions(count)
    assert len({frozenset(map(frozenset, pair)) for pair in found}) == len(found) == 2 ** (count - 1) - 1
    for first, second in found:
        assert first
        assert second
        assert sorted(first + second) == list(range(count))
        assert first[0] == 0


@pytest.mark.parametrize("count", range(2, 9))
def test_every_proper_subset_is_there_once_small_ones_first(count: int) -> None:
    found = proper_subsets(count)
    assert len(set(found)) == len(found) == 2**count - 2
    assert sorted(found, key=lambda part: (len(part), part)) == list(found)
    assert {part for pair in bipartitions(count) for part in pair} == set(found)


def test_two_facts_have_one_bipartition() -> None:
    assert bipartitions(2) == (((0,), (1,)),)
    assert proper_subsets(2) == ((0,), (1,))
