"""The interface of every graph store. A dataset does not depend on the store it was made with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from kgqa.errors import HeaderMismatch, StoreError, check_known
from kgqa.store.limits import Answer, Limits
from kgqa.store.queries import STORES, Query, Value, arrow_schema


class GraphStore(Protocol):
    """An index over the tables that answers queries. It can be deleted and rebuilt at any time."""

    name: str
    """Name of the store: ``embedded`` or ``neo4j``."""
    version: str
    """Version of the engine or server."""

    def run(self, query: Query, arguments: Mapping[str, Value] | None = None, *, seconds: float | None = None) -> pa.Table:
        """The rows of ``query`` with the columns and types that its header declares, in the order that its text defines.

        A query from a user's file may only read, within ``OWN_LIMITS``. Raises QueryError if it does more, QueryTimeout after ``seconds``,
        QueryMemory, HeaderMismatch, and StoreError if the engine refuses it.
        """

    def read(self, text: str, parameters: Mapping[str, Any] | None = None, *, limits: Limits | None = None) -> Answer:
        """The first rows of a user's Cypher that only reads; ``parameters`` has a value for each name in it.

        Raises QueryError if it does more or has other parameters, QueryTimeout, QueryMemory, StoreError.
        """

    def close(self) -> None:
        """Close all files and connections."""


def check_runs_on(query: Query, store: str) -> None:
    """Raise StoreError if the query's header does not name ``store``."""
    if store not in query.stores:
        raise StoreError(f"query {query.name} does not run on the {store} store, only on: {', '.join(query.stores)}.")


def as_declared(rows: pa.Table, query: Query) -> pa.Table:
    """``rows`` with the types of the query's header; raises HeaderMismatch if its columns are others."""
    schema = arrow_schema(query)
    for field in rows.schema:
        if holds_objects(field.type) and field.name in schema.names:
            raise objects_returned(query, field.name)
    try:
        if rows.column_names != schema.names:
            raise pa.ArrowInvalid("names")
        # Engines differ in the type of a column that holds only nulls, so such a column takes the declared type.
        return pa.table([_cast(rows[field.name], field.type) for field in schema], schema=schema)
    except pa.ArrowInvalid:
        declared, actual = (", ".join(f"{name}: {kind}" for name, kind in kinds) for kinds in (query.returns.items(), _kinds(rows)))
        sentence = f"query {query.name} ({query.file}): its header says that it returns {declared}, but it returns {actual}; fix it."
        raise HeaderMismatch(sentence) from None


def objects_returned(query: Query, column: str) -> HeaderMismatch:
    """The error for a column that holds nodes, relationships, paths or maps."""
    return HeaderMismatch(
        f"query {query.name} ({query.file}): the column {column!r} holds whole nodes, relationships or maps, but its header says "
        f"{query.returns.get(column, 'otherwise')}; return a property of each, as d.id of a document d."
    )


def holds_objects(kind: pa.DataType) -> bool:
    """Whether a type is that of nodes, relationships, paths or maps, or of lists of them."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return holds_objects(kind.value_type)
    return bool(pa.types.is_struct(kind) or pa.types.is_map(kind))


def distinct(names: Sequence[str]) -> list[str]:
    """Rename repeated columns, ``a, a`` → ``a, a (2)``: two columns may share a name, and a dictionary would keep only one."""
    return [name if names.index(name) == at else f"{name} ({at + 1})" for at, name in enumerate(names)]


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    fits = _word(column.type) == _word(kind) or pa.types.is_null(column.type) or (pa.types.is_integer(column.type) and kind == pa.float64())
    if not fits and len(column) != column.null_count:
        raise pa.ArrowInvalid("types")
    return column.cast(kind) if fits else pa.chunked_array([pa.nulls(len(column), kind)])


def _kinds(rows: pa.Table) -> list[tuple[str, str]]:
    return [(field.name, _word(field.type)) for field in rows.schema]


def _word(kind: pa.DataType) -> str:
    """The word for this type in a query's header."""
    if pa.types.is_list(kind):
        return f"{_word(kind.value_type)}s"
    kinds = {"string": pa.types.is_string, "integer": pa.types.is_integer, "number": pa.types.is_floating, "boolean": pa.types.is_boolean}
    return next((word for word, test in kinds.items() if test(kind)), str(kind))


def first_line(message: str) -> str:
    """The first line of an engine's message, with one full stop, to be quoted in our own sentence."""
    return message.strip().splitlines()[0].rstrip(".") + "."


def check_store(store: str) -> None:
    """Raise SettingsError for a store that does not exist."""
    check_known("store", store, STORES)
