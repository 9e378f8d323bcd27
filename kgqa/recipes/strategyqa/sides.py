"""What patterns choose from: the terms that questions can be about, and their values and facts that a paragraph states.

A paragraph is a line of a document, by its number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.arrays.sentences import sentence_starts
from kgqa.recipes.names.kinds import subject_kinds
from kgqa.recipes.values.table import one_each
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.strategyqa import PatternSettings
from kgqa.sources.tables import frame

STAGE = "strategy"
DAYS = 365.25
"""Days of a year."""
LEAD = 2
"""Sentences at the beginning of an article that may state a fact of the graph: what comes later may name its object for another reason."""
OPENING = 400
"""Letters at the beginning of an article in which its subject's kind is looked for."""
FEW = 2
"""Letters of a name that is too short to ask about."""


def terms_of(tables: Mapping[str, pa.Table], relations: pl.Series, rows: list[FunnelRow]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """``terms`` (``entity``, ``name``, ``description``, ``links``) and ``term_kinds`` (``entity``, ``kind``), sorted.

    They are the entities ``relations`` with a plain name of their own and an article. ``links``: how many other documents name them.
    """
    entities = frame(tables["entities"]).select("description", "kind", entity="id", name="label")
    documents = frame(tables["documents"]).select("title", "text", document="id", entity="about").filter(pl.col("entity").is_not_null())
    table = entities.filter(pl.col("entity").is_in(relations.implode())).join(documents, on="entity", how="inner").sort("entity")
    count = table.height
    letters = pl.col("name").str.len_chars() > FEW
    table = table.filter(letters & ~pl.col("name").str.contains(r"[(){}#?]"))
    rows.append(_row("terms", "the name is no plain one", count - table.height, table.height))
    count = table.height
    table = table.filter(~pl.col("title").str.ends_with(")"))
    rows.append(_row("terms", "the title of its article has a note to tell it from others of its name", count - table.height, table.height))
    # "Johnstown, Pennsylvania": the article's title says which Johnstown.
    whole = pl.col("title").str.starts_with(pl.concat_str("name", pl.lit(", ")))
    table = table.with_columns(name=pl.when(whole).then("title").otherwise("name"))
    ambiguous_names = entities.group_by(pl.col("name").str.to_lowercase()).len().filter(pl.col("len") > 1).select("name")
    count = table.height
    table = table.filter(~pl.col("name").str.to_lowercase().is_in(ambiguous_names["name"].implode()))
    rows.append(_row("terms", "another entity has the same name", count - table.height, table.height))
    links = frame(tables["links"]).join(documents.select("document", own="entity"), on="document", how="left")
    link_counts = links.filter(pl.col("own").is_null() | (pl.col("own") != pl.col("entity"))).group_by("entity").len("links")
    table = table.join(link_counts, on="entity", how="left", maintain_order="left").with_columns(pl.col("links").fill_null(0))
    kinds = [
        sorted({part for kind_words in subject_kinds(kind, title, text) for part in kind_words[:2] if part})
        for kind, title, text in table.select("kind", "title", pl.col("text").str.slice(0, OPENING)).iter_rows()
    ]
    kind_rows = table.select("entity", kind=pl.Series(kinds, dtype=pl.List(pl.String))).explode("kind", empty_as_null=False)
    table = table.with_columns(name=_with_article(table))
    return table.select("entity", "name", "description", "links"), kind_rows.drop_nulls().sort("entity", "kind")


def _with_article(table: pl.DataFrame) -> pl.Series:
    """The names, with "the" where the article's first sentence begins with it: "The Battle of Halden was ..."."""
    texts = table["text"].str.slice(0, 200)
    begins = texts.str.starts_with("The ") & ~table["name"].str.to_lowercase().str.starts_with("the ")
    titles = (
        texts.str.slice(4)
        .to_frame("text")
        .with_columns(name=table["name"])
        .select(pl.col("text").str.starts_with(pl.col("name")))
        .to_series()
    )
    return pl.select(pl.when(begins & titles).then(pl.lit("the ") + table["name"]).otherwise(table["name"])).to_series().alias("name")


def stated_values(tables: Mapping[str, pa.Table], factors: dict[str, float], rows: list[FunnelRow]) -> pl.DataFrame:
    """``relation``, ``entity``, ``number``, ``last``, ``answer``, ``document``, ``paragraph``: one value each, that a document states.

    ``number`` and ``last``: the first and the last day that a date can be; the binary logarithm of a quantity in base units, twice.
    """
    single, drops = one_each(frame(tables["values"]), factors)
    rows += [_row("values", reason, count, None, "strategyqa.values") for reason, count in drops.items() if count]
    statements = single.filter(pl.col("document").is_not_null() & ((pl.col("kind") == "time") | (pl.col("base") > 0)))
    rows.append(_row("values", "no article states it", single.height - statements.height, statements.height))
    texts = frame(tables["documents"]).select(article="text", document="id")
    statements = statements.join(texts, on="document", maintain_order="left")
    is_time, size = pl.col("kind") == "time", pl.col("base").log(2.0)
    return statements.select(
        "relation", "entity", "document",
        number=pl.when(is_time).then("number").otherwise(size),
        last=pl.when(is_time).then(pl.col("last").cast(pl.Float64)).otherwise(size),
        answer=pl.col("article").str.slice("start", pl.col("end") - pl.col("start")).str.replace_all(r"\s+", " "),
        paragraph=_paragraph("article"),
    ).sort("relation", "entity")  # fmt: skip


def stated_facts(tables: Mapping[str, pa.Table]) -> pl.DataFrame:
    """``relation``, ``entity``, ``tail``, ``document``, ``paragraph``: facts whose tail the beginning of the head's article names."""
    facts = frame(tables["facts"]).rename({"head": "entity"})
    return facts.join(_named_in_leads(tables, facts), on=["entity", "tail"], how="inner").sort("relation", "entity", "tail")


def evidence_of(documents: pa.Table, statement_tables: Sequence[pl.DataFrame], terms: pl.DataFrame) -> pl.DataFrame:
    """``document``, ``paragraph``, ``title``, ``text``: the paragraphs that state something of a term."""
    places = pl.concat(
        [statements.join(terms, on="entity", how="semi").select("document", "paragraph") for statements in statement_tables]
    ).unique()
    texts = frame(documents).select("title", "text", document="id")
    paragraphs = places.join(texts, on="document").sort("document", "paragraph")
    return paragraphs.with_columns(text=pl.col("text").str.split("\n").list.get(pl.col("paragraph")))


def fact_side(statements: pl.DataFrame, facts: pl.DataFrame, relations: Sequence[str]) -> pl.DataFrame:
    """``entity``, ``tail``, ``document``, ``paragraph``: the stated facts of heads that have one tail of the ``relations``.

    ``facts``: ``head``, ``relation``, ``tail`` of the graph.
    """
    tails = facts.filter(pl.col("relation").is_in(list(relations))).group_by("head").agg(pl.col("tail").n_unique())
    single = tails.filter(pl.col("tail") == 1).select(entity="head")
    relation_statements = statements.filter(pl.col("relation").is_in(list(relations))).join(single, on="entity", how="semi")
    return relation_statements.select("entity", "tail", "document", "paragraph").unique(
        ["entity", "tail"], keep="first", maintain_order=True
    )


def _paragraph(text: str) -> pl.Expr:
    """The number of the line of ``text`` that ``start`` is in."""
    return pl.col(text).str.slice(0, pl.col("start")).str.count_matches("\n", literal=True).cast(pl.Int64)


def _named_in_leads(tables: Mapping[str, pa.Table], facts: pl.DataFrame) -> pl.DataFrame:
    """``entity``, ``tail``, ``document``, ``paragraph``: pairs of ``facts`` of which the first sentences of the article name the tail."""
    starts = sentence_starts(tables["documents"]["text"])
    after = starts.offsets[:-1] + np.minimum(np.diff(starts.offsets), LEAD)
    is_whole = after >= starts.offsets[1:]
    end = np.where(is_whole, 1 << 30, starts.targets[np.minimum(after, len(starts.targets) - 1)])
    articles = frame(tables["documents"]).select("text", document="id", entity="about").with_columns(limit=pl.Series(end))
    mentions = frame(tables["mentions"]).select("document", "start", tail="entity")
    limits = articles.select("document", "entity", "limit").drop_nulls()
    leads = mentions.join(limits, on="document").filter(pl.col("start") < pl.col("limit"))
    leads = leads.join(facts.select("entity", "tail").unique(), on=["entity", "tail"], how="semi")
    leads = leads.sort("entity", "tail", "document", "start").unique(["entity", "tail"], keep="first", maintain_order=True)
    leads = leads.join(articles.select("document", "text"), on="document", maintain_order="left")
    return leads.select("entity", "tail", "document", paragraph=_paragraph("text"))


def span_side(sides: Mapping[str, pl.DataFrame], pattern: PatternSettings) -> pl.DataFrame:
    """The first side of a pattern with two dates, both stated in one paragraph: ``low``, ``low_last``, ``high``, ``high_last``."""
    first, second = (sides.get(name) for name in pattern.a)
    if first is None or second is None:
        return pl.DataFrame()
    spans = first.join(second, on=["entity", "document", "paragraph"], suffix="_2", maintain_order="left")
    return spans.select(
        "entity", "document", "paragraph", "split", low="number", low_last="last", high="number_2", high_last="last_2",
        answer=pl.format("{} to {}", "answer", "answer_2"),
    ).filter(pl.col("low") < pl.col("high"))  # fmt: skip


def _row(kind: str, reason: str, removed: int, left: int | None, setting: str = "") -> FunnelRow:
    return FunnelRow(stage=STAGE, what=kind, reason=reason, removed=removed, left=left, setting=setting)
