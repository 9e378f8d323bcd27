"""Abstracts with drugs, proteins and their relations: ``abstracts.jsonl`` and five tab-separated files, each with a header.

Columns that are needed: abstracts ``id, text`` (the text begins with the title, as one sentence); drugs ``drugbank_id, name, synonyms``;
proteins ``uniprot_id, gene, synonyms, names``; drug_targets ``drugbank_id, uniprot_id``; protein_interactions ``uniprot_id_1,
uniprot_id_2``; drug_interactions ``drugbank_id_1, drugbank_id_2``. Each file may be gzip-compressed.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from kgqa.errors import DuplicateId
from kgqa.progress import Advance
from kgqa.settings.source import NAME_SOURCES
from kgqa.sources.delimited import find_file, read_json_lines, read_tab_separated, require_ids, require_rows
from kgqa.sources.tables import SourceTables, clean_documents, clean_facts, clean_names, finished, frame, normalised

FILES = (
    "abstracts.jsonl",
    "drugs.tsv",
    "proteins.tsv",
    "drug_targets.tsv",
    "protein_interactions.tsv",
    "drug_interactions.tsv",
)
NAMES = list(NAME_SOURCES["medline"])
RELATIONS = (("interacts_with", "interacts with", True), ("protein_interaction", "protein interaction", True), ("target", "target", False))


def read(folder: Path, *, advance: Advance = lambda _: None) -> SourceTables:
    """Read the six files; ``advance`` is called with the bytes read from disk. Memory: all tables, about four times the plain text."""
    paths = {name: find_file(folder, name) for name in FILES}
    drugs = _entities(paths["drugs.tsv"], "drug", ("drugbank_id", "name", "synonyms"), advance)
    proteins = _entities(paths["proteins.tsv"], "protein", ("uniprot_id", "gene", "synonyms", "names"), advance)
    for shared_id, first, line in drugs.select("id", "line").join(proteins.select("id", "line"), on="id").sort("line_right").iter_rows():
        where = f"{paths['proteins.tsv'].name}, line {line}"
        drug = f"{paths['drugs.tsv'].name}, line {first}"
        raise DuplicateId(f"{where}: the protein id {shared_id} is also a drug's ({drug}); give one of them another id.")
    documents = _abstracts(paths["abstracts.jsonl"], advance)
    entities = pl.concat([drugs.select("id", "kind", "label", "description"), proteins.select("id", "kind", "label", "description")])
    relations = pl.DataFrame(RELATIONS, schema=["id", "label", "symmetric"], orient="row")
    documents, drops = clean_documents(documents, entities, paths["abstracts.jsonl"].name)
    facts = []
    for relation, file, columns, heads, tails in (
        ("target", "drug_targets.tsv", ("drugbank_id", "uniprot_id"), drugs, proteins),
        ("protein_interaction", "protein_interactions.tsv", ("uniprot_id_1", "uniprot_id_2"), proteins, proteins),
        ("interacts_with", "drug_interactions.tsv", ("drugbank_id_1", "drugbank_id_2"), drugs, drugs),
    ):
        table = read_tab_separated(paths[file], columns, advance=advance)
        require_rows(table, paths[file], "row")
        rows = frame(table).select(head=columns[0], relation=pl.lit(relation), tail=columns[1], line="line")
        clean_rows, dropped_rows = clean_facts(rows, heads["id"], tails["id"], relations, paths[file].name)
        facts.append(clean_rows)
        drops += dropped_rows
    names = []
    for table, file in ((drugs, "drugs.tsv"), (proteins, "proteins.tsv")):
        clean_rows, dropped_rows = clean_names(_names(table), NAMES, paths[file].name)
        names.append(clean_rows)
        drops += dropped_rows
    return finished(
        entities=entities, names=pl.concat(names), relations=relations, facts=pl.concat(facts), documents=documents, drops=drops
    )


def _abstracts(path: Path, advance: Advance) -> pl.DataFrame:
    table = read_json_lines(path, ("id", "text"), advance=advance)
    require_ids(table, "id", path, "abstract")
    table = table.set_column(1, "text", normalised(table["text"]))
    title = pl.col("text").str.extract(r"(?s)^(.*?[.?!])(?:\s|$)").fill_null("")
    return frame(table).with_columns(title=title, about=pl.lit(None, pl.String))


def _entities(path: Path, kind: str, columns: tuple[str, ...], advance: Advance) -> pl.DataFrame:
    """``columns``: the id, the main name, then columns of further names; they become id, label and ``synonyms``."""
    table = read_tab_separated(path, columns, advance=advance)
    require_ids(table, columns[0], path, kind)
    table = table.set_column(1, columns[1], normalised(table[columns[1]]))
    main, other_names = pl.col(columns[1]), [pl.col(name) for name in columns[2:]]
    return frame(table).select(
        id=columns[0],
        kind=pl.lit(kind),
        label=pl.when(main == "").then(columns[0]).otherwise(main),
        given=main,
        description=pl.lit(""),
        synonyms=pl.concat_list(
            [pl.when(text != "").then(text.str.split("|")).otherwise(pl.lit([], pl.List(pl.String))) for text in other_names]
        ),
        line="line",
    )


def _names(table: pl.DataFrame) -> pl.DataFrame:
    main = pl.lit("name") if table["kind"].first() == "drug" else pl.lit("gene")
    labels = table.select(entity="id", name="given", source=main, line="line")
    synonyms = table.explode("synonyms").filter(pl.col("synonyms").is_not_null())
    return pl.concat([labels, synonyms.select(entity="id", name="synonyms", source=pl.lit("synonym"), line="line")])
