"""Rules about places rather than names: a name can be right in one text and mean nothing in another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.linking.matcher import Spans
from kgqa.linking.words import plain_words
from kgqa.settings.linking import LinkingSettings, SupportSettings
from kgqa.sources.tables import frame

PLACE_RULES = {
    "shared name": "the name there belongs to several entities",
    "part of a name": "the word stands beside another capitalised word, so it is part of a longer name (linking.whole_names)",
    "unsupported": "the short name stands in a document without a longer name of the same entity (linking.support)",
}
"""Rule → the sentence that the funnel shows."""

BEFORE = r"""(^|\S*\s)(\p{Lu}[\p{L}\p{M}'’.]*)["”]?[ -]$"""
"""A capitalised word up to the mention, and what stands before it."""
SENTENCE_END = r"""^$|[.!?:"“(\[]\s$|\n$"""
OPENER = 5.0
"""A word of at least this Zipf frequency may have its capital from the beginning of a sentence ("In Germany")."""
AFTER = r"^[ -]\p{Lu}"
REACH = 32
"""Characters looked at before a mention."""


def accepted(
    mentions: Spans, texts: pa.ChunkedArray, names: pa.Table, entities: pa.Table, settings: LinkingSettings
) -> tuple[npt.NDArray[np.bool_], dict[str, int]]:
    """Which ``mentions`` stand, and how many each rule takes away."""
    table = pl.DataFrame({"document": mentions.document, "start": mentions.start, "end": mentions.end, "entity": mentions.entity})
    supports = bool(settings.support.letters or settings.support.with_digit)
    keep = np.ones(len(table), np.bool_)
    if not (settings.whole_names or supports):
        return keep, {"part of a name": 0, "unsupported": 0}
    text = pl.Series(texts).gather(table["document"])
    table = table.with_columns(text=text, surface=text.str.slice(table["start"], table["end"] - table["start"]))
    if settings.whole_names:
        keep &= ~_part_of_a_name(table)
    parts = int((~keep).sum())
    if supports:
        keep &= _supported(table, keep, weak_names(names, entities, settings.support))
    return keep, {"part of a name": parts, "unsupported": int((~keep).sum()) - parts}


def _part_of_a_name(table: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """Single capitalised words directly before or after another one, as "Trinity" in "They Call Me Trinity".

    A capitalised word before does not count where it may have its capital from the beginning of a sentence.
    """
    rows = table.select("text", "start", "end", "surface").with_row_index("at").filter(pl.col("surface").str.contains(r"^\p{Lu}\S*$"))
    start = pl.col("start").cast(pl.Int64)
    first = pl.max_horizontal(start - REACH, 0)
    before = pl.col("text").str.slice(first, start - first)
    word = before.str.extract(BEFORE, 2)
    opener = before.str.extract(BEFORE, 1).str.contains(SENTENCE_END) & word.str.to_lowercase().is_in(sorted(plain_words(OPENER)))
    after = pl.col("text").str.slice(pl.col("end"), 2).str.contains(AFTER)
    mask = np.zeros(len(table), np.bool_)
    mask[rows.filter(after | (word.is_not_null() & ~opener))["at"].to_numpy()] = True
    return mask


def weak_names(names: pa.Table, entities: pa.Table, settings: SupportSettings) -> pl.DataFrame:
    """``entity`` (row), ``surface``: the names that need support."""
    rows = frame(entities).select(id="id").with_row_index("entity").with_columns(pl.col("entity").cast(pl.Int32))
    letters = pl.col("name").str.replace_all(r"[^\p{L}\p{N}]", "").str.len_chars()
    digit = pl.col("name").str.contains(r"\p{N}")
    limits = [pl.col("source").replace_strict(limit, default=0, return_dtype=pl.Int64) for limit in (settings.letters, settings.with_digit)]
    weak = letters <= pl.when(digit).then(limits[1]).otherwise(limits[0])
    table = frame(names).filter(weak & ~pl.col("name").is_in(settings.keep))
    return table.join(rows, left_on="entity", right_on="id").select(entity="entity_right", surface="name").unique()


def _supported(table: pl.DataFrame, keep: npt.NDArray[np.bool_], weak: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """Mentions by a strong name, and those by a weak one whose entity has a strong one in the same document."""
    rows = table.select("document", "entity", "surface").with_row_index("at").filter(pl.Series(keep))
    strong = rows.join(weak, on=["entity", "surface"], how="anti")
    supported = rows.join(strong.select("document", "entity").unique(), on=["document", "entity"], how="semi")
    mask = np.zeros(len(table), np.bool_)
    mask[supported["at"].to_numpy()] = True
    return mask
