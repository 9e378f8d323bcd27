"""The facts of a graph, and what its texts put side by side, as edges with roles: what paths are made of.

A role is a relation with a direction, or how a text brings two entities together. Role ``2 * r`` is relation r from subject to object,
``2 * r + 1`` the same read backwards; after those of all relations come the text roles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.rows import IntArray, Offsets, Rows, distinct, paired, row_bounds

TEXT_ROLES = ("in the same document", "near each other", "in one sentence")
"""Text grade → how a text brings the two entities of a hop together; a higher grade says more."""
SYMMETRIC = 0.25
"""The share of its facts that hold in both directions from which a relation counts as symmetric, whatever the tables say; no real table
has all of them."""
Pairs = tuple[IntArray, IntArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRuns:
    """The edges of a graph by (source, role, target): the runs of entity x are ``offsets[x]:offsets[x + 1]``."""

    offsets: Offsets
    roles: IntArray
    """One for each run; they ascend within an entity."""
    starts: Offsets
    """Run i leads to ``targets[starts[i]:starts[i + 1]]``, which ascend."""
    targets: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleGraph:
    """Edges with roles, by the entity that they start from: those of x are ``offsets[x]:offsets[x + 1]``, ordered by (target, role)."""

    offsets: Offsets
    targets: IntArray
    roles: IntArray
    relations: int
    """How many relations the roles are made of."""

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return len(self.offsets) - 1

    @property
    def role_count(self) -> int:
        """How many roles there are, text roles included."""
        return 2 * self.relations + len(TEXT_ROLES)

    def sources(self) -> IntArray:
        """For each edge the entity that it starts from."""
        return Rows(offsets=self.offsets, targets=self.targets).sources()

    def functionality(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """For each role how few targets a source has, as sources per edge, and how few sources a target has; 0 where it has no edge.

        1 is a function (Suchanek, Abiteboul and Senellart 2011, section 4).
        """
        edges = np.maximum(np.bincount(self.roles, minlength=self.role_count), 1)
        by_direction = []
        for entity in (self.sources(), self.targets):
            pairs = distinct(paired(self.roles, entity))
            by_direction.append(np.bincount(pairs >> 32, minlength=self.role_count) / edges)
        return by_direction[0], by_direction[1]

    def runs(self) -> RoleRuns:
        """The same edges by (source, role): what of an entity's edges a path takes is read without the others."""
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
        """The same edges by the entity that they lead to; roles stay as they are read forwards."""
        return _ordered(self.targets, self.sources(), self.roles, self.entities, self.relations)


def role_graph(
    head: IntArray, relation: IntArray, tail: IntArray, *, symmetric: npt.NDArray[np.bool_], texts: Pairs, grades: IntArray, entities: int
) -> RoleGraph:
    """Facts in both directions, and the pairs that ``texts`` join from first to second with the given grades.

    A relation for which ``symmetric`` (one entry a relation) holds has one role for both directions.
    """
    relations = len(symmetric)
    turned = 2 * relation + ~symmetric[relation]
    source = np.concatenate([head, tail, texts[0]])
    target = np.concatenate([tail, head, texts[1]])
    roles = np.concatenate([2 * relation, turned, 2 * relations + grades])
    return _ordered(source, target, roles, entities, relations)


def _ordered(source: IntArray, target: IntArray, roles: IntArray, entities: int, relations: int) -> RoleGraph:
    order = np.lexsort((roles, target, source))
    source, target, roles = source[order], target[order], roles[order]
    again = np.zeros(len(order), np.bool_)
    again[1:] = (source[1:] == source[:-1]) & (target[1:] == target[:-1]) & (roles[1:] == roles[:-1])
    mask = ~again & (source != target)
    return RoleGraph(
        offsets=row_bounds(source[mask], entities),
        targets=target[mask].astype(np.int32),
        roles=roles[mask].astype(np.int32),
        relations=relations,
    )


def role_text(role: int, labels: Sequence[str]) -> str:
    """A role as people read it: the relation's label, with ``^`` where it is read backwards, or the sentence of a text role."""
    if role >= 2 * len(labels):
        return TEXT_ROLES[role - 2 * len(labels)]
    return ("^" if role % 2 else "") + labels[role // 2]
