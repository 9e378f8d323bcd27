"""The search as Cypher queries in the store, one call per head and length: much slower, but independent of kernel and projection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.rows import Adjacency, IntArray, Offsets, paired, spread
from kgqa.errors import StoreError
from kgqa.store.base import GraphStore
from kgqa.store.cypher import check_own_query
from kgqa.store.queries import Query
from kgqa.traversal.base import Chains, EndPoints, Reached, Searches


class InDatabase:
    """:class:`~kgqa.traversal.base.Traversal` by a domain's queries: the n-th query of each kind finds chains of n documents.

    A candidates query has the parameter ``entity`` and returns ``candidate``. A chains query has the parameters ``entity`` and
    ``candidates`` and returns ``candidate, document_1, entity_1, document_2, …``. Memory: the chains of 64 queries.
    """

    batch = 64
    concurrent = False

    def __init__(
        self, store: GraphStore, candidates: Sequence[Query], chains: Sequence[Query], *, entities: pa.Table, documents: pa.Table
    ) -> None:
        """Search ``store``; the tables map ids to rows. Raises QueryError for a user's query that does not only read."""
        for query in (*candidates, *chains):
            if query.own:
                check_own_query(query)
        self._store = store
        self._candidates, self._chains = candidates, chains
        self._entities, self._documents = entities["id"].combine_chunks(), documents["id"].combine_chunks()

    def reach(self, searches: Searches, ends: EndPoints, *, with_chains: bool) -> Reached:
        """Implements :meth:`Traversal.reach <kgqa.traversal.base.Traversal.reach>` with queries."""
        candidates = _end_points(searches, self._reached(searches.heads), ends)
        counts, no_rows = candidates.counts().astype(np.int32), np.zeros(0, np.int32)
        if not with_chains:
            return Reached(
                counts=counts,
                candidates=candidates.targets,
                lengths=no_rows,
                nodes=no_rows,
                document_counts=np.zeros_like(counts),
                documents=no_rows,
            )
        pairs = paired(np.repeat(searches.heads, counts), candidates.targets)
        # The tree's chain is the first of the shortest ones, so sort these by their nodes and take the first of each pair.
        chains = self._chains_of(np.unique(pairs), longer=False)
        chains = chains.take(np.lexsort([*_columns(chains.nodes), chains.pairs]))
        tree = chains.take(np.searchsorted(chains.pairs, pairs))
        documents = tree.nodes[:, 1::2]
        query = np.repeat(np.arange(len(counts)), counts)
        chained = Adjacency.from_pairs(np.repeat(query, documents.shape[1])[documents.ravel() >= 0], documents[documents >= 0], len(counts))
        return Reached(
            counts=counts, candidates=candidates.targets, lengths=tree.lengths, nodes=tree.nodes[tree.nodes >= 0],
            document_counts=chained.counts().astype(np.int32), documents=chained.targets,
        )  # fmt: skip

    def chains(self, heads: IntArray, offsets: npt.NDArray[np.int64], candidates: IntArray, *, longer: bool, limit: int) -> Chains:
        """Implements :meth:`Traversal.chains <kgqa.traversal.base.Traversal.chains>` with queries."""
        pairs = paired(np.repeat(heads, np.diff(offsets)), candidates)
        all_chains = self._chains_of(np.unique(pairs), longer=longer)
        # The kernel's order: shorter chains first, then by the nodes from the candidate back to the head.
        all_chains = all_chains.take(np.lexsort([*_columns(_from_the_end(all_chains)), all_chains.lengths, all_chains.pairs]))
        first, last = (np.searchsorted(all_chains.pairs, pairs, side) for side in ("left", "right"))
        counts = np.minimum(last - first, limit)
        selected_chains = all_chains.take(spread(first, counts))
        return Chains(
            counts=counts.astype(np.int32), lengths=selected_chains.lengths, nodes=selected_chains.nodes[selected_chains.nodes >= 0]
        )

    def _reached(self, heads: IntArray) -> Adjacency:
        """The entities that each of ``heads`` (ascending) reaches, one row a head."""
        # One call per distinct head, however many queries have it.
        distinct, place = np.unique(heads, return_inverse=True)
        numbered_rows = [
            (number, self._store.run(query, {"entity": self._entities[head].as_py()})["candidate"])
            for number, head in enumerate(distinct)
            for query in self._candidates
        ]
        sources = np.repeat([number for number, _ in numbered_rows], [len(ids) for _, ids in numbered_rows])
        targets = _rows([ids for _, ids in numbered_rows], self._entities)
        return Adjacency.from_pairs(sources.astype(np.int64), targets, len(distinct)).take(place)

    def _chains_of(self, pairs: Offsets, *, longer: bool) -> _Found:
        """The shortest chains (``longer``: all) of ``pairs``, ascending and distinct numbers of head and candidate."""
        tables: list[list[tuple[int, pa.Table]]] = [[] for _ in self._chains]
        bounds = np.flatnonzero(np.diff(pairs >> 32, prepend=-1, append=-1))
        for first, last in pairwise(bounds):
            head = int(pairs[first] >> 32)
            unreached = self._entities.take(pa.array(pairs[first:last] & 0xFFFFFFFF)).to_pylist()
            # Queries run from short chains to long ones; if only shortest chains are wanted, a candidate is reached once.
            for query, found_rows in zip(self._chains, tables, strict=True):
                rows = self._store.run(query, {"entity": self._entities[head].as_py(), "candidates": unreached}) if unreached else None
                if rows is not None and rows.num_rows:
                    found_rows.append((head, rows))
                    reached_entities = set() if longer else set(rows["candidate"].to_pylist())
                    unreached = [candidate for candidate in unreached if candidate not in reached_entities]
        width = 2 * len(self._chains) + 1
        return _Found.together([self._numbered(found_rows, width) for found_rows in tables])

    def _numbered(self, tables: list[tuple[int, pa.Table]], width: int) -> _Found:
        """The chains of one length: ids become rows of the entity and document tables, padded with -1 to ``width`` nodes."""
        if not tables:
            return _Found(pairs=np.zeros(0, np.int64), lengths=np.zeros(0, np.int32), nodes=np.zeros((0, width), np.int32))
        rows = pa.concat_tables([table for _, table in tables])
        names = [*rows.column_names[1:], rows.column_names[0]]  # the candidate comes first in a query, last on a chain
        nodes = np.full((rows.num_rows, width), -1, np.int32)
        nodes[:, 0] = np.repeat([head for head, _ in tables], [table.num_rows for _, table in tables])
        for place, name in enumerate(names, start=1):
            nodes[:, place] = _rows([rows[name]], self._documents if place % 2 else self._entities)
        lengths = np.full(rows.num_rows, len(names) + 1, np.int32)
        return _Found(pairs=paired(nodes[:, 0], nodes[:, len(names)]), lengths=lengths, nodes=nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Chains, one per row."""

    pairs: Offsets
    """Head and candidate in one number."""
    lengths: IntArray
    nodes: IntArray
    """Shape (chains, width): entity, document, entity, …, from the head; -1 after the end."""

    def take(self, rows: npt.NDArray[np.integer]) -> _Found:
        return _Found(pairs=self.pairs[rows], lengths=self.lengths[rows], nodes=self.nodes[rows])

    @classmethod
    def together(cls, parts: list[_Found]) -> _Found:
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in ("pairs", "lengths", "nodes")})


def _end_points(searches: Searches, reached: Adjacency, ends: EndPoints) -> Adjacency:
    """The candidates among the entities that each query reaches; the same rule as in the kernel, for all queries of a batch at once."""
    query, entity = reached.sources(), reached.targets
    is_answer = entity == searches.answers[query]
    first, last = ends.fact_offsets[searches.heads], ends.fact_offsets[searches.heads + 1]
    queries, facts = np.repeat(np.arange(len(first)), last - first), spread(first, last - first)
    # A fact with the query's head and relation makes its tail true as well, so only the answer itself stays of them.
    same_relation = ends.fact_relations[facts] == searches.relations[queries]
    true = np.isin(paired(query, entity), paired(queries[same_relation], ends.fact_tails[facts[same_relation]]))
    mask = is_answer | (ends.roles.contains(entity, searches.relations[query]) & ~true)
    has_answer = np.bincount(query, is_answer, minlength=len(searches.heads)) > 0
    return reached.keep(mask & has_answer[query])


def _from_the_end(chains: _Found) -> IntArray:
    """The nodes of each chain in reverse order, -1 after the head; shape (chains, width)."""
    places = chains.lengths[:, None] - 1 - np.arange(chains.nodes.shape[1])
    return np.where(places >= 0, np.take_along_axis(chains.nodes, np.maximum(places, 0), axis=1), -1)


def _columns(nodes: IntArray) -> list[npt.NDArray[np.integer]]:
    """The columns as keys for ``lexsort``, which sorts by its last key first.

    >>> [column.tolist() for column in _columns(np.array([[1, 2], [3, 4]]))]
    [[2, 4], [1, 3]]
    """
    return list(nodes.T[::-1])


def _rows(ids: list[pa.ChunkedArray], ids_of_table: pa.Array) -> IntArray:
    """The row of each id in ``ids_of_table``; the columns of ``ids`` are concatenated. Raises StoreError for an unknown id."""
    together = pa.chunked_array([chunk for column in ids for chunk in column.chunks], pa.string())
    rows = pc.index_in(together, ids_of_table)
    if rows.null_count:
        stranger = together.filter(pc.is_null(rows))[0].as_py()
        raise StoreError(
            f"a traversal query returned the id {stranger!r}, which is not in the tables; the graph is not that of the workspace."
        )
    return rows.combine_chunks().to_numpy()
