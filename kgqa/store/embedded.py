"""The embedded store: Ladybug, loaded once by COPY, read-only afterwards, disposable."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa

from kgqa.errors import EngineFileError, QueryError, QueryMemory, QueryTimeout, StorageError, StoreConflict, StoreError
from kgqa.progress import Advance
from kgqa.store import paths
from kgqa.store.base import as_declared, check_runs_on, distinct, first_line, holds_objects
from kgqa.store.cypher import check_own_query, check_reads_only, limited
from kgqa.store.graph import TABLES
from kgqa.store.limits import OWN_LIMITS, Answer, LimitErrors, Limits, remaining, size
from kgqa.store.memory import VARIABLE, engine_memory, reading_memory
from kgqa.store.parameter_values import check_values
from kgqa.store.queries import Query, Value, read_queries
from kgqa.store.query_process import Refused, Worker
from kgqa.store.stop import stopped_by
from kgqa.store.values import Node, Relationship, Walk, table_of_values

ENGINE_VERSION = "0.20.4"
WRONG_ANSWERS = ("0.21.", "0.22.")
"""These return wrong counts on filtered multi-hop patterns (docs/decisions/0002-embedded-engine.md)."""
ADDRESSES = 1 << 43
"""Bytes of address space that the engine reserves (8 TiB). It uses only a part."""
MEANINGS: tuple[tuple[str, type[StoreError]], ...] = (
    ("Interrupted.", QueryTimeout),
    ("Buffer manager exception", QueryMemory),
    ("std::bad_alloc", QueryMemory),
    ("MemoryError", QueryMemory),
    ("IO exception", EngineFileError),
)
"""Beginning of an engine's message → our exception."""
AFTER_COMMIT = (
    "Transaction committed successfully, but the post-commit checkpoint failed. "
    "The committed data is durable and will be recovered on restart: "
)
"""Beginning of a message about a commit whose write to the file failed."""
_RULE = re.compile(r": expected rule \w+")
"""A grammar rule's name in a parser's message, which helps no user."""
_CAST = re.compile(r"Conversion exception: Cast failed")
"""The engine's message for a comparison of text with a number."""
_NUMBER = """ Text that looks like a number needs quotation marks of its own: id="5", in a shell 'id="5"'."""
_NOT_THERE = re.compile(
    r"Binder exception: (?:Table \w+ does not exist|Cannot find property \w+ for|\$rows has \d+ columns but \d+ columns were expected)"
)
"""The engine's messages for a graph that lacks a table or property of one of our queries."""
PIECES = 32
"""The rows of one COPY take at most this fraction of the engine's buffer: 100 MB of documents do not fit into half a GiB."""
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
    if version != ENGINE_VERSION:
        why = known_fault(version) or "was never compared with the truth"
        raise StoreError(f"ladybug {version} {why}; run: pip install ladybug=={ENGINE_VERSION}")


def known_fault(version: str) -> str:
    """The known fault of this version of the engine, or an empty text."""
    return "returns wrong counts on filtered multi-hop patterns" if version.startswith(WRONG_ANSWERS) else ""


class EmbeddedStore:
    """A graph in one file, opened for reading."""

    name = "embedded"

    def __init__(self, path: Path, *, threads: int = 0, any_version: bool = False) -> None:
        """Open the graph at ``path``; ``threads`` 0 leaves the choice to the engine. Raises StoreError.

        ``any_version`` is for :mod:`kgqa.conformance`, which finds out whether an engine answers rightly.
        """
        if not path.is_file():
            raise StoreError(f"{path}: there is no graph here; run kgqa generate first.")
        self._closed = False
        self.version = str(engine(any_version=any_version).__version__)
        self._path, self._threads = path, threads
        self._worker: Worker | None = None
        self._database, self._connection = _open(path, read_only=True, threads=threads, any_version=any_version)
        self._file = _identity(path)
        self._new = True

    def run(self, query: Query, arguments: Mapping[str, Value] | None = None, *, seconds: float | None = None) -> pa.Table:
        """The rows of ``query``; see :class:`~kgqa.store.base.GraphStore`.

        kgqa's own run in this process: they end in time, and take the engine's buffer and their rows at most. A user's run apart.
        """
        check_runs_on(query, self.name)
        if query.search:
            return paths.answer(self, query, arguments or {}, seconds=seconds)
        if query.own:
            return self._run_own(query, arguments, seconds)
        self._check_is_there()
        begin = time.monotonic()
        try:
            rows = self._rows(query, dict(arguments or {}), seconds)
        except QueryMemory:
            if self._new:
                raise
            # After many large answers the engine's buffer may be full of stale data; reopening empties it.
            self._reopen()
            rows = self._rows(query, dict(arguments or {}), None if seconds is None else remaining(seconds, begin))
        self._new = False
        return as_declared(rows, query)

    def _rows(self, query: Query, arguments: dict[str, Any], seconds: float | None) -> pa.Table:
        errors = LimitErrors(subject=f"query {query.name}")
        with self._connected(query) as connection, stopped_by(connection.interrupt), _limited(connection, seconds, errors):
            return _execute(connection, query, arguments)

    def _reopen(self) -> None:
        self._connection.close()
        self._database.close()
        self._database, self._connection = _open(self._path, read_only=True, threads=self._threads, any_version=True)
        self._new = True

    def read(self, text: str, parameters: Mapping[str, Any] | None = None, *, limits: Limits | None = None) -> Answer:
        """The rows of a user's read-only Cypher, from a separate process; see :class:`~kgqa.store.base.GraphStore`."""
        plan, statement = check_reads_only(text, parameters or {}, store=self.name)
        check_values(parameters or {}, one_kind=True)
        limits = limits or Limits()
        if plan:
            statement = f"{plan} {statement}"
        elif limits.rows is not None:
            statement = limited(statement, limits.rows + 1)
        try:
            answer = self._in_process(statement, parameters or {}, limits, LimitErrors(subject="the query"))
        except Refused as error:
            hint = _NUMBER if _CAST.match(str(error)) else ""
            raise QueryError(f"the query cannot be run: {first_line(_RULE.sub('', str(error)))}{hint}") from None
        return replace(answer, rows=_without_objects(answer.rows))

    def _run_own(self, query: Query, arguments: Mapping[str, Value] | None, seconds: float | None) -> pa.Table:
        text = check_own_query(query)
        limits = OWN_LIMITS if seconds is None else replace(OWN_LIMITS, seconds=seconds)
        errors = LimitErrors(subject=f"query {query.name} ({query.file})", options=False)
        try:
            answer = self._in_process(text, arguments or {}, limits, errors)
        except Refused as error:
            raise StoreError(f"{errors.subject}: {first_line(str(error))}") from None
        if answer.cut:
            raise errors.too_much(limits.bytes)
        return as_declared(answer.rows, query)

    def _in_process(self, text: str, arguments: Mapping[str, Any], limits: Limits, errors: LimitErrors) -> Answer:
        self._check_is_there()
        begin, worker = time.monotonic(), self._worker
        if worker is None or worker.memory != limits.memory or not worker.alive:
            if worker is not None:
                worker.close()
            worker = self._worker = self._start_worker(limits.memory)
        try:
            return worker.ask(text, arguments, replace(limits, seconds=remaining(limits.seconds, begin)), errors)
        except Refused as error:
            meaning = _meaning(str(error))
            if meaning is QueryTimeout:
                raise errors.too_long(limits.seconds) from None
            if meaning is QueryMemory:
                raise errors.too_large(limits.memory) from None
            raise

    def _start_worker(self, memory: int) -> Worker:
        """A process with the same graph. It opens the file by its name, which may by now be another graph."""
        worker = Worker(self._path, memory=memory, threads=self._threads)
        try:
            self._check_is_there()
        except StoreConflict:
            worker.close()
            raise
        return worker

    def _check_is_there(self) -> None:
        """Raise StoreConflict if another file has taken this one's place: the rest of the workspace would not match the open graph."""
        if _identity(self._path) != self._file:
            raise StoreConflict(f"{self._path}: another graph, or none, has taken the place of the one that was opened; start again.")

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
        """Close the graph file; a second call does nothing."""
        if not self._closed:
            self._closed = True
            if self._worker is not None:
                self._worker.close()
            self._connection.close()
            self._database.close()

    def __enter__(self) -> EmbeddedStore:
        """Use as a context manager."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the graph, also after an error."""
        self.close()


def _identity(path: Path) -> tuple[int, ...]:
    """Identity of a file: it changes when another file takes its place. Empty if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _without_objects(rows: pa.Table) -> pa.Table:
    """``rows`` with nodes and other objects in the common form of both stores, and with distinct column names."""
    names = distinct(rows.column_names)
    if not any(holds_objects(kind) for kind in rows.schema.types):
        return rows.rename_columns(names)
    table = table_of_values(names, [[_value(value) for value in column.to_pylist()] for column in rows.columns])
    # Columns without objects keep the engine's type, even if all values are null.
    for at, kind in enumerate(rows.schema.types):
        if not holds_objects(kind):
            table = table.set_column(at, names[at], rows.column(at))
    return table


def _value(value: Any) -> Any:
    """``value`` in the classes of :mod:`kgqa.store.values`. The engine marks nodes by keys that no map in a user's query can have."""
    if isinstance(value, list):
        return [_value(part) for part in value]
    if not isinstance(value, dict):
        return value
    if "_NODES" in value:
        return Walk(nodes=tuple(map(_value, value["_NODES"])), relationships=tuple(map(_value, value["_RELS"])))
    properties = {name: _value(part) for name, part in value.items() if name not in {"_ID", "_LABEL", "_SRC", "_DST"}}
    if "_SRC" in value and "_DST" in value:
        return Relationship(type=value["_LABEL"], start=_key(value["_SRC"]), end=_key(value["_DST"]), properties=properties)
    if "_ID" in value and "_LABEL" in value:
        return Node(key=_key(value["_ID"]), labels=(value["_LABEL"],), properties=properties)
    return properties


def _key(number: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(number[name] for name in ("table", "offset"))


def build(
    path: Path,
    rows: Mapping[str, pa.Table],
    *,
    tables: Sequence[str] = TABLES,
    empty: Sequence[str] = (),
    threads: int = 0,
    advance: Advance = lambda _: None,
    any_version: bool = False,
) -> None:
    """Write a new graph at ``path`` from its ``rows`` (:func:`kgqa.store.graph.graph_rows`); the path must be free.

    ``tables`` are those of another graph; each has a query that makes it, ``schema_x``, and one that fills it, ``load_x``. ``empty`` are
    made and not filled.

    Memory: the rows, plus the engine's buffer (:func:`~kgqa.store.memory.engine_memory`); they are loaded in pieces that fit into it.
    """
    with _writable(path, threads=threads, any_version=any_version) as connection:
        for name in (*tables, *empty):
            _execute(connection, read_queries()[f"schema_{name}"], {})
        _fill(connection, rows, tables, advance)


def add(path: Path, rows: Mapping[str, pa.Table], *, tables: Sequence[str], threads: int = 0, advance: Advance = lambda _: None) -> None:
    """Add ``rows`` to ``tables`` of the graph at ``path``, which has them; a graph in use is copied before."""
    with _writable(path, threads=threads, any_version=False) as connection:
        _fill(connection, rows, tables, advance)


@contextmanager
def _writable(path: Path, *, threads: int, any_version: bool) -> Iterator[Any]:
    database, connection = _open(path, read_only=False, threads=threads, any_version=any_version)
    try:
        yield connection
    except EngineFileError as error:
        # The engine reports a failed checkpoint, or a read past the end of the file that it failed to write.
        where, remedy = path.parent, "free some space and run the same command again"
        raise StorageError(f"{where}: the disk is full or limits the size of files; {remedy}.") from error
    finally:
        connection.close()
        database.close()


def _fill(connection: Any, rows: Mapping[str, pa.Table], tables: Sequence[str], advance: Advance) -> None:
    memory = engine_memory()
    for name in tables:
        query, table = read_queries()[f"load_{name}"], rows[name]
        step = _step(table, memory // PIECES)
        for at in range(0, table.num_rows, step):
            piece = table.slice(at, step)
            try:
                _execute(connection, query, {"rows": piece})
            except QueryMemory:
                raise StoreError(
                    f"{name} rows {at:,} to {at + piece.num_rows:,} do not fit into the {size(memory)} that the graph engine may use; set "
                    f"{VARIABLE} to more, as in {VARIABLE}={size(2 * memory).replace(' ', '')}."
                ) from None
            advance(piece.num_rows)


def _step(table: pa.Table, most: int) -> int:
    """Rows that take ``most`` bytes on average, at least 1."""
    return max(1, most * int(table.num_rows) // max(1, int(table.nbytes)))


def _open(path: Path, *, read_only: bool, threads: int, any_version: bool) -> tuple[Any, Any]:
    ladybug = engine(any_version=any_version)
    buffer = reading_memory(path) if read_only else engine_memory()
    try:
        database = ladybug.Database(str(path), read_only=read_only, buffer_pool_size=buffer, max_num_threads=threads)
        return database, ladybug.Connection(database, num_threads=threads)
    except RuntimeError as error:
        for name, limit in (("v", resource.RLIMIT_AS), ("d", resource.RLIMIT_DATA)):
            if 0 <= resource.getrlimit(limit)[0] <= ADDRESSES:
                raise StoreError(
                    f"{path}: the engine reserves {ADDRESSES >> 40} TiB of addresses, but the system allows fewer; raise the limit "
                    f"(ulimit -{name} unlimited); the graph is unchanged."
                ) from None
        raise StoreError(
            f"{path}: the graph cannot be opened ({first_line(str(error))}); run the same command again; if it fails again, rebuild "
            "the graph in another --workspace with kgqa generate."
        ) from None


@contextmanager
def _limited(connection: Any, seconds: float | None, errors: LimitErrors) -> Iterator[None]:
    connection.set_query_timeout(0 if seconds is None else max(1, round(seconds * 1000)))
    try:
        yield
    except QueryTimeout:
        raise errors.too_long(seconds or 0) from None
    except QueryMemory:
        raise QueryMemory(
            f"{errors.subject} took more memory than the graph engine may use; narrow it, or set {VARIABLE} to more."
        ) from None


def _execute(connection: Any, query: Query, arguments: dict[str, Any]) -> pa.Table:
    try:
        result = connection.execute(query.text, arguments)
        table = result.get_as_arrow(-1)
        result.close()
        return table
    except RuntimeError as error:
        if _NOT_THERE.match(str(error)) and not query.own:
            again = "run kgqa generate in this workspace again, which makes it anew"
            raise StoreError(
                f"query {query.name}: another version of kgqa made this graph, without what the query asks; {again}."
            ) from None
        raise _meaning(str(error))(f"query {query.name} ({query.file}): {first_line(str(error))}") from None


def _meaning(message: str) -> type[StoreError]:
    """Our exception for an engine's message. The engine has no error codes, so this is the only place that reads its messages."""
    cause = message.removeprefix(AFTER_COMMIT)
    return next((kind for beginning, kind in MEANINGS if cause.startswith(beginning)), EngineFileError if cause != message else StoreError)
