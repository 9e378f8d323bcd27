"""Whether a text has a word that begins as one of a name: "Hungarian" lets Hungary be guessed, "television drama" political drama."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.rows import IntArray

WORD = r"[\p{L}\p{M}\p{N}]+"
STEM, SHARE = 4, 0.7
"""Letters at the beginning of a word that two words must share: so many, and this share of the name's word."""
RARE_WORD, SHARED_WORD = 0.001, 2
"""A word says something of a name if this share of all labels has it at most, or so many labels."""


def shares_stem(labels: pa.ChunkedArray, names: IntArray, texts: pa.ChunkedArray, documents: IntArray) -> npt.NDArray[np.bool_]:
    """For each pair of a row of ``labels`` and a row of ``texts`` (-1: none) whether the text has a word that begins as a rare one of the
    label. Memory: a row for each word of the texts that are asked about."""
    every = _words(pl.Series(labels.combine_chunks()), pl.int_range(len(labels), eager=True))
    counts = every.group_by("word").agg(pl.len())
    rare = counts.filter(pl.col("len") <= max(SHARED_WORD, RARE_WORD * len(labels)))
    named = every.filter(pl.col("row").is_in(np.unique(names))).join(rare, on="word", how="semi")
    length = pl.max_horizontal(pl.lit(STEM), (pl.col("word").str.len_chars() * SHARE).ceil().cast(pl.Int64))
    named = named.select(name="row", stem=pl.col("word").str.slice(0, length), begin=pl.col("word").str.slice(0, STEM)).unique()
    shown = np.unique(documents[documents >= 0])
    read = _words(pl.Series(texts.take(pa.array(shown)).combine_chunks()), pl.Series(shown))
    read = read.select(document="row", word="word", begin=pl.col("word").str.slice(0, STEM))
    pairs = pl.DataFrame({"pair": np.arange(len(names)), "name": names.astype(np.int64), "document": documents.astype(np.int64)})
    pairs = pairs.join(named, on="name").join(read, on=["document", "begin"]).filter(pl.col("word").str.starts_with(pl.col("stem")))
    told = np.zeros(len(names), np.bool_)
    told[pairs["pair"].to_numpy()] = True
    return told


def _words(texts: pl.Series, rows: pl.Series) -> pl.DataFrame:
    """``row, word``: the words of each text that are long enough, in lower case, once each."""
    words = pl.DataFrame({"row": rows.cast(pl.Int64), "word": texts.str.to_lowercase().str.extract_all(WORD)}).explode("word")
    return words.filter(pl.col("word").str.len_chars() >= STEM).unique()
