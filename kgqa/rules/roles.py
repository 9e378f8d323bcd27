"""Edges with roles: the facts of a graph, and the pairs of entities that its texts mention together. Paths consist of such edges.

A role is a relation with a direction, or a grade of how closely a text mentions two entities together. Role ``2 * r`` is relation r from
subject to object, ``2 * r + 1`` its inverse. The text roles come after those of all relations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.rows import IntArray, Offsets, Rows, distinct, paired, row_bounds

TEXT_ROLES = ("in the same document", "near each other", "in one sentence")
"""Text grade → its meaning: how closely a text mentions the two entities of a hop. A higher grade is stronger evidence."""
SYMMETRIC = 0.25
"""A relation counts as symmetric if at least this share of its facts holds in both directions, whatever its table says. Real tables lack
many of the inverse facts, so the share is low."""
Pairs = tuple[IntArray, IntArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRuns:
    """The edges of a graph, grouped into runs of one source and role: the runs of entity x are ``offsets[x]:offsets[x + 1]``."""

    offsets: Offsets
    roles: IntArray
    """The role of each run, ascending within an entity."""
    starts: Offsets
    """Run i leads to ``targets[starts[i]:starts[i + 1]]``, ascending."""
    targets: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleGraph:
    """Edges with roles, grouped by source: the edges of entity x are ``offsets[x]:offsets[x + 1]``, ordered by (target, role)."""

    offsets: Offsets
    targets: IntArray
    roles: IntArray
    relations: int
    """Number of relations of the graph."""

    @property
    def entities(self) -> int:
        """Number of entities, isolated ones included."""
        return len(self.offsets) - 1

    @property
    def role_count(self) -> int:
        """Number of roles: two per relation, and the text roles."""
        return 2 * self.relations + len(TEXT_ROLES)

    def sources(self) -> IntArray:
        """The source of each edge."""
        return Rows(offsets=self.offsets, targets=self.targets).sources()

    def functionality(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The functionality of each role, and its inverse functionality (Suchanek, Abiteboul and Senellart 2011, section 4).

        These are distinct sources per edge and distinct targets per edge: 1 for a function, 0 for a role without edges.

        >>> zeros, none = np.zeros(3, np.int32), np.array([], np.int32)  # entity 0 has three objects of relation 0
        >>> graph = role_graph(zeros, zeros, zeros + [1, 2, 3], symmetric=np.array([False]), texts=(none, none), grades=none, entities=4)
        >>> forwards, backwards = graph.functionality()
        >>> forwards[:2].round(2).tolist(), backwards[:2].round(2).tolist()
        ([0.33, 1.0], [1.0, 0.33])
        """
        edges = np.maximum(np.bincount(self.roles, minlength=self.role_count), 1)
        by_direction = []
        for entity in (self.sources(), self.targets):
            pairs = distinct(paired(self.roles, entity))
            by_direction.append(np.bincount(pairs >> 32, minlength=self.role_count) / edges)
        return by_direction[0], by_direction[1]

    def runs(self) -> RoleRuns:
        """The same edges, grouped by source and role, so that a path reads only the edges with its role."""
        keys = paired(self.sources(), self.roles)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        begins = np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)]
        return RoleRuns(
            offsets=row_bounds(keys[begins] >> 32, self.entities),
            roles=(keys[begins] & 0xFFFFFFFF).astype(np.int32),
            starts=np.append(np.flatnonzero(begins), len(keys)).astype(np.int64),
            targets=self.targets[order],
        )

    def reversed(self) -> RoleGraph:
        """The same edges, grouped by target; each keeps the role of its forward direction."""
        return _in_order(self.targets, self.sources(), self.roles, self.entities, self.relations)


def role_graph(
    head: IntArray, relation: IntArray, tail: IntArray, *, symmetric: npt.NDArray[np.bool_], texts: Pairs, grades: IntArray, entities: int
) -> RoleGraph:
    """The graph of the given facts, in both directions, and of the pairs in ``texts``, from first to second, with their ``grades``.

    A ``symmetric`` relation (bool, one entry per relation) has one role for both directions. Duplicates and loops are dropped.
    """
    relations = len(symmetric)
    inverse_roles = 2 * relation + ~symmetric[relation]
    source = np.concatenate([head, tail, texts[0]])
    target = np.concatenate([tail, head, texts[1]])
    roles = np.concatenate([2 * relation, inverse_roles, 2 * relations + grades])
    return _in_order(source, target, roles, entities, relations)


def _in_order(source: IntArray, target: IntArray, roles: IntArray, entities: int, relations: int) -> RoleGraph:
    order = np.lexsort((roles, target, source))
    source, target, roles = source[order], target[order], roles[order]
    is_repeat = np.zeros(len(order), np.bool_)
    is_repeat[1:] = (source[1:] == source[:-1]) & (target[1:] == target[:-1]) & (roles[1:] == roles[:-1])
    mask = ~is_repeat & (source != target)
    return RoleGraph(
        offsets=row_bounds(source[mask], entities),
        targets=target[mask].astype(np.int32),
        roles=roles[mask].astype(np.int32),
        relations=relations,
    )


def role_text(role: int, labels: Sequence[str]) -> str:
    """The name of a role: the relation's label, with ``^`` for the inverse, or the phrase of a text role.

    >>> role_text(0, ["capital"]), role_text(1, ["capital"]), role_text(4, ["capital"])
    ('capital', '^capital', 'in one sentence')
    """
    if role >= 2 * len(labels):
        return TEXT_ROLES[role - 2 * len(labels)]
    return ("^" if role % 2 else "") + labels[role // 2]
