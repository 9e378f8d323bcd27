"""The graph of documents and entities, and the protocol of a search in it.

The compiled kernel and Cypher queries in the store implement the protocol and return the same arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kgqa.arrays.rows import Adjacency, IntArray, Offsets


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """The bipartite graph of documents and entities, as adjacency rows over the entity and document tables."""

    documents_of: Adjacency
    """Entity → the documents that a chain may enter from it."""
    entities_of: Adjacency
    """Document → the entities that a chain may leave it to."""

    @property
    def entities(self) -> int:
        """Number of entities, isolated ones included."""
        return len(self.documents_of.offsets) - 1

    @property
    def documents(self) -> int:
        """Number of documents, isolated ones included."""
        return len(self.entities_of.offsets) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Searches:
    """A batch of queries, one entry each, ordered by head: rows of the entity and relation tables."""

    heads: IntArray
    relations: IntArray
    answers: IntArray

    def part(self, first: int, last: int) -> Searches:
        """The queries ``first`` to ``last - 1``."""
        return Searches(heads=self.heads[first:last], relations=self.relations[first:last], answers=self.answers[first:last])


@dataclass(frozen=True, slots=True, kw_only=True)
class EndPoints:
    """The entities that may be candidates of a query (Welbl et al. 2018, section 2.1)."""

    roles: Adjacency
    """Entity → the relations for which it is an end point."""
    fact_offsets: Offsets
    """Head → its first fact in the two arrays below. They exclude the other true objects of a query from its candidates."""
    fact_relations: IntArray
    fact_tails: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The candidates that each query reaches; if no chains are requested, the last four arrays are empty."""

    counts: IntArray
    """Number of candidates per query; 0 if the answer is not reached."""
    candidates: IntArray
    """Entities of all queries, ascending within a query."""
    lengths: IntArray
    """Number of nodes on the chain of each candidate."""
    nodes: IntArray
    """Entity, document, entity, …, from head to candidate."""
    document_counts: IntArray
    """Number of documents on the chains of each query."""
    documents: IntArray
    """Documents of all queries, ascending within a query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chains:
    """Chains to given candidates: shorter ones first, then ordered by their nodes, read from the candidate back to the head."""

    counts: IntArray
    """Number of chains for each candidate."""
    lengths: IntArray
    """Number of nodes for each chain."""
    nodes: IntArray
    """Entity, document, entity, …, of all chains."""


class Traversal(Protocol):
    """Breadth-first search from the heads of queries over chains of documents."""

    batch: int
    """Number of queries to pass in one call."""
    concurrent: bool
    """Whether several threads may search at the same time."""

    def reach(self, searches: Searches, ends: EndPoints, *, with_chains: bool) -> Reached:
        """Find the candidates of each query, and with ``with_chains`` one chain to each.

        That chain is the one of the breadth-first tree: the first of the shortest chains, ordered by their nodes.
        """

    def chains(self, heads: IntArray, offsets: npt.NDArray[np.int64], candidates: IntArray, *, longer: bool, limit: int) -> Chains:
        """All shortest chains from head ``q`` to ``candidates[offsets[q]:offsets[q + 1]]``, at most ``limit`` for each candidate.

        With ``longer``: all simple chains.
        """
