"""The tables that every source is read into, and the checks that all of them share.

===========  ===================================================================================================
entities     ``id``, ``kind`` (entity, drug, protein), ``label``, ``description``; sorted by id, ids unique
names        ``entity``, ``name``, ``source`` (what kind of name it is: title, label, alias, name, gene, synonym); no pair twice
relations    ``id``, ``label``, ``symmetric`` (true: (a, r, b) says the same as (b, r, a)); sorted by id
facts        ``head``, ``relation``, ``tail``; sorted, no repetition, no self-loop; a symmetric one is kept once, smaller id first
documents    ``id``, ``title``, ``about`` (the entity that the document is the article of, or null), ``text``; sorted by id
annotations  ``document``, ``entity``, ``start``, ``end``: mentions that the source marks, in characters of the text; sorted
values       facts whose objects are dates, numbers, places on a globe or texts, as :mod:`kgqa.sources.rows` has them; sorted
dropped      ``file``, ``line``, ``reason``, ``detail``: every row that was kept out
===========  ===================================================================================================

All text is NFC-normalised; all sorting is by UTF-8 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.sources.rows import SCHEMAS

DROP_REASONS = {
    "unknown head": "the fact's first entity is not in the entity table",
    "unknown relation": "the fact's relation is not in the relation table",
    "unknown tail": "the fact's second entity is not in the entity table",
    "repeated fact": "the same fact stands in an earlier line",
    "self-loop": "the fact connects an entity with itself",
    "unknown article entity": "the document is said to be about an entity that is not in the entity table; kept, but as nobody's article",
    "second article": "another document is already the article about that entity; kept, but as nobody's article",
    "empty document": "the document has no text",
    "empty name": "a name of the entity has no characters",
}
"""Reason → the sentence that the card and the funnel show."""


NO_ANNOTATIONS = pl.DataFrame(schema={"document": pl.String, "entity": pl.String, "start": pl.Int64, "end": pl.Int64})
NO_VALUES = pl.DataFrame(SCHEMAS["values"].empty_table())
NO_DROPS = pl.DataFrame(schema={"file": pl.String, "line": pl.Int64, "reason": pl.String, "detail": pl.String})


TABLES = ("entities", "names", "relations", "facts", "documents", "annotations", "values", "dropped")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTables:
    """One domain in normal form; the module's docstring lists the columns."""

    entities: pa.Table
    names: pa.Table
    relations: pa.Table
    facts: pa.Table
    documents: pa.Table
    annotations: pa.Table
    values: pa.Table
    dropped: pa.Table

    def __iter__(self):  # type: ignore[no-untyped-def]
        """``(name, table)`` pairs in the order of writing."""
        return ((name, getattr(self, name)) for name in TABLES)


def normalised(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """NFC, without white space around; "é" as one character and as e + accent become the same name."""
    return pc.utf8_trim_whitespace(pc.utf8_normalize(column, form="NFC"))


def frame(table: pa.Table) -> pl.DataFrame:
    """The same columns in polars, without copying."""
    result = pl.from_arrow(table)
    assert isinstance(result, pl.DataFrame)
    return result


def dropped_rows(rows: pl.DataFrame, file: str, reason: str, detail: pl.Expr) -> pl.DataFrame:
    """The ``dropped`` rows for ``rows``, which have ``line``."""
    assert reason in DROP_REASONS, reason
    return rows.select(file=pl.lit(file), line=pl.col("line").cast(pl.Int64), reason=pl.lit(reason), detail=detail.cast(pl.String))


def clean_documents(documents: pl.DataFrame, entities: pl.DataFrame, file: str) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """Keep out empty documents and make ``about`` point at known entities, each at most once; columns id, title, about, text, line."""
    empty = documents.filter(pl.col("text") == "")
    clean_rows = documents.filter(pl.col("text") != "")
    is_known = pl.col("about").is_in(entities["id"].implode())
    stranger = clean_rows.filter(pl.col("about").is_not_null() & ~is_known)
    clean_rows = clean_rows.with_columns(about=pl.when(is_known).then("about"))
    second = clean_rows.filter(pl.col("about").is_not_null() & ~pl.struct("about").is_first_distinct())
    clean_rows = clean_rows.with_columns(about=pl.when(pl.struct("about").is_first_distinct()).then("about"))
    drops = [
        dropped_rows(empty, file, "empty document", pl.col("id")),
        dropped_rows(stranger, file, "unknown article entity", pl.col("about")),
        dropped_rows(second, file, "second article", pl.col("about")),
    ]
    return clean_rows, drops


def clean_facts(
    facts: pl.DataFrame, heads: pl.Series, tails: pl.Series, relations: pl.DataFrame, file: str
) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """Keep facts whose ids are known, once each and without self-loops; columns head, relation, tail, line.

    A symmetric relation's fact is turned so that the smaller id comes first before repetitions are looked for.
    """
    detail = pl.concat_str("head", "relation", "tail", separator=" ")
    checks = [
        ("unknown head", ~pl.col("head").is_in(heads.implode())),
        ("unknown relation", ~pl.col("relation").is_in(relations["id"].implode())),
        ("unknown tail", ~pl.col("tail").is_in(tails.implode())),
        ("self-loop", pl.col("head") == pl.col("tail")),
    ]
    drops = []
    for reason, test in checks:
        drops.append(dropped_rows(facts.filter(test), file, reason, detail))
        facts = facts.filter(~test)
    turn = pl.col("relation").is_in(relations.filter("symmetric")["id"].implode()) & (pl.col("head") > pl.col("tail"))
    facts = facts.with_columns(head=pl.when(turn).then("tail").otherwise("head"), tail=pl.when(turn).then("head").otherwise("tail"))
    first = pl.struct("head", "relation", "tail").is_first_distinct()
    drops.append(dropped_rows(facts.filter(~first), file, "repeated fact", detail))
    return facts.filter(first), drops


def clean_names(names: pl.DataFrame, order: list[str], file: str) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """Keep each (entity, name) once, with the first of its sources in ``order``; columns entity, name, source, line."""
    names = names.with_columns(pl.Series("name", normalised(pa.chunked_array(names["name"].to_arrow().cast(pa.string())))))
    empty = pl.col("name") == ""
    drops = [dropped_rows(names.filter(empty), file, "empty name", pl.col("entity"))]
    rank = pl.col("source").replace_strict(order, list(range(len(order))), return_dtype=pl.Int64)
    clean_rows = names.filter(~empty).sort("entity", "name", rank).unique(["entity", "name"], keep="first", maintain_order=True)
    return clean_rows, drops


def finished(
    *,
    entities: pl.DataFrame,
    names: pl.DataFrame,
    relations: pl.DataFrame,
    facts: pl.DataFrame,
    documents: pl.DataFrame,
    drops: list[pl.DataFrame],
    annotations: pl.DataFrame = NO_ANNOTATIONS,
    values: pl.DataFrame = NO_VALUES,
) -> SourceTables:
    """Sort everything and take the columns of the normal form."""
    return SourceTables(
        entities=arrow(entities.select("id", "kind", "label", "description").sort("id")),
        names=arrow(names.select("entity", "name", "source").sort("entity", "name")),
        relations=arrow(relations.select("id", "label", "symmetric").sort("id")),
        facts=arrow(facts.select("head", "relation", "tail").sort("head", "relation", "tail")),
        documents=arrow(documents.select("id", "title", "about", "text").sort("id")),
        annotations=arrow(annotations.select(NO_ANNOTATIONS.columns).sort("document", "start", "end", "entity")),
        values=arrow(values.select(NO_VALUES.columns).sort(NO_VALUES.columns)),
        dropped=arrow(pl.concat(drops).sort("file", "line", "reason", "detail")),
    )


def arrow(data: pl.DataFrame) -> pa.Table:
    """The same columns in Arrow, in one chunk each, so that equal data gives equal files; only ``text`` may exceed 2 GiB."""
    table = data.to_arrow()
    fields = []
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()
        fields.append(pa.field(name, (pa.large_string() if name == "text" else pa.string()) if is_text else kind))
    return table.cast(pa.schema(fields)).combine_chunks()
