"""Step S1 (Trivedi et al. 2022): articles become paragraphs, as the paper's are: one article can support several hops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import row_bounds
from kgqa.arrays.words import lengths
from kgqa.runs.funnel import FunnelRow
from kgqa.sources.tables import arrow, frame

LINE = "\n"


def divided(tables: Mapping[str, pa.Table], least: int, rows: list[FunnelRow]) -> tuple[Mapping[str, pa.Table], pl.DataFrame]:
    """``tables`` with a document for each paragraph, and ``document``, ``part`` (its new id), ``begin`` (in characters) of these.

    A paragraph ends at the end of a line, once it has ``least`` words; a shorter rest belongs to the paragraph before it. The first one
    keeps the id of its article. ``documents``, ``mentions`` and ``links`` change. Without ``least`` (0) each article is one paragraph.
    """
    documents = frame(tables["documents"]).with_row_index("row")
    parts = _parts(documents.filter(pl.col("text").str.contains(LINE, literal=True)), least) if least else pl.DataFrame()
    if not parts.height:
        whole = documents.select(document="id", part="id", begin=pl.lit(0, pl.Int64))
        return tables, whole
    divided_rows = parts.select("row").unique()
    whole = documents.join(divided_rows, on="row", how="anti").with_columns(begin=pl.lit(0, pl.Int64), part=pl.col("id"))
    pieces = documents.join(parts, on="row").with_columns(text=pl.col("text").str.slice("begin", pl.col("stop") - pl.col("begin")))
    table = pl.concat([whole, pieces.select(whole.columns)]).sort("row", "begin")
    note = f"{divided_rows.height:,} articles are divided into paragraphs of at least {least} words"
    rows.append(
        FunnelRow(
            stage="single-hop", what="documents", reason=note, removed=None, left=table.height, setting="musique.single_hop.paragraphs"
        )
    )
    places = table.select("part", "begin", document="id")
    mentions = moved(frame(tables["mentions"]), places, table.select("part", size=pl.col("text").str.len_chars()))
    links = frame(tables["links"]).join(places.select("document", "part").unique(), on="document")
    links = links.join(mentions.select(part="document", entity="entity").unique(), on=["part", "entity"], how="semi")
    changes = {
        "documents": table.with_columns(id="part").select(tables["documents"].column_names),
        "mentions": mentions.select(tables["mentions"].column_names),
        "links": links.with_columns(document="part").select(tables["links"].column_names).sort("document", "entity"),
    }
    return {**tables, **{name: arrow(table).cast(tables[name].schema) for name, table in changes.items()}}, places


def moved(spans: pl.DataFrame, places: pl.DataFrame, sizes: pl.DataFrame | None = None) -> pl.DataFrame:
    """``spans`` (``document``, ``start``, ``end``) in the paragraphs of ``places``; with ``sizes``, none that ends after its paragraph.

    The order is by document and place, then by the other columns.
    """
    spans = spans.with_columns(at=pl.col("start").cast(pl.Int64)).sort("at")
    found = spans.join_asof(
        places.sort("begin"), left_on="at", right_on="begin", by="document", strategy="backward", check_sortedness=False
    )
    found = found.with_columns(start=pl.col("start") - pl.col("begin"), end=pl.col("end") - pl.col("begin"))
    if sizes is not None:
        found = found.join(sizes, on="part", how="left").filter(pl.col("end") <= pl.col("size"))
    found = found.with_columns(document="part").select(column for column in spans.columns if column != "at")
    return found.sort("document", "start", "end", *(column for column in found.columns if column not in {"document", "start", "end"}))


def _parts(documents: pl.DataFrame, least: int) -> pl.DataFrame:
    """``row``, ``part``, ``begin``, ``stop`` of the paragraphs of the articles that have several."""
    lines = documents.select("row", "id", line=pl.col("text").str.split(LINE)).explode("line")
    words, sizes = lengths(lines["line"]), lines["line"].str.len_chars().cast(pl.Int64)
    offsets = row_bounds(lines["row"].rle_id().to_numpy(), len(documents))
    article, begin, stop = _bounds(offsets, words.to_numpy(), sizes.to_numpy(), least)
    parts = documents.select("row", "id")[article].with_columns(begin=pl.Series(begin), stop=pl.Series(stop))
    parts = parts.with_columns(number=pl.int_range(pl.len()).over("row") + 1, several=pl.len().over("row") > 1).filter("several")
    later = pl.concat_str("id", pl.lit("#"), "number")
    return parts.select("row", part=pl.when(pl.col("number") == 1).then("id").otherwise(later), begin="begin", stop="stop")


@kernel
def _bounds(offsets, words, sizes, least):  # type: ignore[no-untyped-def]
    """The article, begin and end (in characters) of each paragraph. The lines of article i are ``offsets[i]:offsets[i + 1]``. O(lines).

    >>> columns = _bounds(np.array([0, 3, 4]), np.array([2, 3, 1, 1]), np.array([9, 11, 5, 4]), 3)
    >>> [column.tolist() for column in columns]
    [[0, 1], [0, 0], [27, 4]]
    """
    article, begins, ends = np.empty(len(words), np.int64), np.empty(len(words), np.int64), np.empty(len(words), np.int64)
    count = 0
    for i in range(len(offsets) - 1):
        first = count
        begin = at = read = 0
        for line in range(offsets[i], offsets[i + 1]):
            at += sizes[line] + 1
            read += words[line]
            if read >= least:
                article[count], begins[count], ends[count] = i, begin, at - 1
                count += 1
                begin, read = at, 0
        if begin < at:  # the rest belongs to the paragraph before it, if there is one
            if count == first:
                article[count], begins[count] = i, begin
                count += 1
            ends[count - 1] = at - 1
    return article[:count].copy(), begins[:count].copy(), ends[:count].copy()
