"""Facts in both directions and texts in one, ordered and without repetition."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given

from kgqa.rules.roles import TEXT_ROLES, RoleGraph, role_text
from tests.rules.drawing import Knowledge, knowledge


def rows(graph: RoleGraph) -> list[tuple[int, int, int]]:
    """(from, to, role) in the order in which they stand."""
    sources = np.repeat(np.arange(graph.entities), np.diff(graph.offsets))
    return list(zip(sources.tolist(), graph.targets.tolist(), graph.roles.tolist(), strict=True))


@given(known=knowledge())
def test_every_fact_has_edges_in_both_directions_without_duplicates(known: Knowledge) -> None:
    graph = known.graph()
    assert rows(graph) == sorted((x, y, role) for x, role, y in known.edges())
    assert (graph.entities, graph.relations, graph.role_count) == (known.entities, known.relations, known.roles)
    assert (graph.targets.dtype, graph.roles.dtype, graph.offsets.dtype) == (np.int32, np.int32, np.int64)  # type: ignore[comparison-overlap]


@given(known=knowledge())
def test_reversed_has_the_same_edges_by_their_other_end(known: Knowledge) -> None:
    back = known.graph().reversed()
    assert rows(back) == sorted((y, x, role) for x, role, y in known.edges())
    assert rows(back.reversed()) == rows(known.graph())


@given(known=knowledge())
def test_runs_have_the_same_edges_by_role(known: Knowledge) -> None:
    graph = known.graph()
    runs = graph.runs()
    source = np.repeat(np.arange(graph.entities), np.diff(runs.offsets))
    keys = list(zip(source.tolist(), runs.roles.tolist(), strict=True))
    assert keys == sorted(set(keys)), "one run for each role of an entity"
    ends = [runs.targets[begin:end].tolist() for begin, end in itertools.pairwise(runs.starts)]
    found = [(x, role, y) for (x, role), run in zip(keys, ends, strict=True) for y in run]
    assert found == sorted(known.edges())


def test_a_symmetric_relation_has_one_role_for_both_directions() -> None:
    known = Knowledge(entities=3, symmetric=(True, False), facts=[(0, 0, 1), (0, 1, 2)], noise=[], texts=[(1, 2, 2)])
    assert rows(known.graph()) == [(0, 1, 0), (0, 2, 2), (1, 0, 0), (1, 2, 6), (2, 0, 3)]


def test_roles_have_readable_names() -> None:
    labels = ["country", "author"]
    assert [role_text(role, labels) for role in range(7)] == ["country", "^country", "author", "^author", *TEXT_ROLES]
