"""How a server answers: queries of people's, the steps of searches and favourites go by its indexes, and look at nothing as a whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kgqa
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.limits import Limits
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.queries import read_queries
from tests.command import ROOT
from tests.store.asked import value

ASKED = ("explore.cypher", "samples.cypher", "graph.cypher", "names.cypher", "page.cypher", "paths.cypher")
SMALL = {"Relation", "Filter"}
"""A graph has hundreds of relations, a dataset dozens of filters."""
WHOLE = {
    "used_bridges": "counts over the chains of all samples",
    "sample_answer_counts": "counts the answers of all samples",
    "page_graph_size": "counts all documents",
    "7_questions_about_an_entity": "looks for the entity that most samples name",
}
"""Query → why it has to look at all samples, or documents."""
SCAN = re.compile(r"AllNodesScan|LabelScan|LabelsScan|RelationshipTypeScan|RelationshipTypesScan|AllRelationshipsScan")


def scans(store: Neo4jStore, text: str, parameters: dict[str, object]) -> list[tuple[str, str]]:
    """The steps of a query's plan that look at all nodes of a label or all relationships of a type, with what they look at."""
    steps = store.read(f"PROFILE {text}", parameters, limits=Limits(seconds=60, rows=1000)).rows.to_pylist()
    assert steps
    return [(step["step"].strip(), step["details"]) for step in steps if SCAN.search(step["step"])]


@pytest.mark.slow
def test_no_query_looks_at_all_nodes_of_a_large_label(seed_wikidata: Path, neo4j_database: Neo4jSettings) -> None:
    kgqa.load(seed_wikidata, dataset="wikihop", rejected=True)
    with Neo4jStore(neo4j_database) as store:
        found: dict[str, list[tuple[str, str]]] = {}
        queries = [query for query in read_queries().values() if query.file in ASKED and not query.search]
        assert len(queries) > 60
        shown = "MATCH (s:Sample)-[u:SUPPORT]->(d:Document) RETURN s.id AS sample, d.id AS document ORDER BY s.row, d.row"
        first = store.read(shown, limits=Limits(rows=1)).rows.to_pylist()[0]
        for query in queries:
            found[query.name] = scans(store, query.text, {p.name: value(p, **first) for p in query.params})
        for path in sorted((ROOT / "cypher" / "browser" / "kgqa").glob("*.cypher")):
            text = path.read_text("utf-8")
            if "CALL db.schema" not in text:
                found[path.stem] = scans(store, text, {})
        looked_at = {name: {re.sub(r".*:", "", details) for _, details in steps} - SMALL for name, steps in found.items() if steps}
        assert {name: labels for name, labels in looked_at.items() if labels and name not in WHOLE} == {}
        # What is excepted needs it; else it would hide what comes later.
        assert {name for name in WHOLE if looked_at.get(name)} == set(WHOLE)
