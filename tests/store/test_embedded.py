"""The embedded store gives back what was put in, answers as its headers say, and guards against wrong engines."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from kgqa.errors import StoreError
from kgqa.querying import askable_queries, query
from kgqa.store.embedded import ENGINE_VERSION, EmbeddedStore, build, check_engine_version
from kgqa.store.queries import Query, Value, parse_queries
from kgqa.workspace import Workspace


def ad_hoc(text: str, returns: str) -> Query:
    """A query of the test's own."""
    header = f"// name: t\n// purpose: t\n// params: none\n// returns: {returns}\n// stores: embedded\n"
    return parse_queries(header + text, "t.cypher")[0]


@pytest.fixture(params=["seed_wikidata", "seed_medline"])
def workspace(request: pytest.FixtureRequest) -> Workspace:
    return Workspace(request.getfixturevalue(request.param))


def test_the_graph_holds_the_tables(workspace: Workspace) -> None:
    with EmbeddedStore(workspace.graph) as store:
        facts = store.run(
            ad_hoc(
                "MATCH (h)-[f:FACT]->(t) RETURN h.id AS head, f.relation AS relation, t.id AS tail ORDER BY head, relation, tail",
                "head: string, relation: string, tail: string",
            )
        )
        links = store.run(
            ad_hoc(
                "MATCH (d)-[m:MENTIONS]->(e) RETURN d.id AS document, e.id AS entity, m.count AS count ORDER BY document, entity",
                "document: string, entity: string, count: integer",
            )
        )
        texts = store.run(
            ad_hoc(
                "MATCH (d:Document) RETURN d.id AS id, d.title AS title, d.text AS text ORDER BY id",
                "id: string, title: string, text: string",
            )
        )
        about = store.run(ad_hoc("MATCH (e)-[:ABOUT]->(d) RETURN d.id AS id, e.id AS about ORDER BY id", "id: string, about: string"))
        left_out = store.run(ad_hoc("MATCH (d:Document) WHERE NOT d.usable RETURN d.id AS id ORDER BY id", "id: string"))
    assert facts.to_pylist() == workspace.read_table("facts").to_pylist()
    assert (
        links.to_pylist()
        == workspace.read_table("links")
        .select(["document", "entity", "count"])
        .sort_by([("document", "ascending"), ("entity", "ascending")])
        .to_pylist()
    )
    documents = workspace.read_table("documents").to_pylist()
    assert texts.to_pylist() == [{name: row[name] for name in ("id", "title", "text")} for row in documents]
    assert about.to_pylist() == [{"id": row["id"], "about": row["about"]} for row in documents if row["about"]]
    assert left_out["id"].to_pylist() == sorted(set(workspace.read_table("unused")["document"].to_pylist()))


def test_every_query_answers_as_its_header_says(workspace: Workspace) -> None:
    values: dict[str, str] = {
        "entity": workspace.read_table("links")["entity"][0].as_py(),
        "other": workspace.read_table("links")["entity"][1].as_py(),
        "document": workspace.read_table("links")["document"][0].as_py(),
        "text": "a",
    }
    for name, asked in askable_queries().items():
        given = {parameter.name: values[parameter.name] for parameter in asked.params if parameter.default is None}
        rows = query(name, given, workspace=workspace.path)
        assert rows.column_names == list(asked.returns)
        assert rows.equals(query(name, given, workspace=workspace.path))


def test_counts_are_those_of_the_tables(workspace: Workspace) -> None:
    hubs = query("hubs", {"limit": "1000000"}, workspace=workspace.path).to_pylist()
    counted = Counter(workspace.read_table("links")["entity"].to_pylist())
    assert {row["entity"]: row["documents"] for row in hubs} == dict(counted)
    facts = Counter(workspace.read_table("facts")["relation"].to_pylist())
    assert {row["relation"]: row["facts"] for row in query("relation_counts", workspace=workspace.path).to_pylist()} == dict(facts)


def test_a_filtered_multi_hop_count_is_right(workspace: Workspace) -> None:
    # What later engines count wrongly (docs/decisions/0002-embedded-engine.md).
    links = workspace.read_table("links").to_pylist()
    documents: dict[str, set[str]] = {}
    for row in links:
        documents.setdefault(row["entity"], set()).add(row["document"])
    entity = max(documents, key=lambda name: (len(documents[name]), name))
    expected = {
        other: len(documents[other] & documents[entity]) for other in documents if other != entity and documents[other] & documents[entity]
    }
    pattern = "MATCH (a:Entity)<-[x:MENTIONS]-(d:Document)-[y:MENTIONS]->(b:Entity)"
    text = f"{pattern} WHERE a.id = '{entity}' AND b.id <> a.id RETURN b.id AS entity, count(DISTINCT d.id) AS documents"
    with EmbeddedStore(workspace.graph) as store:
        found = store.run(ad_hoc(text, "entity: string, documents: integer")).to_pylist()
    assert {row["entity"]: row["documents"] for row in found} == expected


def test_values_are_parameters_never_query_text(seed_wikidata: Path) -> None:
    for text in ("x' OR true RETURN 1 //", "'", '"', "$limit", "\\", "{}", "🌍", "\n"):
        assert query("facts_about", {"entity": text}, workspace=seed_wikidata).num_rows == 0


@pytest.mark.parametrize(
    ("returns", "part"),
    [
        ("id: string", "it returns id: integer"),
        ("other: integer", "it returns other: integer, but it returns id"),
        ("id: integer, more: string", "more"),
    ],
)
def test_a_header_that_lies_is_said(returns: str, part: str, seed_wikidata: Path) -> None:
    with EmbeddedStore(Workspace(seed_wikidata).graph) as store, pytest.raises(StoreError, match="its header says") as error:
        store.run(ad_hoc("MATCH (e:Entity) RETURN count(e.id) AS id", returns))
    assert part in str(error.value)


def test_what_the_engine_refuses_is_one_sentence(seed_wikidata: Path) -> None:
    with EmbeddedStore(Workspace(seed_wikidata).graph) as store:
        for text in ("MATCH", "MATCH (x:Nothing) RETURN x.id AS id", "CREATE (e:Entity {id: 'x'}) RETURN e.id AS id"):
            with pytest.raises(StoreError, match=r"^query t \(t\.cypher\): [^\n]*\.$"):
                store.run(ad_hoc(text, "id: string"))


def test_only_the_tested_engine_is_used() -> None:
    check_engine_version(ENGINE_VERSION)
    for version in ("0.21.0", "0.22.0", "0.99.0"):
        with pytest.raises(StoreError, match=f"ladybug {version} .*pip install ladybug=={ENGINE_VERSION}"):
            check_engine_version(version)


def test_texts_come_back_as_they_were(tmp_path: Path) -> None:
    labels = ["a", "Ω é 🌍", "'\"\\", "", "x" * 5000, "a\tb\nc", "\u0301"]
    ids = [f"e{i}" for i in range(len(labels))]
    empty = {"relations": ["id", "label"], "facts": ["head", "relation", "tail"]}
    tables = {name: pa.table({column: pa.array([], pa.string()) for column in columns}) for name, columns in empty.items()}
    tables["relations"] = tables["relations"].append_column("symmetric", pa.array([], pa.bool_()))
    tables["entities"] = pa.table({"id": ids, "kind": ["entity"] * len(ids), "label": labels, "description": labels[::-1]})
    tables["documents"] = pa.table(
        {"id": ["d"], "title": ["t"], "about": pa.array([None], pa.string()), "text": ["\n".join(labels)], "usable": [True]}
    )
    tables["links"] = pa.table(
        {"document": pa.array([], pa.string()), "entity": pa.array([], pa.string()), "count": pa.array([], pa.int64())}
    )
    build(tmp_path / "g.lbug", tables)
    arguments: dict[str, Value] = {}
    with EmbeddedStore(tmp_path / "g.lbug") as store:
        rows = store.run(
            ad_hoc(
                "MATCH (e:Entity) RETURN e.label AS label, e.description AS description ORDER BY e.id", "label: string, description: string"
            ),
            arguments,
        )
        text = store.run(ad_hoc("MATCH (d:Document) RETURN d.text AS text", "text: string"))
    assert rows["label"].to_pylist() == labels
    assert rows["description"].to_pylist() == labels[::-1]
    assert text["text"].to_pylist() == ["\n".join(labels)]
