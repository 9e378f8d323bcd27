"""What finds candidates and chains: the compiled kernel, or Cypher in the store. Both give the same arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kgqa.arrays.rows import Adjacency, IntArray, Offsets


@dataclass(frozen=True, slots=True, kw_only=True)
class Searches:
    """What is searched for; one entry a query, ordered by head."""

    heads: IntArray
    relations: IntArray
    answers: IntArray

    def part(self, first: int, last: int) -> Searches:
        """The queries from ``first`` to before ``last``."""
        return Searches(heads=self.heads[first:last], relations=self.relations[first:last], answers=self.answers[first:last])


@dataclass(frozen=True, slots=True, kw_only=True)
class EndPoints:
    """Who may be a candidate of whom."""

    roles: Adjacency
    """Entity → the relations whose end point it is."""
    fact_offsets: Offsets
    """Head → where its facts begin in the two arrays below; other true objects of a query are no candidates."""
    fact_relations: IntArray
    fact_tails: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What the heads of some queries reach; without chains the last four arrays are empty."""

    counts: IntArray
    """Candidates per query; 0 where the answer is not reached."""
    candidates: IntArray
    """Ascending within a query."""
    lengths: IntArray
    """Nodes of the chain of each candidate."""
    nodes: IntArray
    """Entity, document, entity, …, from head to candidate."""
    document_counts: IntArray
    """Documents on the chains of each query."""
    documents: IntArray
    """Ascending within a query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chains:
    """Chains to given candidates: shorter ones first, then by the rows of the nodes read from the candidate back to the head."""

    counts: IntArray
    """Number of chains for each candidate."""
    lengths: IntArray
    """Number of nodes for each chain."""
    nodes: IntArray


class Traversal(Protocol):
    """Breadth-first search from the heads of queries over chains of documents."""

    batch: int
    """Queries that are worth one call."""
    concurrent: bool
    """Whether several threads may call it at the same time."""

    def reach(self, searches: Searches, ends: EndPoints, *, with_chains: bool) -> Reached:
        """For each query the end points that its head reaches, and the breadth-first tree's chain to each: of the shortest chains the one
        that comes first by the rows of its nodes."""

    def chains(self, heads: IntArray, offsets: npt.NDArray[np.int64], candidates: IntArray, *, longer: bool, limit: int) -> Chains:
        """All shortest (``longer``: all simple) chains from each head to ``candidates[offsets[q]:offsets[q + 1]]``, ``limit`` of each."""
