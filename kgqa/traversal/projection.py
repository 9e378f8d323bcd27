"""The projection: the domain's queries run once in the store, and their edges become the graph that is searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.rows import Adjacency, IntArray, distinct, paired
from kgqa.errors import EmptyResult, StoreError
from kgqa.settings.projection import ProjectionSettings
from kgqa.sources.tables import arrow, frame
from kgqa.store.base import GraphStore
from kgqa.store.cypher import check_own_query
from kgqa.store.queries import PLURALS, Query
from kgqa.traversal.base import Graph

ROLES = ("document_to_entity", "entity_to_document")


def project_edges(
    store: GraphStore, queries: Mapping[str, Query], settings: ProjectionSettings, *, advance: Callable[[int], None] | None = None
) -> pa.Table:
    """All edges as a table ``direction, document, entity``, sorted and distinct; ``advance`` is called after each query.

    Raises EmptyResult if a direction has no edge, StoreError for a row without ids, and QueryError for a domain's own query that does not
    only read. Own queries run within ``OWN_LIMITS``. Memory: three text columns of that length.
    """
    for name in (name for direction in ROLES for name in getattr(settings, direction)):
        if queries[name].own:  # check all queries before the first one runs
            check_own_query(queries[name])
    edge_tables = []
    for direction in ROLES:
        parts = []
        for name in getattr(settings, direction):
            parts.append(query_edges(store, queries[name]))
            if advance:
                advance(1)
        edge_tables.append(_once_each(arrow(pl.concat(parts)), direction))
        if not edge_tables[-1].num_rows:
            names = ", ".join(getattr(settings, direction))
            raise EmptyResult(
                f"the projection found no {direction.replace('_', ' ')} edge (queries: {names}), so nothing can be traversed; "
                "check the linking rules and the documents."
            )
    return pa.concat_tables(edge_tables)


def query_edges(store: GraphStore, query: Query) -> pl.DataFrame:
    """The rows of one query of a projection as edges ``document, entity``. Raises StoreError for a row without ids."""
    edges = _edges(frame(store.run(query)), query.name)
    if edges.null_count().sum_horizontal().item():
        raise StoreError(f"query {query.name}: a row has no document or no entity; a projection must return ids only.")
    return edges


def _once_each(edges: pa.Table, direction: str) -> pa.Table:
    """The distinct edges of one direction, sorted by the ranks of their ids: sorting the texts themselves is several times slower."""
    (documents, first), (entities, second) = (_ranked(edges[name]) for name in ("document", "entity"))
    pairs = distinct(paired(first, second))
    document, entity = documents.take(pa.array(pairs >> 32)), entities.take(pa.array(pairs & 0xFFFFFFFF))
    return pa.table({"direction": pa.repeat(pa.scalar(direction), len(pairs)), "document": document, "entity": entity})


def _ranked(ids: pa.ChunkedArray) -> tuple[pa.Array, IntArray]:
    """The distinct ids, sorted by their UTF-8 bytes, and the rank of each of ``ids``.

    >>> distinct_ids, rank = _ranked(pa.chunked_array([["b", "a", "b"]]))
    >>> distinct_ids.to_pylist(), rank.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    coded = ids.combine_chunks().dictionary_encode()
    order = pc.array_sort_indices(coded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    return coded.dictionary.take(pa.array(order)), rank[coded.indices.to_numpy()]


def _edges(rows: pl.DataFrame, query: str) -> pl.DataFrame:
    """The rows of one query as edges; lists of equal length (``documents``, ``entities``) in a row are paired element by element."""
    lists = [several for several in PLURALS if several in rows.columns]
    try:
        edges = rows.explode(lists).rename({several: PLURALS[several] for several in lists}) if lists else rows
        return edges.select(pl.col("document").cast(pl.String), pl.col("entity").cast(pl.String))
    except (pl.exceptions.ShapeError, pl.exceptions.ColumnNotFoundError, pl.exceptions.DuplicateError):
        raise StoreError(
            f"query {query}: a projection returns document and entity, or lists of equal length (documents, entities); fix it."
        ) from None


def graph_from_edges(edges: pa.Table, entities: pa.Table, documents: pa.Table) -> Graph:
    """The graph over the rows of the ``entities`` and ``documents`` tables; raises StoreError for an unknown id."""
    document, entity = _rows(edges["document"], documents["id"], "document"), _rows(edges["entity"], entities["id"], "entity")
    out = pc.equal(edges["direction"], ROLES[0]).combine_chunks().to_numpy(zero_copy_only=False)
    return Graph(
        documents_of=Adjacency.from_pairs(entity[~out], document[~out], entities.num_rows),
        entities_of=Adjacency.from_pairs(document[out], entity[out], documents.num_rows),
    )


def _rows(ids: pa.ChunkedArray, table_ids: pa.ChunkedArray, kind: str) -> IntArray:
    rows = pc.index_in(ids, table_ids)
    if rows.null_count:
        stranger = ids.filter(pc.is_null(rows))[0].as_py()
        raise StoreError(f"a projection query returned the {kind} id {stranger!r}, which is not in the tables; fix the query.")
    return rows.combine_chunks().to_numpy()
