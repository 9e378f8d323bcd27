"""Load tables into a Neo4j database: in batches, with the progress in a marker node, so that no row is lost or written twice.

The marker (``KgqaGraph``, or ``KgqaQuestions`` for questions) holds the hash of the tables and the number of loaded rows of each table. One
transaction writes a batch and the new counts, and does nothing if the counts differ from those that the loader expects. So an interrupted
load resumes where it stopped. A commit whose answer was lost is not repeated. If two loaders run, the later one continues.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kgqa.errors import HeaderMismatch, StoreConflict, StoreError
from kgqa.progress import Advance
from kgqa.store.graph import GRAPH_VERSION, TABLES
from kgqa.store.neo4j.batches import ahead, by_place, listed
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.layouts import GRAPH, QUESTIONS, Layout
from kgqa.store.queries import read_queries

BATCH_ROWS = 8_000
"""Rows per transaction; with 20,000 the server took a tenth to a quarter longer per row (docs/experiments.md)."""
BATCH_BYTES = 16 << 20
ERASE_NODES = 1_000
"""Nodes per transaction, with all their relationships: 5,000 hubs took more than 300 MiB, which a server may forbid, and no less time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """The marker of a graph in a database."""

    version: int
    """Version of this kind of graph; 0 if the loader knew none."""
    tables: str
    """Hash of the tables of the graph."""
    loader: str
    """Id of the run that loads it, or loaded it."""
    finished: bool
    rows: dict[str, int]
    """Number of loaded rows of each table."""


def read_marker(store: Neo4jStore, layout: Layout = GRAPH) -> Marker | None:
    """The marker of the database for a graph of this ``layout``, if it has one."""
    damaged = StoreConflict(f"{store.settings.place}: the marker of kgqa's graph is damaged; give kgqa an empty database.")
    try:
        rows = store.run(read_queries()[layout.marker]).to_pylist()
    except HeaderMismatch:
        raise damaged from None
    if not rows:
        return None
    if len(rows) > 1 or any(value is None for value in rows[0].values()):
        raise damaged
    return Marker(
        version=rows[0]["version"],
        tables=rows[0]["tables"],
        loader=rows[0]["loader"],
        finished=rows[0]["finished"],
        rows={name: rows[0][name] for name in layout.tables},
    )


def check_holds(store: Neo4jStore, tables: str | None = None) -> None:
    """Raise StoreConflict unless the database holds a whole graph of kgqa; where ``tables`` (a hash) is given, the graph made from them."""
    marker = read_marker(store)
    if marker is None:
        raise StoreConflict(f"{store.settings.place}: there is no graph of kgqa in this database; run kgqa load --store neo4j first.")
    if marker.version != GRAPH_VERSION or tables not in {None, marker.tables}:
        raise _other_graph(store, marker)
    if not marker.finished:
        raise StoreConflict(f"{store.settings.place}: the graph is not completely loaded; run kgqa load --store neo4j again.")
    _check_whole(store, marker, GRAPH)


def check_can_load(store: Neo4jStore, tables: str | None = None, layout: Layout = GRAPH) -> Marker | None:
    """The database's marker. Raises StoreConflict if it holds another graph than that of ``tables`` or, for None, if it holds any."""
    marker = read_marker(store, layout)
    if marker is None:
        occupant = QUESTIONS if layout is GRAPH else GRAPH
        if read_marker(store, occupant) is not None:
            raise StoreConflict(f"{store.settings.place}: the database holds kgqa's {occupant.holds}; give the {layout.holds} another one.")
        if nodes := store.run(read_queries()["count_nodes"])["nodes"][0].as_py():
            raise StoreConflict(f"{store.settings.place}: {nodes:,} nodes in it were not written by kgqa; give kgqa an empty database.")
    elif tables is not None and marker.tables != tables:
        raise _other_graph(store, marker)
    return marker


def _check_whole(store: Neo4jStore, marker: Marker, layout: Layout) -> None:
    """Raise StoreConflict unless each table has as many rows as ``marker`` says; holds for incomplete graphs too."""
    for name, count in _counts(store, layout).items():
        if count != marker.rows[name]:
            raise StoreConflict(
                f"{store.settings.place}: the graph has {count:,} {name} rows, kgqa loaded {marker.rows[name]:,}; someone changed it: "
                f"{layout.anew}."
            )


def check_can_erase(store: Neo4jStore, marker: Marker, layout: Layout = GRAPH) -> None:
    """Raise StoreConflict if the database holds more than kgqa loaded: other kinds of nodes or relationships, or more of its own."""
    strangers = sum(store.run(read_queries()[layout.strangers])["strangers"].to_pylist())
    if strangers or any(count > marker.rows[name] for name, count in _counts(store, layout).items()):
        raise StoreConflict(
            f"{store.settings.place}: someone added nodes or relationships to kgqa's graph, so kgqa does not erase it; "
            "give kgqa an empty database."
        )


def _counts(store: Neo4jStore, layout: Layout) -> dict[str, int]:
    queries = read_queries()
    return {name: int(store.run(queries[f"count_{name}"])["rows"][0].as_py()) for name in layout.tables}


def load(
    store: Neo4jStore, tables: str, rows: Mapping[str, pa.Table], *, layout: Layout = GRAPH, advance: Advance = lambda _: None
) -> bool:
    """Load ``rows`` of the layout's tables, or resume an earlier load. Returns whether anything was written.

    ``tables`` is the hash of the tables that the rows come from. Raises StoreConflict if the database holds something else, or if another
    run takes over.
    """
    marker = check_can_load(store, tables, layout)
    _make(store, layout.constraints)
    loader = uuid.uuid4().hex
    if marker is not None and marker.finished:
        _check_whole(store, marker, layout)
        _make(store, (*layout.keys, *layout.indexes))
        advance(sum(table.num_rows for table in rows.values()))
        return False
    marker = (_claim if marker is None else _take_over)(store, tables, loader, layout)
    # Count only now: an earlier loader can no longer write, so the marker and the rows are stable.
    _check_whole(store, marker, layout)
    for name in layout.nodes:
        _load_table(store, layout, name, rows[name], marker.rows[name], loader, advance)
    _make(store, layout.keys)
    for name in layout.links:
        _load_table(store, layout, name, rows[name], marker.rows[name], loader, advance)
    _make(store, layout.indexes)
    if store.write(read_queries()[layout.finish], {"loader": loader}) != [[1]]:
        raise _taken_over(store)
    return True


def erase(store: Neo4jStore, *, layout: Layout = GRAPH, advance: Advance = lambda _: None) -> None:
    """Remove kgqa's graph in batches. Raises StoreConflict if the database holds anything else."""
    queries = read_queries()
    marker = read_marker(store, layout)
    if marker is None:
        return
    check_can_erase(store, marker, layout)
    loader = uuid.uuid4().hex
    store.write(queries[layout.begin_erasing], {"loader": loader})
    while erased := store.write(queries[layout.erase_batch], {"loader": loader, "limit": ERASE_NODES})[0][0]:
        advance(int(erased))
    if store.write(queries[layout.erase_marker], {"loader": loader}) == [[0]]:
        raise _taken_over(store)


def drop_indexes(store: Neo4jStore, *, layout: Layout = GRAPH) -> None:
    """Drop the keys and indexes of an erased graph: making them for a new graph is faster than updating them during its load."""
    _make(store, [f"drop_{name}" for name in (*layout.keys, *layout.indexes) if name != "await_indexes"])


def _make(store: Neo4jStore, constraints_and_indexes: Iterable[str]) -> None:
    queries = read_queries()
    for name in constraints_and_indexes:
        store.write(queries[name])


def _load_table(
    store: Neo4jStore, layout: Layout, name: str, table: pa.Table, offset: int, loader: str, advance: Advance
) -> None:  # fmt: skip
    """Load the rows of ``table`` from ``offset`` on."""
    query = read_queries()[f"add_{name}"]
    advance(offset)
    for count, batch in ahead(_batches(table, offset, layout.links.get(name, {}))):
        if not store.write(query, {"loader": loader, "from": offset, **batch}, expect=[[count]], anew=layout.anew):
            _check_written(store, loader, name, offset + count, layout)
        offset += count
        advance(count)


def _batches(table: pa.Table, offset: int, columns: Mapping[str, str]) -> Iterator[tuple[int, dict[str, list[Any]]]]:
    """Rows and query parameters of each batch: at most ``BATCH_ROWS`` rows and about ``BATCH_BYTES`` bytes; ``columns`` hold ids."""
    size = min(BATCH_ROWS, max(1, BATCH_BYTES * max(table.num_rows, 1) // max(table.nbytes, 1)))
    for at in range(offset, table.num_rows, size):
        batch, ids = by_place(table.slice(at, size), columns)
        yield batch.num_rows, {**ids, "rows": listed(batch)}


def _claim(store: Neo4jStore, tables: str, loader: str, layout: Layout) -> Marker:
    try:
        store.write(read_queries()[layout.claim], {"version": layout.version, "tables": tables, "loader": loader})
    except StoreError:
        # Another loader was faster: the constraint allows only one marker.
        return _take_over(store, tables, loader, layout)
    return Marker(version=layout.version, tables=tables, loader=loader, finished=False, rows=dict.fromkeys(layout.tables, 0))


def _take_over(store: Neo4jStore, tables: str, loader: str, layout: Layout) -> Marker:
    result = store.write(read_queries()[layout.take_over], {"tables": tables, "loader": loader})
    marker = read_marker(store, layout)
    if result != [[1]] or marker is None:
        raise StoreConflict(
            f"{store.settings.place}: another run of kgqa changes this database; wait for it, then run the same command again."
        )
    return marker


def _check_written(store: Neo4jStore, loader: str, name: str, expected_rows: int, layout: Layout) -> None:
    """Check a batch that changed nothing: either it was committed before and only the answer was lost, or another loader has taken over."""
    marker = read_marker(store, layout)
    if marker is None or marker.loader != loader or marker.rows[name] != expected_rows:
        raise _taken_over(store)


def _taken_over(store: Neo4jStore) -> StoreConflict:
    return StoreConflict(f"{store.settings.place}: another run of kgqa took over this database and goes on with it; this one stopped.")


def _other_graph(store: Neo4jStore, marker: Marker) -> StoreConflict:
    of = "kgqa's graph of other tables"
    if marker.version != GRAPH_VERSION:
        of = f"a graph that {'an older' if marker.version < GRAPH_VERSION else 'a newer'} kgqa loaded, without what queries ask here"
    return StoreConflict(
        f"{store.settings.place}: the database holds {of}; replace it with kgqa load --store neo4j --replace, or give another database."
    )


def imported_marker(tables: str, rows: Mapping[str, pa.Table]) -> dict[str, str | int | bool]:
    """The marker (:mod:`kgqa.store.neo4j.graph`) of a graph that comes into the database whole, with the names of the node's properties."""
    counts = {name: rows[name].num_rows for name in TABLES}
    return {"id": "kgqa", "tables": tables, "version": GRAPH_VERSION, "loader": "neo4j-admin", "finished": True, **counts}
