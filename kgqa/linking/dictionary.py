"""Names → what the matcher may match: which names take part, how strictly their case counts, which entity wins a shared name.

The rules are data (:class:`~kgqa.settings.LinkingSettings`); every rule counts the names it removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
from numba import njit

from kgqa.linking.tokens import character_tables, decode, exact_hash, text_buffers
from kgqa.linking.trie import Trie, build_trie
from kgqa.settings import LinkingSettings
from kgqa.sources.tables import arrow, frame

FREE, INITIAL, EXACT = 0, 1, 2
CASES = {"free": FREE, "initial": INITIAL, "exact": EXACT}

NAME_RULES = {
    "too short": "the name has fewer letters and digits than its source needs (linking.minimum_letters)",
    "only digits": "the name consists of digits and punctuation",
    "plain word": "the name is an everyday English word and not the entity's main name (linking.plain_words)",
    "excluded name": "the settings list the name (linking.exclude_names)",
}
"""Rule → the sentence that the funnel shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dictionary:
    """The trie and, for each of its groups, the entries that end there: ``offsets[g]:offsets[g + 1]``, one per (entity, name)."""

    trie: Trie
    offsets: npt.NDArray[np.int64]
    entity: npt.NDArray[np.int32]
    """Row of the entity table."""
    case: npt.NDArray[np.uint8]
    hashed: npt.NDArray[np.uint64]
    """What :func:`name_hash` of a matching text must be; unused where case is free."""
    priority: npt.NDArray[np.int32]
    """Among the entities of a shared name the lowest wins; a draw leaves the name out."""
    candidate: npt.NDArray[np.bool_]
    """Whether the entity can be a candidate, so that all its occurrences are recorded."""
    removed: dict[str, int]
    """Rule → names removed."""


@lru_cache(maxsize=4)
def plain_words(zipf: float) -> frozenset[str]:
    """Words of everyday English at or above this Zipf frequency (log10 of occurrences per billion words; wordfreq, Speer 2022)."""
    import wordfreq  # noqa: PLC0415 - a large table that only linking needs

    return frozenset(word for word, share in wordfreq.get_frequency_dict("en").items() if np.log10(share) + 9 >= zipf)


def build_dictionary(
    names: pa.Table, entities: pa.Table, settings: LinkingSettings, candidates: npt.NDArray[np.bool_]
) -> Dictionary:
    """Apply the name rules and build the trie; ``candidates`` says for each row of ``entities`` whether it can be a candidate."""
    rows = frame(entities).select(entity="id", kind="kind").with_row_index("row")
    table = frame(names).join(rows, on="entity", how="left", maintain_order="left")
    table, removed = _apply_rules(table, settings)
    kept = arrow(table.select("name"))["name"]
    trie, group = build_trie(kept)
    case = _cases(table, settings)
    table = table.with_columns(
        group=pl.Series(group), case=pl.Series(case), hashed=pl.Series(name_hashes(kept, case)), priority=_priority(settings)
    )
    table = table.filter(pl.col("group") >= 0).sort("group", "priority", "row", "case", "hashed")
    offsets = np.searchsorted(table["group"].to_numpy(), np.arange(int(trie.group.max(initial=-1)) + 2))
    entity = table["row"].cast(pl.Int32).to_numpy()
    return Dictionary(
        trie=trie,
        offsets=offsets.astype(np.int64),
        entity=entity,
        case=table["case"].to_numpy(),
        hashed=table["hashed"].to_numpy(),
        priority=table["priority"].cast(pl.Int32).to_numpy(),
        candidate=candidates[entity],
        removed=removed,
    )


def _apply_rules(table: pl.DataFrame, settings: LinkingSettings) -> tuple[pl.DataFrame, dict[str, int]]:
    """Drop names rule by rule; the first rule that speaks against a name is the one that counts it."""
    letters = pl.col("name").str.replace_all(r"[^\p{L}\p{N}]", "").str.len_chars()
    minimum = pl.col("source").replace_strict(settings.minimum_letters, default=1, return_dtype=pl.Int64)
    lower = pl.col("name").str.to_lowercase()
    words = settings.plain_words
    common = sorted(plain_words(words.zipf) - set(words.keep)) if words.sources else []
    rules = {
        "excluded name": lower.is_in([name.lower() for name in settings.exclude_names]),
        "only digits": ~pl.col("name").str.contains(r"\p{L}") if not settings.keep_numbers else pl.lit(False),
        "too short": letters < minimum,
        "plain word": pl.col("source").is_in(words.sources) & lower.is_in(common),
    }
    removed = {}
    for rule, test in rules.items():
        before = table.height
        table = table.filter(~test)
        removed[rule] = before - table.height
    return table.with_columns(letters=letters), removed


def _cases(table: pl.DataFrame, settings: LinkingSettings) -> npt.NDArray[np.uint8]:
    """The strictness of each name: what its source says, and exact where it is short."""
    of_source = pl.col("source").replace_strict({k: CASES[v] for k, v in settings.case.items()}, default=FREE, return_dtype=pl.UInt8)
    short = pl.col("letters") <= settings.exact_letters
    return table.select(pl.when(short).then(pl.lit(EXACT, pl.UInt8)).otherwise(of_source)).to_series().to_numpy()


def _priority(settings: LinkingSettings) -> pl.Expr:
    """Preferred kinds first, then preferred sources; what is not listed shares the last place."""
    kinds, sources = settings.shared.prefer_kinds, settings.shared.prefer_sources
    kind = pl.col("kind").replace_strict({k: i for i, k in enumerate(kinds)}, default=len(kinds), return_dtype=pl.Int32)
    source = pl.col("source").replace_strict({s: i for i, s in enumerate(sources)}, default=len(sources), return_dtype=pl.Int32)
    return kind * 16 + source


@njit(cache=True, nogil=True, inline="always")
def name_hash(data, begin, end, case, classes, plain):  # type: ignore[no-untyped-def]
    """What is compared for ``case``: all characters, or (INITIAL) all but the first."""
    if case == INITIAL:
        _, begin = decode(data, begin)
    return exact_hash(data, begin, end, classes, plain)


@njit(cache=True, nogil=True)
def _name_hashes(data, offsets, case, classes, plain):  # type: ignore[no-untyped-def]
    out = np.zeros(len(case), np.uint64)
    for i in range(len(case)):
        if case[i] != FREE:
            out[i] = name_hash(data, offsets[i], offsets[i + 1], case[i], classes, plain)
    return out


def name_hashes(names: pa.ChunkedArray, case: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """:func:`name_hash` of every name."""
    classes, _, plain = character_tables()
    data, offsets = text_buffers(names)
    return _name_hashes(data, offsets, case, classes, plain)  # type: ignore[no-any-return]
