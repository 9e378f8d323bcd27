"""The stores for random graphs: a new file of the embedded engine, or an empty Neo4j database, which is restored afterwards."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from kgqa.conformance.graphs import RandomGraph
from kgqa.errors import StoreConflict, StoreUnreachable
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.base import GraphStore
from kgqa.store.embedded import EmbeddedStore, build, engine, known_fault
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import erase, load, read_marker
from kgqa.store.neo4j.layouts import GRAPH, QUESTIONS
from kgqa.store.queries import read_queries

MARK = "doctor-"
"""Begins the hash in the marker of a random graph, so that everybody can tell whose it is."""
PATIENCE = 1.0
"""Seconds of retries for an unreachable server: the doctor reports on this machine and need not wait long."""


class Bench(Protocol):
    """A store that can be given one graph after another."""

    name: str
    version: str
    per_graph: int
    """The number of queries for each graph."""
    fault: str
    """A known fault of this version; empty if there is no such fault."""

    def holding(self, graph: RandomGraph) -> AbstractContextManager[GraphStore]:
        """A context during which the store holds only ``graph``."""

    def close(self) -> None:
        """Leave everything as it was found."""


class EmbeddedBench:
    """The embedded engine that is installed, of any version."""

    name = "embedded"
    per_graph = 250
    """Building a graph costs as much as some twenty queries."""

    def __init__(self) -> None:
        """Raises StoreError where no engine is installed."""
        self.version = str(engine(any_version=True).__version__)
        self.fault = known_fault(self.version)

    @contextmanager
    def holding(self, graph: RandomGraph) -> Iterator[GraphStore]:
        """A new file for each graph."""
        with tempfile.TemporaryDirectory(prefix="kgqa-doctor-") as folder:
            path = Path(folder) / "graph.lbug"
            build(path, graph.arrow(), any_version=True)
            with EmbeddedStore(path, any_version=True) as store:
                yield store

    def close(self) -> None:
        """Nothing to close: the folder is temporary."""


class Neo4jBench:
    """A database that was empty; the graphs are loaded and erased as a user's graph is, under a marker that says whose they are."""

    name = "neo4j"
    fault = ""
    per_graph = 500
    """The server plans most queries again for each new graph, which takes about as long as answering a thousand."""

    def __init__(self, settings: Neo4jSettings) -> None:
        """Connect, and erase what an examination that was killed left behind.

        Raises StoreUnreachable, and StoreConflict for a database that holds anything else, which is left alone.
        """
        self._store = Neo4jStore(settings, patience=PATIENCE)
        try:
            self.version = self._store.version
            name = f"{MARK}{settings.database}"
            if _is_leftover(self._store, name):
                erase(self._store)
                self._indexes = set[str]()
            elif contents := _what_it_holds(self._store):
                raise StoreConflict(f"{settings.place}: holds {contents}; random graphs need an empty database.")
            else:
                self._indexes = self._index_names()
            # From now on, and as long as this process lives, others know that the graphs are somebody's.
            self._store.announce(name)
        except BaseException:
            self._store.close()
            raise

    @contextmanager
    def holding(self, graph: RandomGraph) -> Iterator[GraphStore]:
        """The same database for each graph."""
        load(self._store, f"{MARK}{uuid.uuid4().hex}", graph.arrow())
        try:
            yield self._store
        except StoreUnreachable:  # then nothing can be erased either; whoever examines it next does that
            raise
        except BaseException:
            erase(self._store)
            raise
        else:
            erase(self._store)

    def close(self) -> None:
        """Take back the constraints and indexes that were not there before."""
        queries = read_queries()
        try:
            if self._index_names() != self._indexes:
                for name in (*GRAPH.constraints, *GRAPH.keys, *GRAPH.indexes):
                    drop = queries.get(f"drop_{name}")
                    if drop and drop.text.split()[2] not in self._indexes:
                        self._store.write(drop)
        except StoreUnreachable:
            pass
        finally:
            self._store.close()

    def _index_names(self) -> set[str]:
        return set(self._store.run(read_queries()["list_indexes"])["name"].to_pylist())


def _is_leftover(store: Neo4jStore, name: str) -> bool:
    """Whether the database holds a random graph that nobody examines any more."""
    marker = read_marker(store)
    if marker is None or not marker.tables.startswith(MARK):
        return False
    return name not in store.run(read_queries()["live_examinations"])["name"].to_pylist()


def _what_it_holds(store: Neo4jStore) -> str:
    marker = read_marker(store)
    if marker is not None:
        return "random graphs of another examination, which is going on" if marker.tables.startswith(MARK) else "a graph of kgqa"
    if read_marker(store, QUESTIONS) is not None:
        return "a graph of questions of kgqa"
    nodes = store.run(read_queries()["count_nodes"])["nodes"][0].as_py()
    return f"{nodes:,} nodes that kgqa did not write" if nodes else ""
