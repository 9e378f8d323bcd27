"""What patterns choose from: for each relation the entities with a value or an object of it that a paragraph states.

A side is a table with ``entity``, ``low`` and ``high`` (the bounds of the value: days of a date, base units of a quantity; of two dates
``low``, ``low_last`` and ``high``, ``high_last``), ``answer`` (as the paragraph writes it), ``document``, ``paragraph`` (its number in the
document) and ``split``, sorted by entity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.arrays.sentences import sentence_starts
from kgqa.recipes.names.kinds import title_kinds
from kgqa.recipes.values.table import one_each
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.strategyqa import PatternSettings, StrategyqaSettings
from kgqa.sources.tables import frame
from kgqa.splits.groups import assign_splits

STAGE = "strategy"
DAYS = 365.25
"""Days of a year."""
LEAD = 2
"""Sentences at the beginning of an article that may state a fact of the graph: what comes later may name its object for another reason."""
FEW = 2
"""Letters of a name that is too short to ask about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The entities that questions can be about: ``entity``, ``name``, ``description``, ``split``, ``document``; sorted by entity."""

    table: pl.DataFrame
    kinds: pl.DataFrame
    """``entity``, ``kind``: the class and the noun of each, where the article says them."""

    def of_kind(self, kinds: Sequence[str]) -> pl.DataFrame:
        """The entities of one of these kinds; all where there is none."""
        if not kinds:
            return self.table.select("entity")
        return self.kinds.filter(pl.col("kind").is_in(list(kinds))).select("entity").unique()


def terms_of(tables: Mapping[str, pa.Table], used: pl.Series, settings: StrategyqaSettings, *, seed: int, rows: list[FunnelRow]) -> Terms:
    """The terms among the entities ``used``, which have a value or fact, and the funnel."""
    entities = frame(tables["entities"]).select("description", entity="id", name="label")
    documents = frame(tables["documents"]).select("title", "text", document="id", entity="about").filter(pl.col("entity").is_not_null())
    table = entities.filter(pl.col("entity").is_in(used.implode())).join(documents, on="entity", how="inner").sort("entity")
    count = table.height
    letters = pl.col("name").str.len_chars() > FEW
    table = table.filter(letters & ~pl.col("name").str.contains(r"[(){}#?]"))
    rows.append(_row("terms", "the name is no plain one", count - table.height, table.height))
    same = entities.group_by(pl.col("name").str.to_lowercase()).len().filter(pl.col("len") > 1).select("name")
    count = table.height
    table = table.filter(~pl.col("name").str.to_lowercase().is_in(same["name"].implode()))
    rows.append(_row("terms", "another entity has the same name", count - table.height, table.height))
    links = frame(tables["links"]).join(documents.select("document", own="entity"), on="document", how="left")
    linked = links.filter(pl.col("own").is_null() | (pl.col("own") != pl.col("entity"))).group_by("entity").len("links")
    count = table.height
    table = table.join(linked, on="entity", how="left", maintain_order="left").filter(pl.col("links").fill_null(0) >= settings.min_links)
    rows.append(_row("terms", "too few documents name it to be a known one", count - table.height, table.height, "strategyqa.min_links"))
    shares = (settings.splits.train, settings.splits.dev, settings.splits.test)
    split = assign_splits(table["entity"].to_arrow().cast(pa.string()), shares, seed=seed)
    table = table.with_columns(split=pl.Series(split, dtype=pl.Int8), name=_with_article(table, tables))
    kinds = [
        sorted({part for kind in title_kinds(title, text) for part in kind[:2] if part})
        for title, text in zip(table["title"].to_list(), table["text"].str.slice(0, 400).to_list(), strict=True)
    ]
    kind_rows = table.select("entity", kind=pl.Series(kinds, dtype=pl.List(pl.String))).explode("kind", empty_as_null=False)
    return Terms(table=table.select("entity", "name", "description", "split", "document", "title"), kinds=kind_rows)


def _with_article(table: pl.DataFrame, tables: Mapping[str, pa.Table]) -> pl.Series:
    """The names, with "the" where the article's first sentence begins with it: "The Battle of Halden was ..."."""
    texts = table["text"].str.slice(0, 200)
    begins = texts.str.starts_with("The ") & ~table["name"].str.to_lowercase().str.starts_with("the ")
    named = (
        texts.str.slice(4)
        .to_frame("text")
        .with_columns(name=table["name"])
        .select(pl.col("text").str.starts_with(pl.col("name")))
        .to_series()
    )
    return pl.select(pl.when(begins & named).then(pl.lit("the ") + table["name"]).otherwise(table["name"])).to_series().alias("name")


def value_sides(tables: Mapping[str, pa.Table], factors: dict[str, float], rows: list[FunnelRow]) -> dict[str, pl.DataFrame]:
    """Relation → ``entity``, ``number``, ``last``, ``answer``, ``document``, ``paragraph``; only what a document states."""
    values = frame(tables["values"])
    single, drops = one_each(values, factors)
    rows += [_row("values", reason, count, None, "strategyqa.values") for reason, count in drops.items() if count]
    stated = single.filter(pl.col("document").is_not_null())
    rows.append(_row("values", "no article states it", single.height - stated.height, stated.height))
    stated = stated.filter((pl.col("kind") == "time") | (pl.col("base") > 0))
    texts = frame(tables["documents"]).select("text", document="id")
    stated = stated.join(texts, on="document", maintain_order="left").with_columns(
        paragraph=pl.col("text").str.slice(0, pl.col("start")).str.count_matches("\n").cast(pl.Int64),
        answer=pl.col("text").str.slice("start", pl.col("end") - pl.col("start")).str.replace_all(r"\s+", " "),
    )
    is_time = pl.col("kind") == "time"
    stated = stated.with_columns(
        number=pl.when(is_time).then("number").otherwise(pl.col("base").log(2.0)),
        last=pl.when(is_time).then(pl.col("last").cast(pl.Float64)).otherwise(pl.col("base").log(2.0)),
    )
    columns = ("entity", "number", "last", "answer", "document", "paragraph")
    return {
        str(key[0]): some.select(columns).sort("entity") for key, some in sorted(stated.group_by("relation"), key=lambda item: str(item[0]))
    }


def fact_side(tables: Mapping[str, pa.Table], relations: Sequence[str], leads: pl.DataFrame) -> pl.DataFrame:
    """``entity``, ``tail``, ``document``, ``paragraph``: heads with one tail of the ``relations``, which their article's beginning names."""
    facts = frame(tables["facts"]).filter(pl.col("relation").is_in(list(relations))).select("head", "tail").unique()
    single = facts.filter(pl.len().over("head") == 1)
    return single.join(leads, on=["head", "tail"], how="inner").select("tail", "document", "paragraph", entity="head").sort("entity")


def named_in_leads(tables: Mapping[str, pa.Table]) -> pl.DataFrame:
    """``head``, ``tail``, ``document``, ``paragraph``: entities that the first sentences of the article about ``head`` name."""
    starts = sentence_starts(tables["documents"]["text"])
    counts = np.minimum(np.diff(starts.offsets), LEAD)
    after = starts.offsets[:-1] + counts
    is_whole = after >= starts.offsets[1:]
    end = np.where(is_whole, 1 << 30, starts.targets[np.minimum(after, len(starts.targets) - 1)])
    articles = frame(tables["documents"]).select("text", document="id", head="about").with_columns(limit=pl.Series(end))
    articles = articles.filter(pl.col("head").is_not_null())
    mentions = frame(tables["mentions"]).select("document", "start", tail="entity").join(articles, on="document")
    named = mentions.filter((pl.col("start") < pl.col("limit")) & (pl.col("head") != pl.col("tail")))
    named = named.with_columns(paragraph=pl.col("text").str.slice(0, pl.col("start")).str.count_matches("\n").cast(pl.Int64))
    named = named.sort("head", "tail", "document", "start").unique(["head", "tail"], keep="first", maintain_order=True)
    return named.select("head", "tail", "document", "paragraph")


def span_side(sides: Mapping[str, pl.DataFrame], pattern: PatternSettings) -> pl.DataFrame:
    """The first side of a pattern with two dates, both stated in one paragraph: ``low``, ``low_last``, ``high``, ``high_last``."""
    first, second = (sides.get(name) for name in pattern.a)
    if first is None or second is None:
        return pl.DataFrame()
    both = first.join(second, on=["entity", "document", "paragraph"], suffix="_2", maintain_order="left")
    return both.select(
        "entity", "document", "paragraph", low="number", low_last="last", high="number_2", high_last="last_2",
        answer=pl.format("{} to {}", "answer", "answer_2"),
    ).filter(pl.col("low") < pl.col("high"))  # fmt: skip


def _row(what: str, reason: str, removed: int, left: int | None, setting: str = "") -> FunnelRow:
    return FunnelRow(stage=STAGE, what=what, reason=reason, removed=removed, left=left, setting=setting)
