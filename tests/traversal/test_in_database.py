"""A domain's own traversal queries are held to what its projection queries are."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from kgqa.errors import QueryError
from kgqa.store.embedded import EmbeddedStore, build
from kgqa.traversal.in_database import InDatabase
from tests.store.graphs import ad_hoc, rows_of

REACHED = (
    "MATCH (e:Entity)<-[:MENTIONS]-(d:Document)-[:MENTIONS]->(c:Entity) WHERE e.id = $entity AND c.id <> e.id "
    "RETURN DISTINCT c.id AS candidate ORDER BY candidate"
)


@pytest.mark.parametrize("text", ["MATCH (e:Entity {id: $entity}) DELETE e RETURN e.id AS candidate", f"{REACHED}; {REACHED}"])
def test_a_query_that_does_not_only_read_is_refused_before_any_search(tmp_path: Path, text: str) -> None:
    rows = rows_of(entities=["a", "b"])
    build(tmp_path / "graph", rows)
    ids = {"entities": rows["entity"], "documents": pa.table({"id": ["d0"]})}
    good, bad = (ad_hoc(query, "candidate: string", "entity: string", own=True) for query in (REACHED, text))
    with EmbeddedStore(tmp_path / "graph") as store:
        InDatabase(store, [good], [], **ids)
        for candidates, chains in (([good, bad], []), ([good], [bad])):
            with pytest.raises(QueryError, match=r"^query t \(t\.cypher\): the query "):
                InDatabase(store, candidates, chains, **ids)
