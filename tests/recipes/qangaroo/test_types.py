"""Types of entities: from their facts, or, without facts, from how their articles begin."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from kgqa.recipes.qangaroo.types import TYPED, Types
from kgqa.rules.roles import RoleGraph, role_graph

TOWNS, WRITERS, BARE_TOWN, BARE_WRITER, UNWRITTEN = range(30), range(30, 60), 60, 61, 62
"""Entities; the last three have no facts, and ``UNWRITTEN`` no article either."""
ARTICLES = np.array([*range(62), -1], np.int32)
TEXTS = pa.chunked_array(
    [[f"Name{number} is a town on the river." for number in TOWNS] + [f"Name{number} is a writer of novels." for number in WRITERS]
     + ["Elsewhere is a town on the coast.", "Somebody is a writer and a singer."]]
)  # fmt: skip


def graph() -> RoleGraph:
    """Each town lies in three counties that are also towns; each writer wrote three books that are also writers' works."""
    heads = np.repeat(np.arange(60), 3)
    tails = np.array([30 * (head // 30) + (head + step) % 30 for head in range(60) for step in (1, 2, 3)])
    none = np.zeros(0, np.int32)
    return role_graph(
        heads.astype(np.int32), (heads // 30).astype(np.int32), tails.astype(np.int32),
        symmetric=np.zeros(2, np.bool_), texts=(none, none), grades=none, entities=63,
    )  # fmt: skip


def alike(types: Types, first: int, second: int) -> float:
    return float(types.alike(np.array([first], np.int32), np.array([second], np.int32))[0])


def test_an_entity_without_facts_has_the_type_that_its_articles_first_words_suggest() -> None:
    types = Types(graph(), TEXTS, ARTICLES)
    assert alike(types, BARE_TOWN, 3) > 0.3 > 0.1 > alike(types, BARE_TOWN, 33)
    assert alike(types, BARE_WRITER, 33) > 0.3 > 0.1 > alike(types, BARE_WRITER, 3)


def test_an_expected_type_is_less_certain_than_a_known_one() -> None:
    types = Types(graph(), TEXTS, ARTICLES)
    assert alike(types, BARE_TOWN, 3) < alike(types, 4, 3) == pytest.approx(1)
    assert alike(types, 4, 33) == 0


def test_an_entity_without_facts_and_article_has_no_type() -> None:
    types = Types(graph(), TEXTS, ARTICLES)
    assert alike(types, UNWRITTEN, 3) == alike(types, UNWRITTEN, 33) == 0


def test_without_articles_types_are_those_of_the_facts() -> None:
    types = Types(graph(), TEXTS, np.full(63, -1, np.int32))
    assert alike(types, 4, 3) == pytest.approx(1)
    assert alike(types, BARE_TOWN, 3) == 0
    assert TYPED == 3  # each entity of the graph has at least as many facts
