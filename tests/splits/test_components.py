"""What has something in common stays together, and the shares are kept as well as that allows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from kgqa.records import Instance
from kgqa.splits.components import BY, ItemCollector, deal
from tests.small_questions import paragraph, question

GROUPS = st.lists(st.tuples(st.integers(0, 6), st.lists(st.integers(0, 9), max_size=3, unique=True)), min_size=1, max_size=40)


def instances(drawn: list[tuple[int, list[int]]]) -> list[Instance]:
    """A question for each, of a group, with paragraphs."""
    return [
        question(0, id=str(place), group=f"g{group}", paragraphs=tuple(paragraph(number) for number in numbers))
        for place, (group, numbers) in enumerate(drawn)
    ]


def naive(some: list[Instance], *, titles: bool) -> list[int]:
    """The smallest number that each question is connected with."""
    found = list(range(len(some)))
    things = [{("group", each.group), *(("title", p.title) for p in each.paragraphs if titles)} for each in some]
    for _ in some:
        for one in range(len(some)):
            for other in range(len(some)):
                if things[one] & things[other]:
                    found[one] = found[other] = min(found[one], found[other])
    return found


@given(GROUPS, st.booleans())
def test_components_are_those_of_a_naive_search(drawn: list[tuple[int, list[int]]], titles: bool) -> None:
    some = instances(drawn[:15])
    together = ItemCollector(["title"] if titles else [])
    assert sum(together.see(some)) == together.count == len(some)
    found, wanted = together.components().tolist(), naive(some, titles=titles)
    for one in range(len(some)):
        for other in range(len(some)):
            assert (found[one] == found[other]) == (wanted[one] == wanted[other])


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=60),
    st.integers(0, 2**31 - 1),
    st.sampled_from([(0.8, 0.1, 0.1), (1 / 3, 1 / 3, 1 / 3), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0)]),
)
def test_shares_are_off_by_at_most_the_largest_component(sizes: list[int], seed: int, shares: tuple[float, ...]) -> None:
    components = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    place = deal(components, shares, seed=seed)
    assert place.tolist() == deal(components, shares, seed=seed).tolist()
    for number in range(len(sizes)):
        assert len(set(place[components == number].tolist())) == 1
    for number, share in enumerate(shares):
        got = int((place == number).sum())
        assert got <= share * len(components) + max(sizes) + 1e-6
        assert got >= share * len(components) - max(sizes) - 1e-6
        assert share or not got


def test_no_question_has_no_component() -> None:
    assert ItemCollector(BY).components().tolist() == []
