"""Abbreviations that texts define: "chronic hepatitis C (CHC)" rules out the clathrin heavy chain and other entities called CHC.

The words before the bracket are found as in Schwartz and Hearst ("A simple algorithm for identifying abbreviation definitions in biomedical
text", PSB 2003), and compared with the full names of each entity. This needs no list of abbreviations, in any domain.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from kgqa.arrays.kernel import kernel

CONTRADICTED, SILENT, DEFINED = -1, 0, 1
"""A document's verdict on an entity for an abbreviation: another meaning, no definition, this meaning."""
LEAST, MOST = 2, 10
"""Shortest and longest abbreviation, in bytes."""
BEGINNING = 6
"""Letters compared of each word: "phosphorylase" equals "phosphorylases", but "transition" differs from "transporter"."""
SPELT_OUT = r"\p{Ll}{4}"
"""Pattern of a full name, as opposed to an abbreviation."""


@kernel(inline=True)
def _lower(byte):  # type: ignore[no-untyped-def]
    return byte + 32 if 65 <= byte <= 90 else byte


@kernel(inline=True)
def _of_word(byte):  # type: ignore[no-untyped-def]
    return byte >= 0x80 or 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122


@kernel
def defined_from(data, begin, start, end, bracket):  # type: ignore[no-untyped-def]
    """Start of the words before ``bracket`` that ``start:end`` abbreviates; -1 without such words. All in bytes.

    The letters and digits of the abbreviation must occur in order, the first at the start of a word. There may be at most five more words
    than letters, and at most twice as many.
    """
    if not LEAST <= end - start <= MOST:
        return -1
    letters = end - start
    words = min(letters + 5, 2 * letters)
    at = bracket
    for short_place in range(end - 1, start - 1, -1):
        letter = _lower(data[begin + short_place])
        if not _of_word(letter):
            continue
        while True:
            at -= 1
            if at < 0 or data[begin + at] in (10, 40, 41) or (data[begin + at] == 46 and data[begin + at + 1] == 32):
                return -1  # a line break, another bracket or a sentence end lies between
            begins_word = at == 0 or not _of_word(data[begin + at - 1])
            if _lower(data[begin + at]) == letter and (short_place > start or begins_word):
                break
            if begins_word and _of_word(data[begin + at]):
                words -= 1
                if words == 0:
                    return -1
    return at


def verdicts(
    rows: npt.NDArray[np.int64],
    stretches: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]],
    pairs: pl.DataFrame,
    names: pl.DataFrame,
    texts: pl.Series,
) -> npt.NDArray[np.int8]:
    """Verdict for each of ``pairs`` (``document, place, entity, name``): does the document define the name, and as something else? int8.

    ``rows``: pairs whose name is in brackets behind the words that it may abbreviate. ``stretches``: start and end of these words, in
    characters. ``name``: row of ``names`` (``entity, name``). A definition holds for all places of the name in its document.
    """
    out = np.zeros(len(pairs), np.int8)
    if not len(rows):
        return out
    at = pl.DataFrame({"place": pairs["place"].gather(rows), "start": stretches[0], "end": stretches[1]}).with_row_index("definition")
    bracket_pairs = pairs.filter(pl.col("place").is_in(at["place"].implode())).join(at, on="place")
    definition_texts = at.select("definition", text=texts.gather(pairs["document"].gather(rows)))
    definition_texts = definition_texts.with_columns(text=pl.col("text").str.slice(at["start"], at["end"] - at["start"]))
    words = _beginnings(definition_texts, "definition", "text")
    last_words = _beginnings(definition_texts.with_columns(pl.col("text").str.extract(r"([\p{L}-]{3,})\P{L}*$")), "definition", "text")
    words = words.join(last_words.with_columns(last=True), on=["definition", "word"], how="left").with_columns(
        pl.col("last").fill_null(False)
    )
    # An entity known only by abbreviations can neither be confirmed nor contradicted.
    spelt = names.filter(pl.col("entity").is_in(bracket_pairs["entity"].unique().implode()))
    spelt = spelt.filter(pl.col("name").str.contains(SPELT_OUT))
    name_words = _beginnings(spelt, "entity", "name")
    total = words.group_by("definition").agg(total=pl.len())
    shared_words = bracket_pairs.join(words, on="definition").join(name_words, on=["entity", "word"], how="semi")
    shared_words = shared_words.group_by("definition", "entity").agg(same=pl.len(), last=pl.col("last").any())
    bracket_pairs = bracket_pairs.join(total, on="definition").join(shared_words, on=["definition", "entity"], how="left")
    bracket_pairs = bracket_pairs.filter(pl.col("entity").is_in(name_words["entity"].unique().implode())).with_columns(
        pl.col("same").fill_null(0)
    )
    # "Arena Football League" is not Australian rules football despite a common word; the word directly before a bracket counts more.
    differ = (pl.col("same") == 0) | ((3 * pl.col("same") <= pl.col("total")) & ~pl.col("last"))
    says = pl.when(differ).then(CONTRADICTED).when(2 * pl.col("same") >= pl.col("total")).then(DEFINED).otherwise(SILENT)
    bracket_pairs = bracket_pairs.group_by("document", "name").agg(says=says.max().cast(pl.Int8))
    definition_pairs = (
        pairs.select("document", "name")
        .with_row_index("pair")
        .filter(pl.col("document").is_in(bracket_pairs["document"].unique().implode()))
    )
    definition_pairs = definition_pairs.join(bracket_pairs, on=["document", "name"])
    out[definition_pairs["pair"].to_numpy()] = definition_pairs["says"].to_numpy()
    return out


def _beginnings(table: pl.DataFrame, key: str, text: str) -> pl.DataFrame:
    """``key, word``: the first letters of each word with three letters or more, without repetition.

    A hyphen within a word is ignored: "cyclo-oxygenase" equals "cyclooxygenase".
    """
    lower = pl.col(text).str.to_lowercase().str.replace_all(r"(\p{L})-(\p{L})", "$1$2")
    words = table.select(key, word=lower.str.extract_all(r"\p{L}{3,}")).explode("word").drop_nulls()
    return words.with_columns(pl.col("word").str.slice(0, BEGINNING)).unique()


def shares(
    says: npt.NDArray[np.int8], documents: npt.NDArray[np.int32], names: npt.NDArray[np.int64], number: int
) -> npt.NDArray[np.float64]:
    """For each of ``number`` names the share of defining documents in which it means its entity; 1 where no document contradicts.

    One contradiction without support leaves a half, two a third: other texts may use the abbreviation in the other sense too, and rarely
    explain it.
    """
    out = np.ones(number)
    rows = np.flatnonzero(says != SILENT)
    table = pl.DataFrame({"name": names[rows], "document": documents[rows], "says": says[rows]}).unique()
    counts = table.group_by("name").agg(wrong=(pl.col("says") == CONTRADICTED).sum(), right=(pl.col("says") == DEFINED).sum())
    counts = counts.filter(pl.col("wrong") > 0)
    right_counts, wrong_counts = counts["right"].to_numpy().astype(np.float64), counts["wrong"].to_numpy()
    out[counts["name"].to_numpy()] = (right_counts + 1.0) / (right_counts + wrong_counts + 1.0)
    return out
