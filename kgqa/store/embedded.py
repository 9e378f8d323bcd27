"""The embedded store: Ladybug, loaded once by COPY, read-only afterwards, disposable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa

from kgqa.errors import KgqaError, QueryError, QueryTimeout, StorageError, StoreError
from kgqa.store.base import as_declared, as_table, check_runs_on
from kgqa.store.graph import TABLES
from kgqa.store.queries import Query, Value, check_reads_only, read_queries

ENGINE_VERSION = "0.20.4"
WRONG_ANSWERS = ("0.21.", "0.22.")
"""These return wrong counts on filtered multi-hop patterns (docs/decisions/0002-embedded-engine.md)."""
BUFFER_BYTES = 512 << 20
_PLANNED_VALUE = re.compile(r"\b(?:LIMIT|SKIP)\s+\$", re.IGNORECASE)


def engine(*, any_version: bool = False) -> Any:
    """The engine's module; raises StoreError if it is missing or, unless ``any_version``, not the version that was tested."""
    try:
        import ladybug
    except ImportError:
        raise StoreError(f"the embedded graph engine is not installed; run: pip install ladybug=={ENGINE_VERSION}") from None
    if not any_version:
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

    name = "embedded"

    def __init__(self, path: Path, *, threads: int = 0, any_version: bool = False) -> None:
        """Open the graph at ``path``; ``threads`` 0 leaves the choice to the engine. Raises StoreError.

        ``any_version`` is for :mod:`kgqa.examination`, which finds out whether an engine answers rightly.
        """
        if not path.is_file():
            raise StoreError(f"{path}: there is no graph here; run kgqa generate first.")
        self._closed = False
        self.version = str(engine(any_version=any_version).__version__)
        self._threads = threads
        self._database, self._connection = _open(path, read_only=True, threads=threads, any_version=any_version)

    def run(self, query: Query, arguments: Mapping[str, Value] | None = None, *, seconds: float | None = None) -> pa.Table:
        """The rows of ``query``; see :class:`~kgqa.store.base.GraphStore`."""
        check_runs_on(query, self.name)
        with self._connected(query) as connection, _limited(connection, seconds, f"query {query.name}"):
            rows = _execute(connection, query, dict(arguments or {}))
        return as_declared(rows, query)

    def read(self, text: str, *, rows: int, seconds: float) -> pa.Table:
        """At most ``rows`` rows of any Cypher that only reads; see :class:`~kgqa.store.base.GraphStore`."""
        check_reads_only(text)
        with _limited(self._connection, seconds, "the query"):
            try:
                result = self._connection.execute(text)
                # Several statements give a list of results.
                if isinstance(result, list):
                    raise QueryError("give one statement at a time.")
                columns = result.get_column_names()
                found: list[list[object]] = []
                while result.has_next() and len(found) < rows:
                    found.append(result.get_next())
                result.close()
            except RuntimeError as error:
                raise QueryError(f"the query cannot be run: {_first_line(error)}") from None
        return as_table(columns, list(zip(*found, strict=True)) or [[]] * len(columns))

    @contextmanager
    def _connected(self, query: Query) -> Iterator[Any]:
        """The connection, or a new one for a query with LIMIT $x or SKIP $x.

        A connection keeps the plan of a text, and in that plan the first value that LIMIT and SKIP had: later values would be ignored.
        """
        if not _PLANNED_VALUE.search(query.text):
            yield self._connection
            return
        connection = engine(any_version=True).Connection(self._database, num_threads=self._threads)
        try:
            yield connection
        finally:
            connection.close()

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


def build(
    path: Path, rows: Mapping[str, pa.Table], *, threads: int = 0, advance: Callable[[int], None] | None = None, any_version: bool = False
) -> None:
    """Write a new graph at ``path`` from its ``rows`` (:func:`kgqa.store.graph.graph_rows`); the path must be free.

    Memory: the rows, plus the engine's buffer of half a GiB.
    """
    queries = read_queries()
    database, connection = _open(path, read_only=False, threads=threads, any_version=any_version)
    try:
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


def _open(path: Path, *, read_only: bool, threads: int, any_version: bool) -> tuple[Any, Any]:
    ladybug = engine(any_version=any_version)
    try:
        database = ladybug.Database(str(path), read_only=read_only, buffer_pool_size=BUFFER_BYTES, max_num_threads=threads)
        return database, ladybug.Connection(database, num_threads=threads)
    except RuntimeError as error:
        raise StoreError(f"{path}: the graph cannot be opened ({_first_line(error)}); delete it, kgqa generate makes it anew.") from None


@contextmanager
def _limited(connection: Any, seconds: float | None, what: str) -> Iterator[None]:
    connection.set_query_timeout(0 if seconds is None else max(1, round(seconds * 1000)))
    try:
        yield
    except KgqaError as error:
        if seconds is not None and str(error).endswith(": Interrupted."):  # all that the engine says
            raise QueryTimeout(f"{what} took more than {seconds:g} seconds; narrow it, or allow more time.") from None
        raise


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
