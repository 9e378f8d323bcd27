"""Small random graphs of facts and texts, as plain tuples and as the columns that are mined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from kgqa.arrays.rows import Adjacency, row_bounds
from kgqa.rules.implied import ImpliedRelations
from kgqa.rules.roles import TEXT_ROLES, RoleGraph, role_graph

Fact = tuple[int, int, int]
"""Head, relation, tail."""
Text = tuple[int, int, int]
"""From, to, text grade."""


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What a graph and its texts say."""

    entities: int
    symmetric: tuple[bool, ...]
    """One entry a relation."""
    facts: list[Fact]
    """Each once, none from an entity to itself."""
    noise: list[Fact]
    """Facts that come again, and facts from an entity to itself: the graph leaves them out."""
    texts: list[Text]

    @property
    def relations(self) -> int:
        return len(self.symmetric)

    @property
    def roles(self) -> int:
        return 2 * self.relations + len(TEXT_ROLES)

    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Head, relation and tail of ``facts``."""
        return columns(self.facts)

    def graph(self) -> RoleGraph:
        """Facts, noise and texts as they are mined."""
        head, relation, tail = columns(self.facts + self.noise)
        first, second, grades = columns(self.texts)
        return role_graph(
            head, relation, tail, symmetric=np.array(self.symmetric), texts=(first, second), grades=grades, entities=self.entities
        )

    def edges(self) -> set[tuple[int, int, int]]:
        """(from, role, to): every fact both ways, by its definition in :mod:`kgqa.rules.roles`."""
        found = set()
        for head, relation, tail in self.facts + self.noise:
            back = 2 * relation if self.symmetric[relation] else 2 * relation + 1
            found |= {(head, 2 * relation, tail), (tail, back, head)}
        found |= {(first, 2 * self.relations + grade, second) for first, second, grade in self.texts}
        return {(x, role, y) for x, role, y in found if x != y}


def implied_relations(cells: Mapping[tuple[int, int], tuple[int, int]], roles: int) -> ImpliedRelations:
    """(role, relation) → (support, typed), as columns; where typed is 0 there is nothing."""
    kept = sorted(cell for cell, (_, of) in cells.items() if of)
    role, relation = np.array(kept, np.int32).reshape(-1, 2).T.copy()
    support, typed = np.array([cells[cell] for cell in kept], np.int64).reshape(-1, 2).T.copy()
    return ImpliedRelations(relations=Adjacency(offsets=row_bounds(role, roles), targets=relation), support=support, typed=typed)


def cells_of(implied: ImpliedRelations) -> dict[tuple[int, int], tuple[int, int]]:
    """The other way round."""
    cells = zip(implied.relations.sources().tolist(), implied.relations.targets.tolist(), strict=True)
    return dict(zip(cells, zip(implied.support.tolist(), implied.typed.tolist(), strict=True), strict=True))


def columns(rows: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    first, second, third = np.array(rows, np.int32).reshape(-1, 3).T.copy()
    return first, second, third


@st.composite
def knowledge(draw: st.DrawFn, *, least: int = 2, most: int = 7, relations: int = 3) -> Knowledge:
    """Graphs with symmetric relations (facts of which may be there from both ends), hubs, repeated facts, loops and texts."""
    entities = draw(st.integers(least, most))
    ids = st.integers(0, entities - 1)
    symmetric = tuple(draw(st.lists(st.booleans(), min_size=1, max_size=relations)))
    triples = st.tuples(ids, st.integers(0, len(symmetric) - 1), ids)
    facts = draw(st.sets(triples, min_size=1, max_size=25))
    if draw(st.booleans()):
        hub, relation = draw(ids), draw(st.integers(0, len(symmetric) - 1))
        facts |= {(entity, relation, hub) for entity in range(entities)}
    if draw(st.booleans()):
        facts |= {(t, r, h) for h, r, t in facts if symmetric[r]}
    kept = sorted(fact for fact in facts if fact[0] != fact[2])
    noise = draw(st.lists(st.sampled_from(kept), max_size=3)) if kept else []
    noise += [(entity, 0, entity) for entity in draw(st.sets(ids, max_size=2))]
    texts = draw(st.sets(st.tuples(ids, ids, st.integers(0, len(TEXT_ROLES) - 1)), max_size=12))
    return Knowledge(entities=entities, symmetric=symmetric, facts=kept, noise=noise, texts=sorted(texts))
