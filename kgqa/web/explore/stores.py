"""A pool of open stores for the requests: a connection of the embedded engine belongs to one thread at a time."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa

from kgqa.errors import QueryTimeout, StoreUnreachable
from kgqa.store.base import GraphStore
from kgqa.store.queries import Query, Value

Result = TypeVar("Result")
SIZE = 2
"""Number of open stores: one long query does not block the page, but two do until they end."""


class StorePool:
    """Holds ``size`` open stores and lends each to one request at a time.

    A server may disappear and return while the page is open. So a store that does not answer is reopened, at once if possible, otherwise at
    its next use.
    """

    def __init__(self, open_one: Callable[[], GraphStore], *, size: int = SIZE) -> None:
        """Open all stores now, because one opened later could find another graph. Raises the exceptions of ``open_one``."""
        self._open_one = open_one
        self._free: queue.LifoQueue[_Slot] = queue.LifoQueue()
        self._lock = threading.Lock()
        self._closed = False
        for _ in range(size):
            try:
                slot = _Slot(store=open_one())
            except BaseException:
                self.close()
                raise
            self._free.put(slot)
            self.name = slot.opened(open_one).name

    def run(self, query: Query, arguments: Mapping[str, Value] | None = None, *, seconds: float) -> pa.Table:
        """The rows of ``query``. Raises QueryTimeout if no store is free, or the answer is not there, within ``seconds``."""
        return self.use(lambda store: store.run(query, arguments, seconds=seconds), seconds=seconds)

    def use(self, work: Callable[[GraphStore], Result], *, seconds: float) -> Result:
        """The result of ``work`` on a free store, tried again once if a server has come back. Raises QueryTimeout like :meth:`run`."""
        with self._lend(seconds) as slot:
            begin = time.monotonic()
            try:
                return work(slot.opened(self._open_one))
            except StoreUnreachable:
                slot.close()
                if time.monotonic() - begin > seconds / 2:  # the wait for this server was long enough
                    raise
                return work(slot.opened(self._open_one))

    def close(self) -> None:
        """Close all stores; those in use close when they are returned."""
        with self._lock:
            self._closed = True
            while not self._free.empty():
                self._free.get_nowait().close()

    @contextmanager
    def _lend(self, seconds: float) -> Iterator[_Slot]:
        try:
            slot = self._free.get(timeout=seconds)
        except queue.Empty:
            raise QueryTimeout(f"earlier queries took more than {seconds:g} seconds; wait for them, or narrow them.") from None
        try:
            yield slot
        finally:
            with self._lock:
                if self._closed:
                    slot.close()
                else:
                    self._free.put(slot)


@dataclass(slots=True)
class _Slot:
    """A slot for one store, empty while its server is away."""

    store: GraphStore | None

    def opened(self, open_one: Callable[[], GraphStore]) -> GraphStore:
        if self.store is None:
            self.store = open_one()
        return self.store

    def close(self) -> None:
        store, self.store = self.store, None
        if store is not None:
            store.close()


class Graph:
    """The named queries of the page, run on any free store, each within ``seconds``."""

    def __init__(self, stores: StorePool, queries: Mapping[str, Query], *, seconds: float) -> None:
        """Cache answers without parameters if the graph is an open file; a server's graph may change."""
        self.stores = stores
        self.queries = queries
        self.seconds = seconds
        self._kept: dict[str, list[dict[str, Any]]] = {}

    def rows(self, name: str, **arguments: Value) -> list[dict[str, Any]]:
        """The rows of the query ``name``. Missing parameters take their defaults."""
        query = self.queries[name]
        if not query.params and name in self._kept:
            return self._kept[name]
        table_rows: list[dict[str, Any]] = self.table(name, **arguments).to_pylist()
        if not query.params and self.stores.name == "embedded":
            self._kept[name] = table_rows
        return table_rows

    def table(self, name: str, **arguments: Value) -> pa.Table:
        """The same rows as a table, without a cache."""
        query = self.queries[name]
        values = {parameter.name: arguments.get(parameter.name, parameter.default) for parameter in query.params}
        return self.stores.run(query, values, seconds=self.seconds)  # type: ignore[arg-type]

    def entities(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """Entities among ``ids`` → kind, label, description."""
        distinct = list(dict.fromkeys(ids))
        return {row["entity"]: row for row in self.rows("page_entities", ids=distinct)} if distinct else {}

    def documents(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """Documents among ``ids`` → title, usable."""
        distinct = list(dict.fromkeys(ids))
        return {row["document"]: row for row in self.rows("page_documents", ids=distinct)} if distinct else {}
