"""The graph of questions in a Neo4j database: unlike that of entities and documents it is an index of one run, and the next replaces it."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from kgqa.progress import Advance
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.graph import check_can_erase, check_can_load, erase, load
from kgqa.store.neo4j.layouts import QUESTIONS


def check_can_put(store: Neo4jStore) -> None:
    """Raise StoreConflict unless the database is empty or holds only kgqa's questions."""
    marker = check_can_load(store, layout=QUESTIONS)
    if marker is not None:
        check_can_erase(store, marker, QUESTIONS)


def put_questions(store: Neo4jStore, tables: str, rows: Mapping[str, pa.Table], *, advance: Advance = lambda _: None) -> bool:
    """Replace the questions in the database by ``rows`` (:mod:`kgqa.store.questions`). Returns whether anything was written.

    ``tables`` is the hash of the rows: an interrupted load of the same rows resumes, and a finished one is kept. Raises StoreConflict if
    the database holds anything that kgqa did not write.
    """
    marker = check_can_load(store, layout=QUESTIONS)
    if marker is not None and marker.tables != tables:
        erase(store, layout=QUESTIONS)
    return load(store, tables, rows, layout=QUESTIONS, advance=advance)
