"""Whether a text has a word that begins as one of a name: "Hungarian" lets Hungary be guessed, "television drama" political drama.

Words are those of :mod:`kgqa.arrays.tokens`. Where a script has no spaces, a word may begin with any letter of a run: 匈牙利人 has 匈牙利.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.rows import IntArray
from kgqa.arrays.words import folded_texts, run_patterns

STEM, SHARE = 4, 0.7
"""Letters at the beginning of a word that two words must share: so many, and this share of the name's word."""
SYLLABLES = 2
"""The same of ideographs and Hangul, which are written with as many letters or more."""
PART = 1 << 13
"""Number of texts that are split into words at a time."""
RARE_WORD, SHARED_WORD = 0.001, 2
"""A word says something of a name if this share of all labels has it at most, or so many labels."""


def shares_stem(labels: pa.ChunkedArray, names: IntArray, texts: pa.ChunkedArray, documents: IntArray) -> npt.NDArray[np.bool_]:
    """For each pair of a row of ``labels`` and a row of ``texts`` (-1: none) whether the text has a word that begins as a rare one of the
    label. Memory: a row for each word of ``PART`` texts; in scripts without spaces, for each letter."""
    every = _words(pl.Series(labels.combine_chunks()), pl.int_range(len(labels), eager=True))
    counts = every.group_by("word").agg(pl.len())
    # Frequent words of names, such as "University", reveal nothing.
    rare = counts.filter(pl.col("len") <= max(SHARED_WORD, RARE_WORD * len(labels)))
    name_stems = every.filter(pl.col("row").is_in(np.unique(names))).join(rare, on="word", how="semi")
    length = pl.max_horizontal("least", (pl.col("word").str.len_chars() * SHARE).ceil().cast(pl.Int64))
    begin = pl.col("word").str.slice(0, pl.col("least"))
    name_stems = name_stems.select(name="row", stem=pl.col("word").str.slice(0, length), begin=begin).unique()
    longest = max([STEM, *name_stems["stem"].str.len_chars()])
    # Split each text into words once, however many pairs it is in.
    shown_documents = np.unique(documents[documents >= 0])
    pairs = pl.DataFrame({"pair": np.arange(len(names)), "name": names.astype(np.int64), "document": documents.astype(np.int64)})
    is_told = np.zeros(len(names), np.bool_)
    for first in range(0, len(shown_documents), PART):
        part = shown_documents[first : first + PART]
        words = _with_beginnings(_words(pl.Series(texts.take(pa.array(part)).combine_chunks()), pl.Series(part)), longest)
        words = words.select(document="row", word="word", begin=begin)
        asked = pairs.filter(pl.col("document").is_between(int(part[0]), int(part[-1]))).join(name_stems, on="name")
        told = asked.join(words, on=["document", "begin"]).filter(pl.col("word").str.starts_with(pl.col("stem")))
        is_told[told["pair"].to_numpy()] = True
    return is_told


def _words(texts: pl.Series, rows: pl.Series) -> pl.DataFrame:
    """``row, word, least``: the words of each text, or its runs of letters without spaces, that have the ``least`` letters; once each."""
    patterns = run_patterns()
    words = pl.DataFrame({"row": rows.cast(pl.Int64), "word": folded_texts(texts).str.extract_all(patterns.run)}).explode("word")
    syllables = pl.col("word").str.contains(f"^{patterns.syllable}")
    words = words.with_columns(least=pl.when(syllables).then(SYLLABLES).otherwise(STEM).cast(pl.Int64))
    return words.filter(pl.col("word").str.len_chars() >= pl.col("least")).unique()


def _with_beginnings(words: pl.DataFrame, longest: int) -> pl.DataFrame:
    """The same with what begins at each letter of a run without spaces, of at most ``longest`` letters."""
    patterns = run_patterns()
    unspaced = pl.col("word").str.contains(f"^{patterns.unspaced}")
    letters = words.filter(unspaced).with_row_index("run").with_columns(letter=pl.col("word").str.extract_all(patterns.token))
    letters = letters.explode("letter").with_columns(size=pl.col("letter").str.len_chars())
    start = (pl.col("size").cum_sum() - pl.col("size")).over("run")
    beginnings = letters.with_columns(word=pl.col("word").str.slice(start, longest)).select(words.columns)
    beginnings = beginnings.filter(pl.col("word").str.len_chars() >= pl.col("least"))
    return pl.concat([words.filter(~unspaced), beginnings.unique()])
