"""The schema that the page completes is the one that the engine made."""

from __future__ import annotations

from pathlib import Path

from kgqa.runs.workspace import Workspace
from kgqa.store.embedded import EmbeddedStore
from kgqa.store.graph import TABLES
from kgqa.store.kinds import NODES, RELATIONSHIPS
from kgqa.store.samples import SCHEMA
from kgqa.store.schema import graph_schema


def test_it_is_what_the_engine_says(seed_wikidata: Path) -> None:
    schema = graph_schema()
    with EmbeddedStore(Workspace(seed_wikidata).graph) as store:
        tables = store.read("CALL show_tables() RETURN name, type").to_pylist()
        assert {row["name"] for row in tables if row["type"] == "NODE"} == set(schema.labels)
        assert {row["name"] for row in tables if row["type"] == "REL"} == set(schema.types) == set(schema.ends)
        for name, properties in {**schema.labels, **schema.types}.items():
            rows = store.read(f"CALL table_info('{name}') RETURN name").to_pylist()
            assert [row["name"] for row in rows] == list(properties), name
        for name, ends in schema.ends.items():
            rows = store.read(f"CALL show_connection('{name}') RETURN *").to_pylist()
            assert sorted((row["source table name"], row["destination table name"]) for row in rows) == sorted(ends), name


def test_no_property_has_two_types(seed_wikidata: Path) -> None:
    # In rows and paths over several labels the engine gives a property one type, and loses the values of the other.
    types: dict[str, set[str]] = {}
    with EmbeddedStore(Workspace(seed_wikidata).graph) as store:
        for name in {**graph_schema().labels, **graph_schema().types}:
            for row in store.read(f"CALL table_info('{name}') RETURN name, type").to_pylist():
                types.setdefault(row["name"], set()).add(row["type"])
    assert {name: found for name, found in types.items() if len(found) > 1} == {}


def test_kinds_name_the_same_labels_types_and_ends() -> None:
    schema, not_drawn = graph_schema(), {"Relation", "Filter"}
    assert {kind.label for kind in NODES.values()} == set(schema.labels) - not_drawn
    ends = [(kind.type, NODES[kind.source].label, NODES[kind.target].label) for kind in RELATIONSHIPS.values()]
    assert sorted(ends) == sorted((name, *pair) for name, pairs in schema.ends.items() for pair in pairs if not_drawn.isdisjoint(pair))


def test_every_table_is_in_it() -> None:
    schema = graph_schema()
    assert len(schema.labels) + len(schema.types) == len({*TABLES, *SCHEMA})
    assert schema.ends["STEP"] == (("Chain", "Entity"), ("Chain", "Document"))
    assert schema.types["ABOUT"] == ()
