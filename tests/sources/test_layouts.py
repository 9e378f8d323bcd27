"""Both layouts in normal form: sorted, clean, nothing lost without a reason, and the seeds' deliberate faults found where they stand."""

from __future__ import annotations

import gzip
import random
import shutil
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from kgqa.sources import medline, wikidata
from kgqa.sources.tables import DROP_REASONS, SourceTables
from tests.command import ROOT

LAYOUTS = {"wikidata": wikidata, "medline": medline}


def read(layout: str, folder: Path) -> SourceTables:
    """The tables of one layout."""
    module: ModuleType = LAYOUTS[layout]
    tables: SourceTables = module.read(folder)
    return tables


@pytest.fixture(scope="module", params=LAYOUTS)
def layout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def tables(layout: str) -> SourceTables:
    return read(layout, ROOT / "seeds" / layout)


def test_tables_are_sorted_and_ids_unique(tables: SourceTables) -> None:
    for table in (tables.entities, tables.relations, tables.documents):
        ids = table["id"].to_pylist()
        assert ids == sorted(set(ids), key=str.encode)
    facts = [tuple(row.values()) for row in tables.facts.to_pylist()]
    assert facts == sorted(set(facts))
    names = [(row["entity"], row["name"]) for row in tables.names.to_pylist()]
    assert len(names) == len(set(names))
    assert sorted(names) == names


def test_everything_points_at_something(tables: SourceTables) -> None:
    entities, relations = set(tables.entities["id"].to_pylist()), tables.relations["id"].to_pylist()
    symmetric = {row["id"] for row in tables.relations.to_pylist() if row["symmetric"]}
    for fact in tables.facts.to_pylist():
        assert {fact["head"], fact["tail"]} <= entities
        assert fact["relation"] in relations
        assert fact["head"] != fact["tail"]
        assert fact["relation"] not in symmetric or fact["head"] < fact["tail"]
    about = [entity for entity in tables.documents["about"].to_pylist() if entity is not None]
    assert set(about) <= entities
    assert len(about) == len(set(about))
    assert set(tables.names["entity"].to_pylist()) <= entities
    assert all(name.strip() == name != "" for name in tables.names["name"].to_pylist())
    assert all(text.strip() == text != "" for text in tables.documents["text"].to_pylist())


def test_what_is_dropped_has_a_reason_and_a_line_that_is_there(layout: str, tables: SourceTables) -> None:
    for row in tables.dropped.to_pylist():
        assert row["reason"] in DROP_REASONS
        assert row["line"] <= len((ROOT / "seeds" / layout / row["file"]).read_text("utf-8").splitlines())


def test_facts_are_kept_or_dropped(layout: str, tables: SourceTables) -> None:
    files = {"wikidata": {"triples.tsv": 0}, "medline": {"drug_targets.tsv": 1, "protein_interactions.tsv": 1, "drug_interactions.tsv": 1}}[
        layout
    ]
    rows = sum(len((ROOT / "seeds" / layout / name).read_text("utf-8").splitlines()) - header for name, header in files.items())
    dropped = [row for row in tables.dropped.to_pylist() if row["file"] in files]
    assert tables.facts.num_rows + len(dropped) == rows


def test_the_deliberate_faults_of_wikidata_are_found() -> None:
    result = Counter(read("wikidata", ROOT / "seeds" / "wikidata").dropped["reason"].to_pylist())
    # seeds/wikidata/README.md, "Broken on purpose"
    assert result["repeated fact"] == 4
    assert result["self-loop"] == 1
    assert result["unknown relation"] == 2
    assert result["unknown head"] + result["unknown tail"] == 3
    assert result["empty document"] == 2
    assert result["empty name"] == 1


def test_the_deliberate_faults_of_medline_are_found() -> None:
    found = {(row["file"], row["line"]): row["reason"] for row in read("medline", ROOT / "seeds" / "medline").dropped.to_pylist()}
    # seeds/medline/README.md, "Deliberate faults"
    assert found[("drug_targets.tsv", 71)] == "repeated fact"
    assert found[("protein_interactions.tsv", 219)] == "repeated fact"
    assert found[("drug_interactions.tsv", 117)] == "repeated fact"
    assert found[("drug_interactions.tsv", 92)] == "self-loop"
    assert found[("drugs.tsv", 6)] == "empty name"
    assert {line for (file, line), reason in found.items() if file == "drug_targets.tsv" and "unknown" in reason} == {11, 26, 43}
    assert sum(reason == "empty document" for reason in found.values()) == 2


def test_order_of_lines_packing_and_line_ends_change_nothing(layout: str, tables: SourceTables, tmp_path: Path) -> None:
    rng = random.Random(0)
    folder = Path(shutil.copytree(ROOT / "seeds" / layout, tmp_path / "source"))
    for name in LAYOUTS[layout].FILES:
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        head = 0 if name.endswith(".jsonl") or name == "triples.tsv" else 1
        body = lines[head:]
        rng.shuffle(body)
        (folder / name).unlink()
        (folder / f"{name}.gz").write_bytes(gzip.compress(b"".join([*lines[:head], *body]).replace(b"\n", b"\r\n")))
    for (name, table), (_, expected) in zip(read(layout, folder), tables, strict=True):
        if name != "dropped":
            assert table.equals(expected), name


def test_composed_and_decomposed_letters_are_the_same_name(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ROOT / "seeds" / "wikidata", tmp_path / "source"))
    with (folder / "entities.tsv").open("a", encoding="utf-8") as file:
        file.write("X1\tCafe\u0301\tCafé|\u00a0Cafe\u0301 \t\t\t\t\t\n")
    names = [row["name"] for row in read("wikidata", folder).names.to_pylist() if row["entity"] == "X1"]
    assert names == ["Café"]


def test_the_title_of_an_entity_may_be_left_to_its_article(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ROOT / "seeds" / "wikidata", tmp_path / "source"))
    rows = [line.split("\t") for line in (folder / "entities.tsv").read_text("utf-8").splitlines()]
    at = rows[0].index("wikipedia_title")
    (folder / "entities.tsv").write_text("".join("\t".join([*row[:at], *row[at + 1 :]]) + "\n" for row in rows), "utf-8")
    whole, without = read("wikidata", ROOT / "seeds" / "wikidata"), read("wikidata", folder)
    assert without.entities.equals(whole.entities)
    titles = {row["about"]: row["title"] for row in without.documents.to_pylist()}
    assert {row["name"] for row in without.names.to_pylist() if row["source"] == "title"} <= set(titles.values())
    assert [row["source"] for row in without.names.to_pylist() if row["entity"] == "Q90" and row["name"] == titles["Q90"]] == ["title"]


@pytest.mark.real_data
def test_real_sources_are_read_whole(layout: str, real_data: Path) -> None:
    tables = read(layout, real_data / layout)
    expected = {"wikidata": (118_803, 171_972), "medline": (12_666, 7_759 + 8_435)}[layout]
    reasons = Counter(tables.dropped["reason"].to_pylist())
    assert (tables.documents.num_rows + reasons["empty document"], tables.entities.num_rows) == expected
