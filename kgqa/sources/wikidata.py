"""Encyclopedia articles with a graph of labelled facts: ``documents.jsonl``, ``entities.tsv``, ``triples.tsv``, ``relations.tsv``.

Each may be gzip-compressed. Columns that are needed: documents ``id, title, entity, text``; entities ``id, label, aliases, description``,
and ``wikipedia_title`` where there is one; relations ``id, label``; triples have no header: subject, relation, object.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from kgqa.progress import Advance
from kgqa.settings.source import NAME_SOURCES
from kgqa.sources.delimited import find_file, read_json_lines, read_tab_separated, require_ids, require_rows
from kgqa.sources.tables import SourceTables, clean_documents, clean_facts, clean_names, finished, frame, normalised

FILES = ("documents.jsonl", "entities.tsv", "triples.tsv", "relations.tsv")
NAMES = list(NAME_SOURCES["wikidata"])
LABEL = pl.when(pl.col("label") == "").then("id").otherwise("label")


def read(folder: Path, *, advance: Advance = lambda _: None) -> SourceTables:
    """Read the four files; ``advance`` is called with the bytes read from disk. Memory: all tables, about four times the plain text."""
    paths = {name: find_file(folder, name) for name in FILES}
    documents = _documents(paths["documents.jsonl"], advance)
    entities = _entities(paths["entities.tsv"], advance)
    relations = _relations(paths["relations.tsv"], advance)
    triples = read_tab_separated(paths["triples.tsv"], ("head", "relation", "tail"), header=False, advance=advance)
    require_rows(triples, paths["triples.tsv"], "triple")
    documents, drops = clean_documents(documents, entities, paths["documents.jsonl"].name)
    ids = entities["id"]
    facts, fact_drops = clean_facts(frame(triples), ids, ids, relations, paths["triples.tsv"].name)
    names, name_drops = clean_names(_names(entities, documents), NAMES, paths["entities.tsv"].name)
    return finished(
        entities=entities, names=names, relations=relations, facts=facts, documents=documents, drops=drops + fact_drops + name_drops
    )


def _documents(path: Path, advance: Advance) -> pl.DataFrame:
    table = read_json_lines(path, ("id", "title", "entity", "text"), advance=advance)
    require_ids(table, "id", path, "document")
    table = table.set_column(3, "text", normalised(table["text"])).set_column(1, "title", normalised(table["title"]))
    return frame(table).rename({"entity": "about"}).with_columns(about=pl.when(pl.col("about") != "").then("about"))


def _entities(path: Path, advance: Advance) -> pl.DataFrame:
    columns = ("id", "label", "aliases", "description", "wikipedia_title")
    table = read_tab_separated(path, columns, optional=("wikipedia_title",), advance=advance)
    require_ids(table, "id", path, "entity")
    table = table.set_column(1, "label", normalised(table["label"]))
    # An entity without a label is shown by its id; it still takes part in the graph through its other names.
    return frame(table).with_columns(kind=pl.lit("entity"), label=LABEL, given=pl.col("label"))


def _relations(path: Path, advance: Advance) -> pl.DataFrame:
    table = read_tab_separated(path, ("id", "label"), advance=advance)
    require_ids(table, "id", path, "relation")
    return frame(table).with_columns(label=LABEL, symmetric=pl.lit(False))


def _names(entities: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """Every name of every entity with its source; the title also from the document itself, which may differ from the table."""
    columns = ("entity", "name", "source", "line")
    titles = entities.filter(pl.col("wikipedia_title") != "").select(
        entity="id", name="wikipedia_title", source=pl.lit("title"), line="line"
    )
    articles = documents.filter(pl.col("about").is_not_null() & (pl.col("title") != "")).select(
        entity="about", name="title", source=pl.lit("title"), line="line"
    )
    labels = entities.select(entity="id", name="given", source=pl.lit("label"), line="line")
    aliases = (
        entities.filter(pl.col("aliases") != "")
        .with_columns(name=pl.col("aliases").str.split("|"))
        .explode("name")
        .select(entity="id", name="name", source=pl.lit("alias"), line="line")
    )
    return pl.concat([table.select(columns) for table in (titles, articles, labels, aliases)])
