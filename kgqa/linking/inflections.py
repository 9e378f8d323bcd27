"""Inflected names ("Berlins", "Silvanyada", "Budapesten"): the endings that texts put on names are learned from the texts.

An ending is an inflection if it follows many different names, all at about one rate: the number of names with it is near the number
expected if every name took it at the common rate. A derivation ("Russian") is frequent with few names, and a compound ("Rheinufer") is rare
altogether. This needs no list of endings or languages; with little data nothing is learned. Productivity as the number of different words:
Baayen, Quantitative aspects of morphological productivity, 1992.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.hashes import HASH_PRIME, HASH_START, mixed
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.letter_case import CAPITAL, FIGURE, SMALL, case_table
from kgqa.arrays.texts import decode, text_buffers
from kgqa.arrays.tokens import JOINER, MARK, SPACE, WORD, character_tables, class_at
from kgqa.arrays.wilson import wilson_low
from kgqa.linking.trie import build_trie, find_token, slots_of
from kgqa.linking.usage import SAMPLE, usage
from kgqa.sources.tables import arrow

SHORTEST = 4
"""Letters that a name needs before its endings are counted; too many words begin like a shorter one."""
LONGEST = 6
"""Maximum number of letters of an ending."""
MOST = 16
"""Maximum number of names that one word may begin with."""
NAMES, RATE = 10, 0.02
"""An ending needs this number of different names, and this share of the uses of names with the same last letters (lower end of the 95%
interval). English plurals of names reach 1.3%."""
EVEN = 0.5
"""Minimum ratio of the names with the ending to the number expected if all took it at the common rate."""
LETTER = 0.02
"""A last letter goes with an ending if this share of the ending's names, and at least two, end with the letter."""
EXPECTED, OFTENER = 8, 2
"""A form is a word of its own if it is this many times as frequent as the ending's rate predicts ("Sieger" next to the river Sieg), or
as the name alone."""
NAMED = 0.25
"""A form is also a word of its own if it is part of this share of the number of names with the stem ("Adams" next to "Adam")."""
_WORD = r"[\p{L}\p{M}]+"
Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inflections:
    """The inflected forms and endings of a corpus."""

    forms: pl.DataFrame
    """``name, form, cut``: a name, an inflected form in the texts, and the number of characters of its ending."""
    endings: tuple[str, ...]
    """The endings that were learned, in alphabetical order."""


def inflections(names: pl.Series, texts: pa.ChunkedArray, *, sample: int = SAMPLE) -> Inflections:
    """The inflected forms of ``names`` in ``texts``; none is another name, or a word of its own.

    Endings are learned from every n-th text, about ``sample`` bytes; if there are any, all texts are read once more. O(bytes).
    """
    last_words = pl.DataFrame({"name": names.unique().sort()}).with_columns(stem=pl.col("name").str.extract(f"({_WORD})$"))
    last_words = last_words.filter((pl.col("stem").str.len_chars() >= SHORTEST) & ~pl.col("stem").str.contains(r"^\p{Ll}"))
    stems = _Stems.of(last_words["stem"].unique().sort(), names, texts)
    # A sample is enough to learn the endings, but not to find every form, so all texts are read once the endings are known.
    step = max(1, -(-stems.size // sample))
    table, bare_counts = stems.extensions(step)
    rates = _rates(table, stems.words, bare_counts)
    if rates.height:  # few corpora get here, so the letter case of words is only counted now
        table = _unlike_words(table.filter(pl.col("ending").is_in(rates["ending"].implode())), texts)
        rates = _rates(table, stems.words, bare_counts)
    if step > 1 and rates.height:
        table = _unlike_words(stems.extensions(1, allowed=rates["ending"])[0], texts)
    candidates = table.join(rates, on="ending")
    uses = pl.col("alone") + 1
    candidates = candidates.filter((pl.col("count") <= OFTENER * uses) & (pl.col("count") <= EXPECTED * (pl.col("rate") * uses + 1)))
    # "Silvaniens" is a form of Silvanien, even if there is a Silvanie too.
    candidates = candidates.sort("form", pl.col("stem").str.len_chars(), descending=[False, True]).unique(
        "form", keep="first", maintain_order=True
    )
    # A name of several words inflects at its last word.
    forms = last_words.join(candidates.drop("form"), on="stem").with_columns(form=pl.col("name") + pl.col("ending"))
    forms = forms.with_columns(small=pl.col("form").str.to_lowercase()).join(stems.names, left_on="small", right_on="name", how="anti")
    ending_length = pl.col("ending").str.len_chars().cast(pl.UInt8)
    return Inflections(forms=forms.select("name", "form", cut=ending_length).sort("name", "form"), endings=tuple(rates["ending"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stems:
    """The last words of names, in their spelling, and the texts to search."""

    words: pl.Series
    names: pl.DataFrame
    """``name``: all names, in lower case."""
    within: pl.DataFrame
    """``word, names``: the number of names that contain each word, in lower case."""
    data: Bytes
    offsets: Counts

    @classmethod
    def of(cls, words: pl.Series, names: pl.Series, texts: pa.ChunkedArray) -> _Stems:
        lower_names = pl.DataFrame({"name": names.str.to_lowercase().unique()})
        inner_words = (
            lower_names.select(word=pl.col("name").str.extract_all(_WORD)).explode("word").drop_nulls().group_by("word").agg(names=pl.len())
        )
        data, offsets = text_buffers(texts)
        return cls(words=words, names=lower_names, within=inner_words, data=data, offsets=offsets)

    @property
    def size(self) -> int:
        """Size of the texts in bytes."""
        return int(self.offsets[-1] - self.offsets[0])

    def extensions(self, step: int, allowed: pl.Series | None = None) -> tuple[pl.DataFrame, Counts]:
        """Extensions of the stems in every n-th text, and the number of uses of each stem without an ending.

        ``stem, ending, form, count, alone``, sorted: the ``allowed`` endings, or all with enough names; forms that are names are left out.
        """
        bare_counts = np.zeros(len(self.words), np.int64)
        codes = np.zeros(0, np.uint64) if allowed is None else _hashes(allowed)
        tables = (character_tables()[0], case_table(), slots_of(_hashes(self.words)), slots_of(codes))
        rows, endings = _extended(self.data, self.offsets, step, *tables, allowed is not None, bare_counts)
        table = pl.DataFrame({"row": rows[:, 0], "code": endings, "start": rows[:, 1], "end": rows[:, 2]})
        table = table.group_by("row", "code").agg(pl.len().cast(pl.Int64).alias("count"), pl.col("start", "end").first())
        frequent = table.group_by("code").agg(pl.len().alias("names"), pl.col("start", "end").first())
        frequent = frequent.filter(pl.col("names") >= (NAMES if allowed is None else 1)).sort("code")
        # The kernel only hashes endings; each is spelt out once, from the first place that has it.
        spelt = [self.data[start:end].tobytes().decode() for start, end in frequent.select("start", "end").iter_rows()]
        frequent = frequent.select("code", ending=pl.Series(spelt, dtype=pl.String))
        words = pl.DataFrame({"row": np.arange(len(bare_counts)), "stem": self.words, "alone": bare_counts})
        table = table.select("row", "code", "count").join(frequent, on="code").join(words, on="row")
        table = table.with_columns(form=pl.col("stem") + pl.col("ending"))
        table = table.with_columns(small=pl.col("form").str.to_lowercase(), small_stem=pl.col("stem").str.to_lowercase())
        table = table.join(self.names, left_on="small", right_on="name", how="anti")
        # Drop forms that names contain about as often as the stem: they are words of names themselves.
        table = table.join(self.within, left_on="small", right_on="word", how="left")
        table = table.join(self.within.rename({"names": "of_stem"}), left_on="small_stem", right_on="word", how="left")
        table = table.filter(pl.col("names").fill_null(0) < NAMED * pl.col("of_stem"))
        return table.select("stem", "ending", "form", "count", "alone").sort("stem", "ending"), bare_counts


def _unlike_words(table: pl.DataFrame, texts: pa.ChunkedArray) -> pl.DataFrame:
    """The rows whose form the texts do not mostly write with a small letter."""
    forms = table["form"].unique().sort()
    trie, group = build_trie(arrow(forms.to_frame("form"))["form"])
    ends = np.flatnonzero(trie.nodes["group"] >= 0)
    token = np.zeros(len(trie.nodes), np.int64)
    token[trie.nodes["group"][ends]] = ends  # the node of a name of one token has the token's number
    everyday = forms.filter(pl.Series(usage(trie, texts).small_share()[token[group]] >= 0.5, dtype=pl.Boolean))
    return table.filter(~pl.col("form").is_in(everyday.implode()))


def _rates(table: pl.DataFrame, words: pl.Series, bare_counts: Counts) -> pl.DataFrame:
    """``ending, rate``: the inflections, and their frequency after names with the same last letters; sorted."""
    letter = words.str.slice(-1).rank("dense").to_numpy().astype(np.int64)
    rows_of = table.join(pl.DataFrame({"stem": words, "row": np.arange(len(words))}), on="stem").filter(pl.col("alone") > 0)
    # Compare only with names whose last letter ever takes the ending: names that end in "s" may never take "-s".
    rates = {}
    for (ending,), group in rows_of.group_by("ending"):
        rows, counts = group["row"].to_numpy(), group["count"].to_numpy()
        number = np.bincount(letter[rows], minlength=len(letter) + 1)
        comparable = (bare_counts > 0) & (number >= max(2.0, LETTER * len(rows)))[letter]
        uses = bare_counts.astype(np.float64)
        uses[rows] += counts
        observed_count, total = counts[comparable[rows]].sum(), uses[comparable].sum()
        rate = observed_count / max(total, 1.0)
        expected_count = float((1 - (1 - rate) ** uses[comparable]).sum())
        if comparable[rows].sum() >= max(NAMES, EVEN * expected_count) and wilson_low(observed_count, total) >= RATE:
            rates[ending] = rate
    return pl.DataFrame(list(rates.items()), schema={"ending": pl.String, "rate": pl.Float64}, orient="row").sort("ending")


def _hashes(words: pl.Series) -> Codes:
    """A hash of the bytes of each word."""
    return _byte_hashes(*text_buffers(arrow(words.to_frame("word"))["word"]))


@kernel
def _byte_hashes(data, offsets):  # type: ignore[no-untyped-def]
    out = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(out)):
        code = HASH_START
        for at in range(offsets[i], offsets[i + 1]):
            code = (code ^ np.uint64(data[at])) * HASH_PRIME
        out[i] = mixed(code)
    return out


@kernel
def _extended(data, offsets, step, classes, cases, stems, is_allowed, only, bare_counts):  # type: ignore[no-untyped-def]  # noqa: PLR0912 - one pass over the bytes
    """Words of every n-th text that extend one of ``stems`` by small letters: (stem, start, end of the ending) and hash of the ending.

    Words with a small first letter are skipped. With ``only``, endings must be allowed (``is_allowed``). ``bare_counts`` counts the stems
    without an ending. Offsets are in bytes. O(bytes).
    """
    rows, endings, count = np.empty((4096, 3), np.int64), np.empty(4096, np.uint64), 0
    stem, after_stem, length = np.empty(MOST, np.int64), np.empty(MOST, np.int64), np.empty(MOST, np.int64)
    for document in range(0, len(offsets) - 1, step):
        at, end = offsets[document], offsets[document + 1]
        while at < end:
            character, next_place = decode(data, at)
            if class_at(character, classes) != WORD:
                at = next_place
                continue
            if character < len(cases) and cases[character] == SMALL:  # a word in lower case is not a name
                while at < end and (data[at] >= 0x80 or classes[data[at]] == WORD):
                    at += 1
                continue
            code = HASH_START
            letters, hits, small_from = 0, 0, at
            while True:
                for k in range(at, next_place):
                    code = (code ^ np.uint64(data[k])) * HASH_PRIME
                at = next_place
                letters += 1
                if character < len(cases) and (cases[character] == CAPITAL or cases[character] == FIGURE):
                    small_from = at
                kind = np.uint8(SPACE)
                if at < end:
                    character, next_place = decode(data, at)
                    kind = class_at(character, classes)
                is_mark = kind in (MARK, JOINER)
                if letters >= SHORTEST and not is_mark and hits < MOST:
                    match = find_token(mixed(code), stems)
                    if match >= 0:
                        stem[hits], after_stem[hits], length[hits] = match, at, letters
                        hits += 1
                if kind != WORD and not is_mark:
                    break
            for row in range(hits):
                if after_stem[row] == at:
                    bare_counts[stem[row]] += 1
                elif after_stem[row] >= small_from and letters - length[row] <= LONGEST:
                    code = HASH_START
                    for k in range(after_stem[row], at):
                        code = (code ^ np.uint64(data[k])) * HASH_PRIME
                    code = mixed(code)
                    if only and find_token(code, is_allowed) < 0:
                        continue
                    if count == len(endings):
                        rows, endings = grown(rows, count + 1), grown(endings, count + 1)
                    rows[count, 0], rows[count, 1], rows[count, 2] = stem[row], after_stem[row], at
                    endings[count] = code
                    count += 1
    return rows[:count], endings[:count]
