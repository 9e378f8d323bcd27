"""The embedded store: Ladybug, loaded once by COPY, read-only afterwards, disposable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import polars as pl
import pyarrow as pa

from kgqa.errors import StorageError, StoreError
from kgqa.sources.tables import arrow, frame
from kgqa.store.queries import Query, Value, read_queries

ENGINE_VERSION = "0.20.4"
WRONG_ANSWERS = ("0.21.", "0.22.")
"""These return wrong counts on filtered multi-hop patterns (docs/decisions/0002-embedded-engine.md)."""
BUFFER_BYTES = 512 << 20
TABLES = ("entity", "document", "fact", "mentions", "about")


def engine() -> Any:
    """The engine's module; raises StoreError if it is missing or a version that is known or suspected to answer wrongly."""
    try:
        import ladybug
    except ImportError:
        raise StoreError(f"the embedded graph engine is not installed; run: pip install ladybug=={ENGINE_VERSION}") from None
    check_engine_version(str(ladybug.__version__))
    return ladybug


def check_engine_version(version: str) -> None:
    """Raise StoreError unless ``version`` is the one that was tested."""
    if version == ENGINE_VERSION:
        return
    why = (
        "returns wrong counts on filtered multi-hop patterns" if version.startswith(WRONG_ANSWERS) else "was never compared with the truth"
    )
    raise StoreError(f"ladybug {version} {why}; run: pip install ladybug=={ENGINE_VERSION}")


class EmbeddedStore:
    """A graph in one file, opened for reading."""

    def __init__(self, path: Path, *, threads: int = 0) -> None:
        """Open the graph at ``path``; ``threads`` 0 leaves the choice to the engine. Raises StoreError."""
        if not path.is_file():
            raise StoreError(f"{path}: there is no graph here; run kgqa generate first.")
        self._closed = False
        self._database, self._connection = _open(path, read_only=True, threads=threads)

    def run(self, query: Query, arguments: Mapping[str, Value] | None = None) -> pa.Table:
        """The rows of ``query``; see :class:`~kgqa.store.base.GraphStore`."""
        if "embedded" not in query.stores:
            raise StoreError(f"query {query.name} does not run on the embedded store, only on: {', '.join(query.stores)}.")
        rows = _execute(self._connection, query, dict(arguments or {}))
        found = {field.name: _kind(field.type) for field in rows.schema}
        if list(found) != list(query.returns) or any(kind not in {found[name], "number"} for name, kind in query.returns.items()):
            told, is_so = (", ".join(f"{name}: {kind}" for name, kind in kinds.items()) for kinds in (query.returns, found))
            raise StoreError(f"query {query.name} ({query.file}): its header says that it returns {told}, but it returns {is_so}; mend it.")
        return rows

    def close(self) -> None:
        """Close the file."""
        if not self._closed:
            self._closed = True
            self._connection.close()
            self._database.close()

    def __enter__(self) -> EmbeddedStore:
        """Use as a context manager."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close."""
        self.close()


def build(path: Path, tables: Mapping[str, pa.Table], *, threads: int = 0, advance: Callable[[int], None] | None = None) -> None:
    """Write a new graph at ``path`` from ``tables`` (entities, documents with ``usable``, relations, facts, links); the path must be free.

    Memory: the tables, plus the engine's buffer of half a GiB.
    """
    queries = read_queries()
    database, connection = _open(path, read_only=False, threads=threads)
    try:
        rows = graph_rows(tables)
        for name in TABLES:
            _execute(connection, queries[f"schema_{name}"], {})
        for name in TABLES:
            if rows[name].num_rows:
                _execute(connection, queries[f"load_{name}"], {"rows": rows[name]})
            if advance:
                advance(rows[name].num_rows)
    except StoreError as error:
        # The engine speaks of a failed checkpoint, or of a read past the end of the file that it could not write.
        if "IO exception" in str(error):
            where, remedy = path.parent, "free some space and run the same command again"
            raise StorageError(f"{where}: the disk is full or limits the size of files; {remedy}.") from error
        raise
    finally:
        connection.close()
        database.close()


def graph_rows(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The rows of each node and relationship table, ends first; no nulls, because the engine mishandles them in Arrow input."""
    documents = frame(tables["documents"])
    facts = frame(tables["facts"]).join(frame(tables["relations"]), left_on="relation", right_on="id", maintain_order="left")
    return {
        "entity": tables["entities"].select(["id", "kind", "label", "description"]),
        "document": arrow(documents.select("id", "title", "text", "usable")),
        "fact": arrow(facts.select("head", "tail", "relation", "label")),
        "mentions": tables["links"].select(["document", "entity", "count"]),
        "about": arrow(documents.filter(pl.col("about").is_not_null()).select("about", "id")),
    }


def _kind(type_: pa.DataType) -> str:
    """The word for this type in a query's header."""
    kinds = {"string": pa.types.is_string, "integer": pa.types.is_integer, "number": pa.types.is_floating, "boolean": pa.types.is_boolean}
    return next((kind for kind, test in kinds.items() if test(type_)), str(type_))


def _open(path: Path, *, read_only: bool, threads: int) -> tuple[Any, Any]:
    ladybug = engine()
    try:
        database = ladybug.Database(str(path), read_only=read_only, buffer_pool_size=BUFFER_BYTES, max_num_threads=threads)
        return database, ladybug.Connection(database, num_threads=threads)
    except RuntimeError as error:
        raise StoreError(f"{path}: the graph cannot be opened ({_first_line(error)}); delete it, kgqa generate makes it anew.") from None


def _execute(connection: Any, query: Query, arguments: dict[str, Any]) -> pa.Table:
    try:
        result = connection.execute(query.text, arguments)
        table = result.get_as_arrow(-1)
        result.close()
    except RuntimeError as error:
        raise StoreError(f"query {query.name} ({query.file}): {_first_line(error)}") from None
    return table


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") + "."
