"""The exploration queries on the seed domains: what they say agrees with the tables, the gates, and the documentation."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kgqa
from kgqa.recipes.qangaroo.gates import (
    AnswerNotReached,
    AnswerStatedBesideSubject,
    AnswerStatedInSubjectDocument,
    Gate,
    NoDocumentFromSubject,
)
from kgqa.runs.workspace import Workspace
from kgqa.store.embedded import EmbeddedStore
from kgqa.store.graph import SEARCH_BYTES, SOURCES, with_measures
from kgqa.store.queries import askable_queries, read_queries
from tests.command import ROOT
from tests.conftest import Cli
from tests.store.graphs import rows_of

PAGE = (ROOT / "docs" / "queries.md").read_text("utf-8")


def empty_tables() -> dict[str, pa.Table]:
    """The tables of the graph, without rows, but with their types."""
    text, flag, number = pa.string(), pa.bool_(), pa.int64()
    columns = {
        "entities": {"id": text, "kind": text, "label": text, "description": text},
        "names": {"entity": text, "name": text, "source": text},
        "documents": {"id": text, "title": text, "about": text, "text": text},
        "relations": {"id": text, "label": text, "symmetric": flag},
        "facts": {"head": text, "relation": text, "tail": text},
        "mentions": {"document": text, "entity": text, "start": pa.int32(), "end": pa.int32()},
        "links": {"document": text, "entity": text, "count": number},
        "unused": {"document": text, "reason": text},
    }
    assert set(columns) == set(SOURCES)
    return {name: pa.table({column: pa.array([], kind) for column, kind in kinds.items()}) for name, kinds in columns.items()}


def explore_queries() -> list[str]:
    return [query.name for query in read_queries().values() if query.file == "explore.cypher"]


def test_exploration_runs_on_both_stores_and_orders_by_numbers() -> None:
    for name in explore_queries():
        query = read_queries()[name]
        assert query.stores == ("embedded", "neo4j")
        if not query.search:  # a search orders what it finds: tests/store/test_paths.py
            last = re.findall(r"ORDER BY (.+)", query.text)[-1].split(", ")[-1]
            assert last.endswith(".row") or last in {"row", "first"}, name


def test_no_value_is_counted_after_a_distinct_one() -> None:
    # 0.20.4 gives null or nothing, or ends the process, for any other aggregate behind one with DISTINCT (docs/doctor.md).
    for name, query in read_queries().items():
        for clause in re.split(r"\b(?:MATCH|WITH|RETURN|WHERE|ORDER BY|UNWIND)\b", query.text):
            kinds = re.findall(r"\b(?:count|min|max|sum|avg|collect)\((DISTINCT )?", clause)
            assert kinds == sorted(kinds), (name, clause)


def test_nothing_is_made_one_of_the_first_rows_alone() -> None:
    # 0.20.4 takes any rows, not the first ones, where an aggregate without a key follows on ORDER BY and LIMIT (docs/doctor.md).
    for name, query in read_queries().items():
        for made in re.findall(
            r"ORDER BY[^\n]*\s+LIMIT \S+\s+(?:WITH|RETURN)\s+([^\n]*)", query.text if "embedded" in query.stores else ""
        ):
            columns = [column.strip() for column in made.split(",")]
            assert not all(re.match(r"(?:count|min|max|sum|avg|collect)\(", column) for column in columns), (name, made)


def test_the_embedded_engine_still_forgets_the_order_before_an_aggregate(seed_wikidata: Path) -> None:
    """If this fails, the engine was mended: take the trap out of docs/doctor.md."""
    text = "MATCH (e:Entity) WITH e.row AS row ORDER BY row {} LIMIT 3 RETURN collect(row) AS rows"
    items = [kgqa.cypher(text.format(way), workspace=seed_wikidata).rows["rows"][0].as_py() for way in ("ASC", "DESC")]
    assert items[0] == items[1]


def test_every_query_is_described() -> None:
    described = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    beside = ("project/", "compose.cypher")
    queries = {name: query for name, query in read_queries().items() if name in askable_queries() or query.file.startswith(beside)}
    # kgqa's own queries are no promise; the page says so.
    own = {"graph.cypher", "names.cypher", "page.cypher", "paths.cypher"}
    assert sorted(described) == sorted(name for name, query in queries.items() if query.file not in own)
    for name in described:
        query = queries[name]
        (row,) = re.findall(rf"^\| `{name}` \|(.*)$", PAGE, re.MULTILINE)
        assert {parameter.name for parameter in query.params} == set(re.findall(r"`(\w+)`", row.split("|")[0])), name


def test_the_examples_of_the_page_are_real(seed_wikidata: Path, cli: Cli) -> None:
    matches = re.findall(r"^```\n\$ kgqa (query \w+(?: --\w+ (?:'[^']*'|\S+))* --format csv)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(matches) >= 4
    for command, output in matches:
        assert cli(*shlex.split(command), "--workspace", seed_wikidata).out == output


def test_the_reasons_are_those_of_the_gates() -> None:
    wikihop, medhop = (read_queries()[f"what_blocks_{recipe}"].text for recipe in ("wikihop", "medhop"))
    gates: tuple[tuple[type[Gate], str], ...] = (
        (NoDocumentFromSubject, wikihop),
        (AnswerStatedInSubjectDocument, wikihop),
        (AnswerNotReached, wikihop),
        (NoDocumentFromSubject, medhop),
        (AnswerStatedBesideSubject, medhop),
    )
    for gate, text in gates:
        assert gate.reason in text


@pytest.mark.slow
def test_why_agrees_with_the_samples(seed_wikidata: Path) -> None:
    samples = pq.read_table(seed_wikidata / "datasets" / "wikihop" / "train.parquet").to_pylist()[:8]
    assert len(samples) == 8
    for sample in samples:
        source = json.loads(sample["provenance"])
        question = {"subject": source["head"], "relation": source["relation"]}
        (row,) = kgqa.query("what_blocks_wikihop", {**question, "answer": sample["answer_id"]}, workspace=seed_wikidata).to_pylist()
        assert row["reason"] == "nothing in the graph", (sample["id"], row)
        for candidate, chains in zip(sample["candidates"], sample["chains"], strict=True):
            (why,) = kgqa.query("why_wikihop_candidate", {**question, "candidate": candidate["id"]}, workspace=seed_wikidata).to_pylist()
            # The dataset's one chain is the surest, the query's the first of the shortest.
            documents = len(chains[0]) // 2
            assert why[f"chains_{documents}"] > 0
            assert len(why["first"]) <= len(chains[0])
            assert [why["first"][at] for at in (0, 1, -1)] == [chains[0][at] for at in (0, 1, -1)]
            assert why["facts"] > 0
            assert why["true_answer"] == (candidate["id"] == sample["answer_id"])


def test_what_was_rejected_has_the_same_reason(seed_wikidata: Path) -> None:
    rejected = pq.read_table(seed_wikidata / "tables" / "rejected_traverse.parquet")
    entities, relations = (pq.read_table(seed_wikidata / "tables" / f"{name}.parquet")["id"] for name in ("entities", "relations"))
    for gate in (NoDocumentFromSubject, AnswerNotReached):
        for row in [row for row in rejected.to_pylist() if row["gate"] == gate.__name__][:5]:
            head, relation, answer = entities[row["head"]].as_py(), relations[row["relation"]].as_py(), entities[row["answer"]].as_py()
            given = {"subject": head, "relation": relation, "answer": answer}
            (found,) = kgqa.query("what_blocks_wikihop", given, workspace=seed_wikidata).to_pylist()
            assert found["reason"] == gate.reason


def test_why_agrees_with_medhop_samples(seed_medline: Path) -> None:
    for sample in pq.read_table(seed_medline / "datasets" / "medhop" / "train.parquet").to_pylist()[:5]:
        source = json.loads(sample["provenance"])
        given = {"subject": source["head"], "candidate": sample["answer_id"]}
        (why,) = kgqa.query("why_medhop_candidate", given, workspace=seed_medline).to_pylist()
        assert why["true_answer"]
        given = {"subject": source["head"], "answer": sample["answer_id"]}
        (row,) = kgqa.query("what_blocks_medhop", given, workspace=seed_medline).to_pylist()
        assert row["stated"] == 0
        assert row["leading"] > 0
        assert row["facts"] == 1
        own = dict(zip((candidate["id"] for candidate in sample["candidates"]), sample["chains"], strict=True))[sample["answer_id"]]
        for documents in {len(chain) // 2 for chain in own} & {1, 2}:
            assert why[f"chains_{documents}"] > 0
        assert row["chains_2"] == why["chains_2"]


def test_a_second_limit_on_the_same_connection_counts(seed_wikidata: Path) -> None:
    # 0.20.4 keeps the first LIMIT of a text with its plan (docs/doctor.md).
    query = read_queries()["hubs"]
    with EmbeddedStore(Workspace(seed_wikidata).graph) as store:
        assert [store.run(query, {"limit": limit}).num_rows for limit in (3, 5, 1, 3)] == [3, 5, 1, 3]


def test_names_that_no_index_would_take_are_left_out_of_what_is_searched() -> None:
    many = [f"name {number} " + "ä" * 40 for number in range(1000)]
    tables = rows_of(entities=["one", "two"])
    plain = tables["entity"].select(["id", "row", "kind", "label", "description"])
    aliases = pa.array([many, ["b"]], pa.list_(pa.string()))
    entity = plain.append_column("aliases", aliases).append_column("common", pa.array([0, 0]))
    document = tables["document"].select(["id", "row", "title", "text", "usable"])
    first, second = with_measures({**tables, "entity": entity, "document": document})["entity"]["search"].to_pylist()
    assert first.startswith("\none\nname 0 ")
    assert first.endswith("ä\n")
    assert 10_000 < len(first.encode()) <= SEARCH_BYTES
    assert second == "\ntwo\nb\n"


def test_the_page_and_the_headers_say_the_same() -> None:
    described = dict(re.findall(r"^\| `(\w+)` \|.* \| (.*) \|$", PAGE, re.MULTILINE))
    assert len(described) > 70
    for name, text in described.items():
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "")  # a header has neither links nor marks of code
        assert read_queries()[name].purpose == plain
