"""Measures of a name that need none of its places: its length and source, its words in the corpus, its entity in the graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from kgqa.arrays.tokens import word_hashes
from kgqa.linking.dictionary import EXACT, INITIAL, Dictionary
from kgqa.linking.surroundings import COMMON, FUNCTION, HEAD, INNER, PREFIX
from kgqa.linking.usage import Usage
from kgqa.linking.words import token_frequencies
from kgqa.settings.linking import LinkingSettings, is_english
from kgqa.sources.tables import arrow

Floats = npt.NDArray[np.float64]
RARE = 3.0
"""Zipf frequency below which a word is not everyday at all."""
HEADS = 5
"""A word is the head of names if this many names before it belong to other entities, and most names before it do."""
JOINS = 600
"""A word joins others (of, in, was) if it is at least one word in this many."""
MANY = 256
"""A word is a prefix of names if it begins those of at least one entity in this many."""
FREQUENT = 5.5
"""Zipf frequency from which a word is never inside a name before its head ("insulin and its receptor")."""
SOME = 0.05
"""Share of entities with an article or a description below which the lack of one means nothing."""

START = {
    "bias": 2.5,
    "one word": -0.5,
    "few letters": -1.0,
    "four letters": -0.5,
    "everyday": -1.0,
    "everyday alias": -1.2,
    "written small": -2.5,
    "common noun": 0.5,
    "undescribed": -1.5,
    "shortened": -0.7,
    "degree": 0.1,
    "bearers": -0.7,
    "alias": -0.4,
    "another has more claim": -1.8,
    "candidate": 0.0,
    "adjective": -2.0,
    "family": -0.4,
    "family alias": -1.2,
}
"""Measure → its prior weight, in log odds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """One row for each of a dictionary's names."""

    features: Floats
    start: Floats
    single: npt.NDArray[np.bool_]
    """Whether the name is one word."""
    unique: npt.NDArray[np.bool_]
    """Whether no other entity has it."""
    proper: npt.NDArray[np.bool_]
    """Whether one of its words is rarely in lower case, or is no everyday word."""
    common: npt.NDArray[np.bool_]
    """Whether it may begin with a small letter."""
    noun: npt.NDArray[np.bool_]
    """Whether it is one word that the tables or its article write in lower case."""
    everyday: npt.NDArray[np.bool_]
    """Whether it is one everyday word, alone or after an article ("the world")."""


def measures(dictionary: Dictionary, usage: Usage, degree: npt.NDArray[np.int64], settings: LinkingSettings) -> Measures:
    """The measures of all names; ``degree``: number of facts of each entity."""
    table = dictionary.names
    bounds, hashes = word_hashes(arrow(table.select("name"))["name"])
    number = np.diff(bounds)
    distinct, token = np.unique(hashes, return_inverse=True)
    at = _numbers(dictionary, distinct)
    share = np.where(at >= 0, usage.small_share()[np.maximum(at, 0)], 0.0)
    zipf = token_frequencies(distinct) if is_english(settings.language) else np.zeros(len(distinct))
    least_small, least_zipf = _least(share[token], bounds), _least(zipf[token], bounds)
    single = number <= 1
    exact = table["case"].to_numpy() == EXACT
    letters = table["letters"].to_numpy()
    bearers, is_only_bearer = _bearers(table)
    rank = table["rank"].to_numpy()
    best = table.select(pl.col("rank").filter("links").min().over("group").fill_null(0))["rank"].to_numpy()
    alias = rank > table.select(pl.col("rank").filter(pl.col("rank") >= 0).min().over("entity").fill_null(0))["rank"].to_numpy()
    is_described = table["described"].to_numpy()
    family = np.log1p(_family(table))
    digit = table["name"].str.contains(r"\p{N}").to_numpy()
    # A word that the corpus never writes in lower case is not everyday there, whatever the list says: "January".
    everyday = np.maximum(least_zipf - RARE, 0.0) * np.where(exact, np.minimum(0.1 + 2 * least_small, 1.0), 1.0)
    candidate = table["candidate"].to_numpy()
    columns = {
        "bias": np.ones(len(table)),
        "one word": single,
        "few letters": letters + digit <= 3,
        "four letters": (letters + digit == 4) & ~digit,
        "everyday": everyday * single * np.where(candidate & ~alias, 0.5, 1.0),  # texts name possible answers on purpose
        "everyday alias": np.maximum(everyday, np.maximum(least_zipf - RARE + 1.0, 0.0) * ~exact) * alias,
        "written small": least_small * exact,
        "common noun": ~exact,
        "undescribed": single & ~is_described & (is_described.mean() > SOME),
        "shortened": table["shortened"].to_numpy(),
        "degree": np.log1p(degree[table["entity"].to_numpy()]),
        "bearers": np.log(np.maximum(bearers, 1)),
        "alias": alias,
        "another has more claim": rank > best,
        "candidate": candidate,
        "adjective": table["adjective"].to_numpy(),
        "family": family,
        "family alias": family * alias * ~exact,  # "tumor suppressor", "protein kinase": a class, not a name
    }
    assert list(columns) == list(START)
    return Measures(
        features=np.stack([np.asarray(column, np.float64) for column in columns.values()], axis=1),
        start=np.array(list(START.values())),
        single=single,
        unique=is_only_bearer,
        proper=np.where(exact, least_small < 0.3, least_zipf < np.where(alias & single, RARE - 1.5, RARE + 0.5)),
        common=~exact,
        noun=single & (table["case"].to_numpy() == INITIAL),
        everyday=(single | ((number == 2) & _has_article(table, settings))) & (least_zipf >= 4.0),
    )


def _has_article(table: pl.DataFrame, settings: LinkingSettings) -> npt.NDArray[np.bool_]:
    """Whether each name begins with the definite article."""
    return table["name"].str.contains(f"^(?:{settings.articles}) ").to_numpy() if settings.articles else np.zeros(len(table), np.bool_)


def _bearers(table: pl.DataFrame) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The number of entities with at least as good a claim to each name, and whether only one entity has it."""
    group, links = table["group"].to_numpy(), table["links"].to_numpy()
    has_group = group >= 0
    # Most names have one bearer, so the costly ranking runs on the others only.
    several = has_group & (np.bincount(group[has_group])[np.where(has_group, group, 0)] > 1) if has_group.any() else has_group
    bearers, is_only_bearer = np.ones(len(table)), links.copy()
    shared_names = table.filter(pl.Series(several | ~has_group)).select(
        claim=pl.when("links").then("rank").rank("max").over("group").fill_null(1),
        alone=pl.when("links").then("entity").n_unique().over("group") == 1,
    )
    bearers[several | ~has_group], is_only_bearer[several | ~has_group] = shared_names["claim"].to_numpy(), shared_names["alone"].to_numpy()
    return bearers, is_only_bearer


def _family(table: pl.DataFrame) -> npt.NDArray[np.int64]:
    """For each name, the number of other entities whose names end with it, after a word with a capital or a digit.

    Where names are not capitalised, any word counts.
    """
    name_words = table.filter("links").select("entity", name=pl.col("name").str.to_lowercase(), word=pl.col("name").str.split(" "))
    name_words = name_words.filter(pl.col("word").list.len() > 1)
    ends = [
        name_words.filter(pl.col("word").list.len() > size).select(
            "entity", before=pl.col("word").list.get(-size - 1), name=pl.col("word").list.tail(size).list.join(" ").str.to_lowercase()
        )
        for size in range(1, 4)
    ]
    is_lower = pl.col("before").str.contains(r"^\p{Ll}{1,3}$")  # after "of", "in" or "de" comes a name of its own
    counts = pl.concat(ends).filter(~is_lower).group_by("name").agg(number=pl.col("entity").n_unique())
    names_with_counts = table.select(name=pl.col("name").str.to_lowercase()).join(counts, on="name", how="left", maintain_order="left")
    return names_with_counts["number"].fill_null(0).to_numpy()


def _numbers(dictionary: Dictionary, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The token numbers of the trie (ranks among the tokens of all names); -1 for tokens of no name."""
    keys = np.sort(dictionary.trie.vocabulary["key"][dictionary.trie.vocabulary["key"] != np.uint64(0xFFFFFFFFFFFFFFFF)])
    at = np.minimum(np.searchsorted(keys, hashes), max(len(keys) - 1, 0))
    return np.where(keys[at] == hashes, at, -1) if len(keys) else np.full(len(hashes), -1)


def _least(values: Floats, bounds: npt.NDArray[np.int64]) -> Floats:
    """The minimum of each segment of ``values``; 0 for empty segments."""
    out = np.zeros(len(bounds) - 1)
    rows = np.flatnonzero(np.diff(bounds) > 0)
    if len(rows):
        out[rows] = np.minimum.reduceat(values, bounds[:-1][rows])
    return out


def word_flags(dictionary: Dictionary, usage: Usage, settings: LinkingSettings) -> npt.NDArray[np.uint8]:
    """Flags of each token of the trie, for :mod:`kgqa.linking.surroundings`; uint8."""
    joins = usage.small * JOINS > usage.small.sum()
    flags = (np.where(usage.small_share() >= 0.5, COMMON, 0) | np.where(joins, FUNCTION, 0)).astype(np.uint8)
    if not settings.head_nouns:
        return flags
    names = dictionary.names.filter("links")
    heads, inner = _heads(names)
    for words, flag in ((heads, HEAD), (inner, INNER), (_prefixes(names), PREFIX)):
        bounds, hashes = word_hashes(arrow(words.to_frame("word"))["word"])
        tokens = hashes[bounds[:-1][np.diff(bounds) == 1]]
        if flag == INNER and is_english(settings.language):
            tokens = tokens[token_frequencies(tokens) < FREQUENT]
        at = _numbers(dictionary, tokens)
        flags[at[at >= 0]] |= np.uint8(flag)
    return flags


def _prefixes(names: pl.DataFrame) -> pl.Series:
    """Words that begin the names of many entities before a hyphen: "beta-", but not "anti-"."""
    begins = names.select("entity", word=pl.col("name").str.to_lowercase().str.extract(r"^(\p{L}{3,})-")).drop_nulls()
    counts = begins.group_by("word").agg(number=pl.col("entity").n_unique())
    return counts.filter(pl.col("number") * MANY > names["entity"].n_unique())["word"].sort()


def _heads(names: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Last words that turn a name into another entity's name ("receptor"), and the words inside such names."""
    lower = names.select("entity", name=pl.col("name").str.to_lowercase()).unique()
    name_parts = lower.with_columns(
        first=pl.col("name").str.extract(r"^(.+)[ -][^\s-]+$", 1), last=pl.col("name").str.extract(r"[ -](\p{L}{4,})$", 1)
    ).drop_nulls()
    # A word is a head if the name without it mostly belongs to a different entity: insulin, insulin receptor.
    before = lower.select(first="name", bearer="entity")
    pairs = name_parts.join(before, on="first").group_by("last", "first").agg(same=(pl.col("entity") == pl.col("bearer")).any())
    counts = pairs.group_by("last").agg(other=(~pl.col("same")).sum(), number=pl.len())
    heads = counts.filter((pl.col("other") >= HEADS) & (2 * pl.col("other") > pl.col("number")))["last"].sort()
    inside = name_parts.filter(pl.col("last").is_in(heads.implode())).select(pl.col("first").str.split(" ").list.tail(3).explode())
    return pl.concat([heads, heads + "s"]), inside["first"].unique().sort()
