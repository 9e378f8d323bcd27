"""The bipartite graph of documents and entities, in both directions."""

from __future__ import annotations

from dataclasses import dataclass

from kgqa.arrays.rows import Adjacency


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Which documents an entity leads to and which entities a document leads to; rows of the entity and document tables."""

    documents_of: Adjacency
    entities_of: Adjacency

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return len(self.documents_of.offsets) - 1

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self.entities_of.offsets) - 1
