"""The support of a mention is what the sentences about its levels say, whatever is a hub."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from kgqa.linking import support
from kgqa.linking.support import NEIGHBOUR, NOTHING, SUBJECT, TOPIC, TWIN, levels, surroundings_of
from tests.lengths import example_count

ENTITIES, DOCUMENTS = 8, 4
PAIRS = st.lists(st.tuples(st.integers(0, ENTITIES - 1), st.integers(0, ENTITIES - 1)), max_size=24)
MENTIONS = st.lists(st.tuples(st.integers(0, DOCUMENTS - 1), st.integers(0, ENTITIES - 1), st.integers(0, 2)), max_size=16).map(sorted)
Mentions = list[tuple[int, int, int]]


def plain(mention: tuple[int, int, int], anchors: Mentions, subjects: list[int], facts: list[tuple[int, int]]) -> int:
    document, entity, entry = mention
    joined = [{b for a, b in facts if a == x} | {a for a, b in facts if b == x} for x in range(ENTITIES)]
    here = {e: {second for d, ee, second in anchors if (d, ee) == (document, e)} for d, e, _ in anchors if d == document}
    about = subjects[document]
    if entity in here and here[entity] != {entry}:
        return TWIN
    named_in = {e: len({d for d, ee, _ in anchors if ee == e}) for e in range(ENTITIES)}
    article = {e for d, e, _ in anchors if subjects[d] == entity and e != entity and named_in[e] <= support.BROAD}
    if about >= 0 and (entity == about or entity in joined[about] or about in article):
        return SUBJECT
    if any(entity in joined[e] and min(len(joined[e]), len(joined[entity])) <= support.BROAD for e in here):
        return NEIGHBOUR
    return TOPIC if article & set(here) else NOTHING


@settings(max_examples=example_count(200), deadline=None)
@given(asked=MENTIONS, anchors=MENTIONS, facts=PAIRS, subjects=st.permutations(range(-1, ENTITIES)))
def test_each_mention_has_the_strongest_level_that_holds(
    asked: Mentions, anchors: Mentions, facts: list[tuple[int, int]], subjects: list[int]
) -> None:
    facts = [(a, b) for a, b in facts if a != b]
    subjects = subjects[:DOCUMENTS]
    heads, tails = np.array(facts, np.int32).reshape(-1, 2).T
    columns = np.array(anchors, np.int32).reshape(-1, 3).T
    data = surroundings_of(*columns, subject=np.array(subjects, np.int32), heads=heads, tails=tails, count=ENTITIES)
    documents, entities, entries = np.array(asked, np.int32).reshape(-1, 3).T
    result = levels(documents, entities, entries, data)
    assert result.tolist() == [plain(mention, anchors, subjects, facts) for mention in asked]


def test_a_fact_between_two_hubs_is_no_support() -> None:
    size = support.BROAD + 10
    first, second, small = 0, 1, 2
    neighbours = np.arange(3, 3 + size, dtype=np.int32)
    heads = np.concatenate([np.full(size, first), np.full(size, second), [first, small, small]]).astype(np.int32)
    tails = np.concatenate([neighbours, neighbours, [second, first, second]]).astype(np.int32)
    anchors = [np.array(column, np.int32) for column in ([0, 1, 1], [second, second, small], [0, 0, 0])]
    data = surroundings_of(*anchors, subject=np.full(2, -1, np.int32), heads=heads, tails=tails, count=3 + size)
    documents, entities, entries = (np.array(column, np.int32) for column in ([0, 0, 1], [first, small, first], [1, 1, 1]))
    assert levels(documents, entities, entries, data).tolist() == [NOTHING, NEIGHBOUR, NEIGHBOUR]
