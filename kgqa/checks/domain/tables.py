"""What the tables lack: labels, names, texts, articles; and rows that reading left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from kgqa.checks.domain.problem import ERROR, WARNING, Problem, named, some
from kgqa.sources.tables import DROP_REASONS, NO_DROPS, frame

FIXES = {
    "unknown head": "add the entity to the entity table, or remove the fact",
    "unknown relation": "add the relation to the relation table, or remove the fact",
    "unknown tail": "add the entity to the entity table, or remove the fact",
    "repeated fact": "nothing has to be done",
    "self-loop": "nothing has to be done",
    "unknown article entity": "correct the id in the document, or add the entity",
    "second article": "keep one document about each entity",
    "empty document": "add its text, or remove it",
    "empty name": "add the name, or remove the row",
}
"""Reason of ``DROP_REASONS`` → what to do."""
HARMLESS = frozenset({"repeated fact", "self-loop"})
MANY_IDS = 0.2
"""Share of the entities that may be called by an id without a word."""
FEW_ARTICLES = 0.1
"""Share of the subjects with an article below which questions about articles are hardly possible."""


def left_out(dropped: pa.Table | None, manifest: Mapping[str, Any] | None) -> Iterator[Problem]:
    """The rows that reading left out by reason, if they are known, and those that the import left out before."""
    rows = (NO_DROPS if dropped is None else frame(dropped)).filter(~pl.col("reason").is_in(HARMLESS))
    groups = rows.group_by("reason").agg(pl.len().alias("count"), pl.col("file", "line", "detail").first()).sort("reason")
    for row in groups.iter_rows(named=True):
        yield Problem(
            check="left-out", severity=WARNING, where=f"{row['file']}, line {row['line']} ({row['detail']})",
            what=f"{DROP_REASONS[row['reason']]} (rows: {row['count']:,})", advice=FIXES[row["reason"]], count=row["count"],
        )  # fmt: skip
    for entry in (manifest or {}).get("skipped", ()):
        yield Problem(
            check="left-out", severity=WARNING, where=entry["file"] or "the files together",
            what=f"the import left out {entry['count']:,}: {entry['reason']}"
            + (f" (first {entry['example']})" if entry["example"] else ""),
            advice="look at the example; where it should count, correct the file or the options of the format", count=entry["count"],
        )  # fmt: skip


def lacking(tables: Mapping[str, pa.Table], *, about_articles: bool) -> Iterator[Problem]:
    """Relations without a label, entities without a name; if questions are ``about_articles``, subjects of facts without an article."""
    facts, entities, documents = (frame(tables[name]) for name in ("facts", "entities", "documents"))
    relations = frame(tables["relations"]).filter(pl.col("id").is_in(facts["relation"].unique().implode()))
    # An id of letters alone, such as "river", is a label as well.
    bare = relations.filter(((pl.col("label") == pl.col("id")) & ~pl.col("id").str.contains(r"^\p{L}+$")) | (pl.col("label") == ""))
    if len(bare):
        yield Problem(
            check="no-label", severity=WARNING, where="relations", count=len(bare),
            what=f"{len(bare):,} of {len(relations):,} relations have no label, so questions show their id: {some(bare['id'].to_list())}",
            advice="add labels to the relation table (kgqa import relations)",
        )  # fmt: skip
    ids = entities.filter((pl.col("label") == pl.col("id")) & pl.col("id").str.contains(r"\p{N}"))
    if len(ids) > MANY_IDS * len(entities):
        yield Problem(
            check="id-for-name", severity=WARNING, where="entities", count=len(ids),
            what=f"{len(ids):,} of {len(entities):,} entities are called by their id, which no text uses: "
            f"{some(ids['id'].head(4).to_list())}",
            advice='add their labels, or say which column has them: options = { label = "COLUMN" } for the format nodes',
        )  # fmt: skip
    nameless = entities.join(frame(tables["names"]).select(id="entity").unique(), on="id", how="anti").sort("id")
    if len(nameless):
        yield Problem(
            check="no-name", severity=WARNING, where="names", count=len(nameless),
            what=f"{len(nameless):,} of {len(entities):,} entities have no name, so no text can mention them: "
            f"{some([named(*row) for row in nameless.select('id', 'label').head(4).iter_rows()])}",
            advice="add a label or an alias to the entity table (kgqa import nodes)",
        )  # fmt: skip
    if not about_articles:
        return
    subjects = facts.select(about="head").unique()
    with_article = len(subjects.join(documents.select("about").drop_nulls(), on="about", how="semi"))
    if with_article < FEW_ARTICLES * len(subjects):
        yield Problem(
            check="no-article", severity=WARNING if with_article else ERROR, where="documents", count=len(subjects) - with_article,
            what=f"only {with_article:,} of {len(subjects):,} subjects of facts have an article, from which a chain begins",
            advice="name the entity of each document (about; entity in documents.jsonl), or take documents about the subjects",
        )  # fmt: skip
