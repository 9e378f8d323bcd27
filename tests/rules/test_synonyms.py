"""Relations are one where labels and facts agree, or where most facts of each are the other's."""

from __future__ import annotations

import numpy as np
import pytest

from kgqa.rules.implied import mine_implied
from kgqa.rules.roles import role_graph
from kgqa.rules.synonyms import synonyms_of

Facts = list[tuple[int, int, int]]


def same(facts: Facts, labels: list[str]) -> bool:
    """Whether relations 0 and 1 are one."""
    head, relation, tail = (np.array(column, np.int32) for column in zip(*facts, strict=True))
    none = np.zeros(0, np.int32)
    graph = role_graph(
        head,
        relation,
        tail,
        symmetric=np.zeros(2, np.bool_),
        texts=(none, none),
        grades=none,
        entities=int(max(head.max(), tail.max())) + 1,
    )
    roles = synonyms_of(graph, mine_implied(graph, head, relation, tail), labels).tolist()
    assert roles[:4] in ([0, 1, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3])
    return bool(roles[:4] != [0, 1, 2, 3])


def facts_of(both: int, first: int, second: int, apart: int = 0) -> Facts:
    """So many subjects with both relations, with the first or second alone, and with both but other objects; four objects."""
    rows: Facts = []
    for subject in range(both + first + second + apart):
        place = 1000 + subject % 4
        if subject < both + first or subject >= both + first + second:
            rows.append((subject, 0, place))
        if subject < both or subject >= both + first:
            rows.append((subject, 1, place if subject < both + first + second else 1000 + (subject + 1) % 4))
    return rows


@pytest.mark.parametrize(
    ("labels", "facts", "one"),
    [
        (["nationality", "citizenship"], facts_of(40, 2, 3), True),
        (["nationality", "citizenship"], facts_of(5, 0, 0), False),  # of five nobody knows
        (["country", "capital of"], facts_of(30, 300, 0), False),  # every capital is in its country, and few towns are one
        (["director", "writer"], facts_of(60, 10, 20, apart=40), False),
        (["spouse", "people / spouse"], facts_of(40, 200, 200), True),
        (["spouse", "partner"], facts_of(40, 200, 200), False),
    ],
)
def test_what_says_the_same(labels: list[str], facts: Facts, one: bool) -> None:
    assert same(facts, labels) is one
