"""Graphs and texts from files to the tables of an import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kgqa
from kgqa.errors import BrokenInput, MissingInput


def rows(folder: Path, table: str) -> set[tuple[Any, ...]]:
    return set(pl.read_parquet(folder / f"{table}.parquet").iter_rows())


def test_edges_nodes_relations_and_texts_in_one_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    files = {
        "edges.csv": 'head,relation,tail\nAda_L,bornIn,"London, UK"\nAda_L,knows,Big_Ben\n',
        "nodes.tsv": "id\tname\ttype\nAda_L\tAda Lovelace\tperson\n",
        "relations.csv": "id,label\nknows,is acquainted with\n",
        "texts.jsonl": '{"id": 1, "title": "Ada L", "text": "Ada Lovelace was born in London, UK."}\n',
        "Big_Ben.txt": "Big Ben is a bell.",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    kgqa.import_files("edges", [tmp_path / "edges.csv"], out=out, options={"symmetric": ["knows"]})
    kgqa.import_files("nodes", [tmp_path / "nodes.tsv"], out=out, options={"label": "name", "kind_column": "type"})
    kgqa.import_files("relations", [tmp_path / "relations.csv"], out=out)
    kgqa.import_files("texts", [tmp_path / "texts.jsonl"], out=out, options={"about": "title", "space": "_"})
    result = kgqa.import_files("textfiles", [tmp_path / "Big_Ben.txt"], out=out, options={"about": "name"})
    assert rows(out, "entities") == {
        ("Ada_L", "person", "Ada Lovelace", ""), ("London, UK", "entity", "London, UK", ""), ("Big_Ben", "entity", "Big Ben", ""),
    }  # fmt: skip
    assert rows(out, "names") == {
        ("Ada_L", "Ada Lovelace", "label"),
        ("London, UK", "London, UK", "label"),
        ("Big_Ben", "Big Ben", "label"),
    }
    assert rows(out, "relations") == {("bornIn", "born in", False), ("knows", "is acquainted with", True)}
    assert rows(out, "facts") == {("Ada_L", "bornIn", "London, UK"), ("Ada_L", "knows", "Big_Ben")}
    assert {(row[0], row[2]) for row in rows(out, "documents")} == {("1", "Ada_L"), ("Big_Ben", "Big_Ben")}
    assert {row["reason"]: row["count"] for row in result.skipped} == {"entity without a label": 2}


def test_labels_of_rdf_may_follow_in_another_file(tmp_path: Path) -> None:
    out, space = tmp_path / "out", "http://ex.org/"
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    (tmp_path / "facts.nt").write_text(f"<{space}a_b> <{space}livesIn> <{space}c_d> .\n")
    (tmp_path / "labels.ttl").write_text(f'@prefix e: <{space}> . e:a_b {label} "A. B."@en . e:livesIn {label} "lives in the town"@en .\n')
    kgqa.import_files("rdf", [tmp_path / "facts.nt", tmp_path / "labels.ttl"], out=out, options={"prefixes": {"": space}})
    assert {("a_b", "entity", "A. B.", ""), ("c_d", "entity", "c d", "")} <= rows(out, "entities")
    assert rows(out, "relations") == {("livesIn", "lives in the town", False)}
    assert rows(out, "facts") == {("a_b", "livesIn", "c_d")}


def test_what_cannot_be_imported_leaves_no_tables(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("head,relation,tails\na,r,b\n")
    (tmp_path / "a.cypher").write_text("CREATE (a:B)")
    with pytest.raises(MissingInput, match="did you mean tails"):
        kgqa.import_files("edges", [tmp_path / "a.csv"], out=tmp_path / "out")
    for name in ("edges", "graphml", "rdf"):
        with pytest.raises(BrokenInput, match="Cypher script"):
            kgqa.import_files(name, [tmp_path / "a.cypher"], out=tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.parquet"))


@pytest.mark.real_data
def test_dbpedia50_and_umls_with_texts(real_data: Path, tmp_path: Path) -> None:
    folder = real_data / "sources" / "graphs"
    files = [folder / "dbpedia50" / name for name in ("train.txt.gz", "valid.txt", "test.txt.gz")]
    numbers = {"header": False, "head": 1, "tail": 2, "relation": 3}
    kgqa.import_files("edges", files, out=tmp_path / "dbpedia50", options=numbers, workers=1)
    texts = real_data / "wikidata" / "documents.jsonl.gz"
    result = kgqa.import_files("texts", [texts], out=tmp_path / "dbpedia50", options={"about": "title", "space": "_"}, workers=1)
    # Of 43,490 different lines, 520 say something of an entity and itself.
    left = {row["reason"]: row["count"] for row in result.skipped}
    assert result.rows["entities"] == result.rows["names"] == left["entity without a label"] == 30_449
    assert result.rows["facts"] == 43_037
    about = pl.read_parquet(tmp_path / "dbpedia50" / "documents.parquet")["about"]
    assert about.is_not_null().sum() > 2_500
    umls = kgqa.import_files(
        "edges", [folder / "UMLS-train.txt"], out=tmp_path / "umls", options={"header": False, "head": 1, "relation": 2, "tail": 3}
    )
    assert (umls.rows["entities"], umls.rows["relations"]) == (135, 46)
    assert ("acquired_abnormality", "entity", "acquired abnormality", "") in rows(tmp_path / "umls", "entities")
