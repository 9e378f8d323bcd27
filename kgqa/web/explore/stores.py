"""A few open stores that requests take turns with: the embedded engine's connection belongs to one thread at a time."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from kgqa.errors import QueryTimeout
from kgqa.store.base import GraphStore
from kgqa.store.queries import Query, Value

SIZE = 2
"""Open stores: a long query of the user does not hold up the page."""


class StorePool:
    """Holds ``size`` open stores and lends each to one request at a time."""

    def __init__(self, open_one: Callable[[], GraphStore], *, size: int = SIZE) -> None:
        """Open all of them now: one that is opened later could find another graph in its place. Raises what ``open_one`` raises."""
        self._free: queue.LifoQueue[GraphStore] = queue.LifoQueue()
        self._lock = threading.Lock()
        self._closed = False
        for _ in range(size):
            try:
                store = open_one()
            except BaseException:
                self.close()
                raise
            self._free.put(store)
            self.name = store.name

    def run(self, query: Query, arguments: Mapping[str, Value] | None = None, *, seconds: float) -> pa.Table:
        """The rows of ``query``; raises QueryTimeout where no store is free, or no answer there, within ``seconds``."""
        with self._lent(seconds) as store:
            return store.run(query, arguments, seconds=seconds)

    def close(self) -> None:
        """Close all of them; those that are in use when they come back."""
        with self._lock:
            self._closed = True
            while not self._free.empty():
                self._free.get_nowait().close()

    @contextmanager
    def _lent(self, seconds: float) -> Iterator[GraphStore]:
        try:
            store = self._free.get(timeout=seconds)
        except queue.Empty:
            raise QueryTimeout(f"earlier queries took more than {seconds:g} seconds; wait for them, or narrow them.") from None
        try:
            yield store
        finally:
            with self._lock:
                if self._closed:
                    store.close()
                else:
                    self._free.put(store)


class Graph:
    """The named queries of the page, asked of whatever store is free, each within ``seconds``."""

    def __init__(self, stores: StorePool, queries: Mapping[str, Query], *, seconds: float) -> None:
        """Answers that do not depend on parameters are kept while the graph cannot change: a file is open, a server may be loaded anew."""
        self.stores = stores
        self.queries = queries
        self.seconds = seconds
        self._kept: dict[str, list[dict[str, Any]]] = {}

    def rows(self, name: str, **arguments: Value) -> list[dict[str, Any]]:
        """The rows of the query ``name``; parameters that are not given take their defaults."""
        query = self.queries[name]
        if not query.params and name in self._kept:
            return self._kept[name]
        values = {parameter.name: arguments.get(parameter.name, parameter.default) for parameter in query.params}
        found: list[dict[str, Any]] = self.stores.run(query, values, seconds=self.seconds).to_pylist()  # type: ignore[arg-type]
        if not query.params and self.stores.name == "embedded":
            self._kept[name] = found
        return found

    def entities(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """Those of ``ids`` that are entities → kind, label, description."""
        distinct = list(dict.fromkeys(ids))
        return {row["entity"]: row for row in self.rows("page_entities", ids=distinct)} if distinct else {}

    def documents(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """Those of ``ids`` that are documents → title, usable."""
        distinct = list(dict.fromkeys(ids))
        return {row["document"]: row for row in self.rows("page_documents", ids=distinct)} if distinct else {}
